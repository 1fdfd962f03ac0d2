"""Rows that a writer gave, in the form in which they are compared.

How JSON text is spelled and how well it is compressed is the writer's own. So of cells that hold JSON the
value is compared, and of a compressed one also that it is compressed. What cannot be read so is compared as
it stands.
"""

from __future__ import annotations

from typing import Any

import zstandard

from conformance.json_text import JsonTextError, parse_exact

OPERATION = "rows.encode"
JSON_COLUMNS = frozenset(("data", "source_event_seqs", "surface_op"))
LARGEST_CONTENT = 1 << 26
SLICE = 1 << 10
"""So many bytes of a frame are expanded at once, since each may stand for 32 KiB."""


def comparable(operation: str, result: dict[str, Any]) -> dict[str, Any]:
    """A result of ``rows.encode`` with values in place of their JSON text; any other result as it is."""
    if operation != OPERATION or not isinstance(result.get("rows"), list):
        return result
    return {**result, "rows": [comparable_row(row) for row in result["rows"]]}


def comparable_row(row: Any) -> Any:
    """One row; anything else as it is."""
    if not isinstance(row, dict):
        return row
    return {column: comparable_cell(cell) if column in JSON_COLUMNS else cell for column, cell in row.items()}


def comparable_cell(cell: Any) -> Any:
    """``{json: VALUE}`` for a text, ``{compressed: VALUE}`` for a frame that holds one."""
    match cell:
        case {"text": str(text), **others} if not others:
            kind = "json"
        case {"blob": str(digits), **others} if not others:
            kind, text = "compressed", expanded(digits)
        case _:
            return cell
    try:
        return {kind: parse_exact(text)}
    except JsonTextError:
        return cell


def expanded(digits: str) -> str:
    """The text in a frame; "", which is no JSON, for anything but one whole frame."""
    reader, text = zstandard.ZstdDecompressor().decompressobj(), bytearray()
    try:
        content = bytes.fromhex(digits)
        for start in range(0, len(content), SLICE):
            if reader.eof or len(text) > LARGEST_CONTENT:
                return ""
            text += reader.decompress(content[start : start + SLICE])
        return text.decode("utf-8") if reader.eof and not reader.unused_data else ""
    except (ValueError, zstandard.ZstdError):
        return ""
