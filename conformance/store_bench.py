"""How fast a store of the reference is, beside the least that a program could do in the same run.

For appending that is a bare loop that writes the same lines, ready made, and flushes after each batch.
Where a flush is quick, such a loop measures the disk and a store its work on the events. So for a store
over SQLite there is a second loop: the same rows, ready made, through SQLite into one table, with pages of
the usual size.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from conformance.adapters.reference_stores import AnyStore, open_store

HEADER = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
BATCH = 50


TABLE = """CREATE TABLE events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL,
time INTEGER NOT NULL, data ANY NOT NULL, sources ANY, op ANY, ignorable INTEGER,
PRIMARY KEY (session_id, seq)) STRICT"""
INSERT = "INSERT INTO events VALUES ('s', ?, ?, ?, ?, NULL, ?, NULL)"

Events = list[dict[str, Any]]


@dataclass(frozen=True)
class Beside:
    """The median seconds of the store, of the bare loop beside it, and of one through SQLite."""

    store: float
    bare: float
    through_sqlite: float | None = None

    @property
    def ratio(self) -> float:
        return self.store / self.bare


def event(seq: int) -> dict[str, Any]:
    """A message of usual length."""
    content = [{"type": "text", "text": "a few words of a message, as they come"}]
    data = {"id": f"m{seq}", "role": "user", "source": {"kind": "user"}, "content": content}
    return {"type": "user/message", "seq": seq, "time": seq, "data": data, "surfaceOp": "append"}


def appending(name: str, batches: int, rounds: int) -> Beside:
    """Batches of 50 events, each flushed, against bare loops over the same ones."""
    given = [[event(first + place) for place in range(BATCH)] for first in range(0, batches * BATCH, BATCH)]
    pieces = [b"".join(json.dumps(each).encode() + b"\n" for each in batch) for batch in given]
    rows = [[row_of(each) for each in batch] for batch in given]
    stores, bares, through = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="session-conformance-") as folder:
            store = open_store(name, Path(folder))
            store.create(HEADER)
            stores.append(seconds(partial(append_all, store, given)))
            store.close()
            bares.append(seconds(partial(write_and_flush, Path(folder), pieces)))
            if name.startswith("sqlite"):
                through.append(commit_each(Path(folder), rows))
    middle = statistics.median
    return Beside(middle(stores), middle(bares), middle(through) if through else None)


def append_all(store: AnyStore, given: list[Events]) -> None:
    for batch in given:
        store.append("s", batch)


def write_and_flush(folder: Path, pieces: list[bytes]) -> None:
    descriptor = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for piece in pieces:
        os.write(descriptor, piece)
        os.fsync(descriptor)
    os.close(descriptor)


def row_of(event: dict[str, Any]) -> tuple[Any, ...]:
    data = json.dumps(event["data"], separators=(",", ":"))
    return event["seq"], event["type"], event["time"], data, json.dumps(event["surfaceOp"])


def commit_each(folder: Path, batches: list[list[tuple[Any, ...]]]) -> float:
    """Seconds for a transaction a batch, into a database that flushes its log at each commit."""
    with closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.execute(TABLE)
        started = time.perf_counter()
        for rows in batches:
            database.execute("BEGIN IMMEDIATE")
            database.executemany(INSERT, rows)
            database.execute("COMMIT")
        return time.perf_counter() - started


def loading(name: str, events: int, rounds: int) -> Beside:
    """Opening a store and loading a long log, against reading its lines from memory as JSON."""
    given = [event(seq) for seq in range(events)]
    lines = [json.dumps(each).encode() for each in given]
    with tempfile.TemporaryDirectory(prefix="session-conformance-") as folder:
        store = open_store(name, Path(folder))
        store.create(HEADER)
        store.append("s", given)
        store.close()
        loads = [seconds(partial(open_and_load, name, Path(folder))) for _ in range(rounds)]
    bares = [seconds(lambda: [json.loads(line) for line in lines]) for _ in range(rounds)]
    return Beside(statistics.median(loads), statistics.median(bares))


def open_and_load(name: str, folder: Path) -> None:
    """Each time as a new process would: nothing was looked at before."""
    store = open_store(name, folder)
    store.load("s")
    store.close()


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
