"""The rows of one session in a SQLite store, read as a log: what is kept, and what is torn off.

Page: ``spec/sqlite-scan.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .chunk_rows import Event
from .rejection import Rejection
from .sqlite_rows import Row, check_columns, decode_columns


@dataclass
class Scan:
    """The events that are kept, and the seq from which a repair deletes rows; None if nothing is torn."""

    events: list[Event] = field(default_factory=list)
    torn_from: int | None = None


def scan(schema: int, rows: list[Any], base: int) -> Scan:
    """TAIL-1 to TAIL-6. ``rows`` are in order; ``base`` is the seq that the first of them should have.

    ``at`` of a refusal is the index of a row. Raises UndecidableError where any row is undecidable.
    """
    for index, row in enumerate(rows):
        check_row(schema, row, index)
    decoded = [decode_row(schema, row) for row in rows]
    last_end = -1
    for index, row in enumerate(rows):
        if decoded[index] is not None and row["type"] == "turn/end":
            last_end = index
    found = Scan()
    for index, row in enumerate(rows):
        members = decoded[index]
        expected = base + len(found.events)
        if members is not None and row["seq"] == expected:
            found.events.extend(members)
        elif index <= last_end:
            raise committed(schema, row, index, None if members is None else expected)
        else:
            found.torn_from = expected if schema == 15 else row["seq"]
            break
    return found


def check_row(schema: int, row: Any, index: int) -> None:
    """TAIL-2: a wrong column fails the whole read, wherever the row stands."""
    try:
        check_columns(schema, row)
    except Rejection as refusal:
        refusal.at = index
        raise


def decode_row(schema: int, row: Row) -> list[Event] | None:
    """The events of one row; None if it is a hole."""
    try:
        return decode_columns(schema, row)
    except Rejection:
        return None


def committed(schema: int, row: Row, index: int, expected: int | None) -> Rejection:
    """TAIL-4, TAIL-7, TAIL-8: damage before the end of a turn. ``expected`` is None for a hole."""
    seq = row["seq"]
    if schema != 15:
        return Rejection(
            "row-committed-corrupt",
            f"corrupt session log: invalid committed physical row at seq {seq}",
            index,
        )
    if expected is None:
        return Rejection(
            "row-committed-unparsable", f"corrupt session log: unparsable committed event at seq {seq}", index
        )
    return Rejection(
        "row-committed-gap",
        f"corrupt session log: seq gap in committed region (expected {expected}, got {seq})",
        index,
    )
