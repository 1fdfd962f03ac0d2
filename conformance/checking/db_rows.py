"""One row of a database: its events, or why it is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import zstandard

from conformance.checking.exact_json import MAX_SAFE, parse
from conformance.checking.rows import ROWS, Row, RowFault, members_of, read_row
from conformance.checking.seqs import BadSeqs, decode
from conformance.checking.shapes import Event

MOST_BYTES, MOST_MEMBERS, LEAST_MEMBERS = 1_048_576, 1024, 3
LARGEST_DATA = 256 << 20
"""Bytes that the data of a row may expand to: a limit of this program."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A row that does not decode. ``fatal`` rows fail the whole read, whatever is behind them."""

    condition: str
    what: str
    fatal: bool = False


class NoDictionary(Exception):  # noqa: N818 - it becomes a finding
    """The data are compressed with the dictionary of the harness, which this program does not have."""


def events_of(row: dict[str, Any], schema: int) -> list[Event] | Hole:
    """The events of a row. Raises NoDictionary."""
    wrong = _column_fault(row, schema) if schema >= 17 else None
    if wrong is not None:
        return wrong
    packed = row["is_packed"] == 1 if schema == 19 else schema >= 17 and row["ignorable"] == 0
    if packed:
        return _packed(row, schema)
    try:
        data = parse(_text(row["data"], schema))
    except (ValueError, TypeError) as error:
        return Hole("row-data-invalid", f"the data are no JSON: {error}")
    event: Event = {"type": row["type"], "seq": row["seq"], "time": row["time"], "data": data}
    if row["surface_op"] is not None:
        try:
            event["surfaceOp"] = parse(row["surface_op"])
        except (ValueError, TypeError):
            return Hole("row-op-invalid", "surface_op is no JSON")
    if row["source_event_seqs"] is not None:
        try:
            cited = row["source_event_seqs"]
            event["sourceEventSeqs"] = parse(cited) if schema <= 15 else decode(cited, schema, row["seq"])
        except BadSeqs as bad:
            return Hole(bad.condition, f"source_event_seqs: {bad}")
        except (ValueError, TypeError):
            return Hole("seqs-text-invalid", "source_event_seqs is no JSON")
    if row.get("ignorable") == 1:
        event["ignorable"] = True
    return [event]


def _column_fault(row: dict[str, Any], schema: int) -> Hole | None:
    for name in ("seq", "time"):
        if type(row[name]) is not int or abs(row[name]) > MAX_SAFE:
            return Hole("row-column-type", f"{name} is no safe integer", fatal=True)
    if row["seq"] < 0:
        return Hole("row-seq-negative", "seq is negative", fatal=True)
    if not isinstance(row["type"], str):
        return Hole("row-column-type", "type is no text", fatal=True)
    if row["type"] == "":
        return Hole("row-type-empty", "type is empty", fatal=True)
    if not isinstance(row["data"], str | bytes):
        return Hole("row-column-type", "data are neither text nor blob", fatal=True)
    if not isinstance(row["source_event_seqs"], bytes | None):
        return Hole("row-column-type", "source_event_seqs is no blob", fatal=True)
    if not isinstance(row["surface_op"], str | None):
        return Hole("row-column-type", "surface_op is no text", fatal=True)
    if schema == 19 and row["is_packed"] not in (0, 1):
        return Hole("row-packed-flag", "is_packed is neither 0 nor 1", fatal=True)
    if schema != 19 and row["ignorable"] not in (0, 1, None):
        return Hole("row-ignorable-value", "ignorable is not 0, 1 or null", fatal=True)
    return None


def _packed(row: dict[str, Any], schema: int) -> list[Event] | Hole:
    if row["type"] not in ROWS:
        return Hole("row-packed-tag", f"a packed row of type {row['type']!r}, which is no tag of chunks")
    if row["surface_op"] is not None or row["source_event_seqs"] is not None:
        return Hole("row-packed-surface", "a packed row has surface columns")
    try:
        text = _text(row["data"], schema)
        if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
            return Hole("chunk-size", f"the data of a packed row have more than {MOST_BYTES:,} bytes")
        record = {"type": row["type"], "seq0": row["seq"], "time0": row["time"], "data": parse(text)}
    except (ValueError, TypeError) as error:
        return Hole("row-data-invalid", f"the data are no JSON: {error}")
    read = read_row(record, row["type"])
    if isinstance(read, RowFault):
        return Hole(read.condition, read.what)
    assert isinstance(read, Row)
    if not LEAST_MEMBERS <= read.count <= MOST_MEMBERS:
        return Hole("chunk-members", f"a packed row of {read.count} chunks; 3 to 1,024 are allowed")
    return members_of(read)


def _text(data: str | bytes, schema: int) -> str:
    """The JSON text of a row's data. Raises ValueError, TypeError and NoDictionary."""
    if isinstance(data, str):
        return data
    if schema < 17:
        raise TypeError("a blob")
    try:
        with zstandard.ZstdDecompressor().stream_reader(data) as reader:
            content = reader.read(LARGEST_DATA + 1)
    except zstandard.ZstdError as error:
        if schema >= 19:
            raise NoDictionary from None
        raise ValueError(f"the frame does not expand: {error}") from None
    if len(content) > LARGEST_DATA:
        raise ValueError("they expand to more than can be judged here")
    return content.decode("utf-8")
