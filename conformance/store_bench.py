"""How fast a store of the reference is, beside the least that a program could do in the same run."""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from conformance.adapters.reference_stores import JsonlStore, open_store

HEADER = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
BATCH = 50


@dataclass(frozen=True)
class Beside:
    """The median seconds of the store, and of the bare loop beside it."""

    store: float
    bare: float

    @property
    def ratio(self) -> float:
        return self.store / self.bare


def event(seq: int) -> dict[str, Any]:
    """A message of usual length."""
    content = [{"type": "text", "text": "a few words of a message, as they come"}]
    data = {"id": f"m{seq}", "role": "user", "source": {"kind": "user"}, "content": content}
    return {"type": "user/message", "seq": seq, "time": seq, "data": data, "surfaceOp": "append"}


def appending(name: str, batches: int, rounds: int) -> Beside:
    """Batches of 50 events, each flushed, against writes of the same bytes, each flushed."""
    given = [[event(first + place) for place in range(BATCH)] for first in range(0, batches * BATCH, BATCH)]
    stores, bares = [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="session-conformance-") as folder:
            store = open_store(name, Path(folder))
            store.create(HEADER)
            sizes = [0]
            stores.append(seconds(partial(append_all, store, given, sizes)))
            content = next(store.files()).read_bytes()
            store.close()
            pieces = [content[start:end] for start, end in pairwise(sizes)]
            bares.append(seconds(partial(write_and_flush, Path(folder), pieces)))
    return Beside(statistics.median(stores), statistics.median(bares))


def append_all(store: JsonlStore, given: list[list[dict[str, Any]]], sizes: list[int]) -> None:
    for batch in given:
        store.append("s", batch)
        sizes.append(store.open["s"].size)


def write_and_flush(folder: Path, pieces: list[bytes]) -> None:
    descriptor = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for piece in pieces:
        os.write(descriptor, piece)
        os.fsync(descriptor)
    os.close(descriptor)


def loading(name: str, events: int, rounds: int) -> Beside:
    """A load of a long log, against reading its lines from memory as JSON and nothing else."""
    given = [event(seq) for seq in range(events)]
    lines = [json.dumps(each).encode() for each in given]
    with tempfile.TemporaryDirectory(prefix="session-conformance-") as folder:
        store = open_store(name, Path(folder))
        store.create(HEADER)
        store.append("s", given)
        loads = [seconds(lambda: store.load("s")) for _ in range(rounds)]
        store.close()
    bares = [seconds(lambda: [json.loads(line) for line in lines]) for _ in range(rounds)]
    return Beside(statistics.median(loads), statistics.median(bares))


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
