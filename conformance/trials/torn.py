"""An unfinished write at the end of a log, as a crash leaves it, so that the next load has to repair."""

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


def leave_torn(root: Path, chance: random.Random) -> bool:
    """Leave something at the end of each log below a folder. Whether there was a log.

    A database is torn in one of two ways: half a frame in its write-ahead log, which SQLite passes
    over, or a row that cannot be read, which the store has to delete.
    """
    found = False
    for path in sorted(path for path in root.rglob("*") if path.is_file()):
        if path.name in RESTS:
            append(path, RESTS[path.name])
            found = True
        elif is_database(path):
            log = path.with_name(f"{path.name}-wal")
            if log.exists() and chance.random() < 0.5:
                append(log, bytes(chance.randrange(256) for _ in range(chance.randrange(1, 5000))))
                found = True
            else:
                found = add_row(path) or found
    return found


def append(path: Path, rest: bytes) -> None:
    with path.open("ab") as stream:
        stream.write(rest)


def is_database(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(DATABASE)) == DATABASE


def add_row(path: Path) -> bool:
    """A row that cannot be read behind the last one of a session."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        if not database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'events'").fetchone():
            return False
        return database.execute(UNREADABLE_ROW).rowcount > 0
