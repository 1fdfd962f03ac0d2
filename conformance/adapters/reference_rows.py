"""The reference, asked about rows of SQLite: cells as the protocol has them, and as a driver gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.adapters.members import Request, Result, member
from reference_impl import session_row, sqlite_rows, sqlite_scan

Cells = dict[str, Any]


def cell_of(value: Any) -> Cells | None:
    """What a driver gives for a cell, as the protocol spells it."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return {"blob": value.hex()}
    if isinstance(value, str):
        return {"text": value}
    return {"int": str(value)}


READERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "real": float,
    "text": str,
    "blob": bytes.fromhex,
}


def value_of(cell: Cells | None) -> Any:
    """The other way round."""
    if cell is None:
        return None
    ((kind, text),) = cell.items()
    return READERS[kind](text)


def row_of(cells: Any) -> Any:
    """A row from its cells; what is no row stays as it is."""
    if not isinstance(cells, dict):
        return cells
    return {column: value_of(cell) for column, cell in cells.items()}


def rows_encode(request: Request) -> Result:
    rows = sqlite_rows.encode(request["schema"], member(request, "events"))
    return {"rows": [{column: cell_of(value) for column, value in row.items()} for row in rows]}


def rows_decode(request: Request) -> Result:
    try:
        return {"events": sqlite_rows.decode(request["schema"], row_of(member(request, "row")))}
    except sqlite_rows.UndecidableError:
        return {"undecidable": True}


def rows_scan(request: Request) -> Result:
    rows = [row_of(row) for row in member(request, "rows")]
    try:
        found = sqlite_scan.scan(request["schema"], rows, member(request, "base"))
    except sqlite_rows.UndecidableError:
        return {"undecidable": True}
    return {"events": found.events, "tornFrom": found.torn_from}


def rows_session(request: Request) -> Result:
    return {"header": session_row.header_of(request["schema"], row_of(member(request, "row")))}
