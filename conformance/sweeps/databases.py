"""The files of a SQLite store, taken apart: pages, and a write-ahead log that a process left behind.

The log is made here from the states of a closed database, so that any backend can be given one: the
database as it was after half of the batches, and each further batch as a transaction in the log.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from conformance.sweeps.good_log import Event, GoodLog, Part

LOG_HEADER = 32
FRAME_HEADER = 24
SMALLEST_PAGE = 512


def page_size(database: bytes) -> int:
    """Bytes of a page, from the header of a database; 1 stands for 65,536."""
    size = int.from_bytes(database[16:18], "big")
    return 65_536 if size == 1 else max(size, SMALLEST_PAGE)


def pages_of(database: bytes) -> list[Part]:
    """The pages. Nothing is known of which page holds what, so no event is said to stand before any."""
    size = page_size(database)
    return [Part(start, start + size, 0) for start in range(0, len(database), size)]


def left_behind(states: list[bytes], written: list[list[Event]]) -> tuple[bytes, GoodLog]:
    """A database, and the write-ahead log beside it that holds what came later.

    ``states`` are the bytes of the closed database after each of the batches that were ``written``. The
    parts of the log are its frames, with the events that are committed before the end of each.
    """
    half = max(len(states) // 2, 1)
    with tempfile.TemporaryDirectory(prefix="session-conformance-") as folder:
        path, log, following = Path(folder, "d"), Path(folder, "d-wal"), Path(folder, "next")
        path.write_bytes(states[half - 1])
        ends = []
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA wal_autocheckpoint = 0")
            for state in states[half:]:
                following.write_bytes(state)
                take_over(database, following)
                ends.append(log.stat().st_size)
            shutil.copyfile(path, Path(folder, "copy"))
            data = log.read_bytes()
        base = Path(folder, "copy").read_bytes()
    return base, log_of(data, page_size(base), ends, half, written)


def take_over(database: sqlite3.Connection, following: Path) -> None:
    """One transaction that makes the rows of a database those of another; none is ever taken away."""
    database.execute("ATTACH ? AS following", (str(following),))
    tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    database.execute("BEGIN IMMEDIATE")
    for (name,) in tables:
        new = f'SELECT * FROM following."{name}" EXCEPT SELECT * FROM main."{name}"'  # noqa: S608
        database.execute(f'INSERT OR REPLACE INTO main."{name}" {new}')
    database.execute("COMMIT")
    database.execute("DETACH following")


def log_of(data: bytes, page: int, ends: list[int], half: int, written: list[list[Event]]) -> GoodLog:
    """The log, frame by frame. ``ends`` are the bytes at which its transactions end."""
    counts = [sum(map(len, written[: half + number])) for number in range(len(ends) + 1)]
    parts = [Part(0, LOG_HEADER, counts[0])]
    while parts[-1].end < len(data):
        start, end = parts[-1].end, parts[-1].end + FRAME_HEADER + page
        parts.append(Part(start, end, counts[sum(each <= end for each in ends)]))
    events = [event for batch in written for event in batch]
    return GoodLog("sqlite-wal", data, events, parts, ends[-2] if len(ends) > 1 else LOG_HEADER)
