"""Unfinished writes, as a crash leaves them: what the next load has to repair, or to pass over."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

RESTS = {"session.jsonl": b'{"type":"session/ti', "session.jsonl.zstd": b"\x28\xb5\x2f\xfd\x24"}
"""The beginning of a line, and that of a frame, by the name of the file."""
DATABASE = b"SQLite format 3\0"
UNREADABLE_ROW = (
    "INSERT INTO events (session_id, seq, type, time, data)"
    " SELECT session_id, max(seq) + 1, 'session/title', 0, '{bad' FROM events GROUP BY session_id"
)
"""A last row for each session."""


def leave_torn(root: Path) -> bool:
    """Leave something to repair at the end of each log below a folder. Whether there was a log.

    In a database it is a row that cannot be read. No crash leaves one, but a store has to delete it.
    """
    found = False
    # All names first: to open a database makes files beside it come and go.
    for path in [path for path in sorted(root.rglob("*")) if path.name in RESTS or is_database(path)]:
        if path.name in RESTS:
            append(path, RESTS[path.name])
            found = True
        else:
            found = add_row(path) or found
    return found


def leave_half_a_frame(root: Path, chance: random.Random) -> None:
    """What a write that never ended puts behind the write-ahead log of a database, if one was left."""
    for path in root.rglob("*-wal"):
        append(path, bytes(chance.randrange(256) for _ in range(chance.randrange(1, 5000))))


def append(path: Path, rest: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(rest)


def is_database(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(DATABASE)) == DATABASE


def add_row(path: Path) -> bool:
    """A row that cannot be read behind the last one of a session."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        if not database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'events'").fetchone():
            return False
        return database.execute(UNREADABLE_ROW).rowcount > 0
