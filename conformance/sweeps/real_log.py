"""The good log as a backend itself writes it: made through its adapter, and read from its file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from conformance.errors import AdapterError
from conformance.json_text import dump_ascii
from conformance.protocol import Connection, Request
from conformance.sweeps.answers import Step, steps_of
from conformance.sweeps.databases import left_behind, pages_of
from conformance.sweeps.good_log import HEADER, Event, GoodLog, Part, batches

STORAGE = {
    "storage.jsonl": "none",
    "storage.jsonl-zstd": "zstd",
    **{f"storage.sqlite{schema}": "sqlite" for schema in (14, 15, 17, 20)},
}


@dataclass(frozen=True)
class RealLog:
    """A good log, and the name of its file below the folder of a store.

    ``beside`` holds files that are put there undamaged, by name. ``states`` are those of a database
    after each batch, and ``written`` the batches.
    """

    log: GoodLog
    name: str
    beside: dict[str, bytes] = field(default_factory=dict)
    states: list[bytes] = field(default_factory=list)
    written: list[list[Event]] = field(default_factory=list)

    def left_behind(self) -> RealLog:
        """The same store with half of its batches in a write-ahead log, which is what is damaged."""
        base, log = left_behind(self.states, self.written)
        return RealLog(log, f"{self.name}-wal", {self.name: base})


def backend_request(number: int, root: Path, steps: list[dict[str, Any]]) -> Request:
    """A request for a folder of the sweep's own. With the operation first it would be a case of the suite."""
    body = {"edition": "v0", "op": "backend", "root": str(root), "steps": steps}
    return Request(number, dump_ascii(body)[1:])


def write_good_log(connection: Connection, root: Path, count: int) -> RealLog:
    """Have the backend write the log, a batch per request. Raises AdapterError where it does not."""
    found = sorted(connection.hello.capabilities & STORAGE.keys())
    if "backend" not in connection.hello.capabilities or not found:
        known = ", ".join(STORAGE)
        raise AdapterError(f"a sweep of real files needs a backend that declares one of {known}")
    compression = STORAGE[found[0]]
    written = list(batches(count, chunks=False))
    states = []
    for number, batch in enumerate(written):
        steps: list[Step] = [{"append": {"id": HEADER["id"], "events": batch}}]
        if number == 0:
            steps.insert(0, {"create": HEADER})
        ((_, answer),) = connection.exchange(iter([backend_request(number, root, steps)]))
        for told in steps_of(answer, steps):
            if "result" not in told:
                raise AdapterError(f"the backend does not write a good log: {told}")
        if compression == "sqlite":
            states.append(only_file(root).read_bytes())
    path = only_file(root)
    log = log_of(path.read_bytes(), compression, written)
    return RealLog(log, path.relative_to(root).as_posix(), {}, states, written)


def only_file(root: Path) -> Path:
    """The file of a closed store with one session. Raises AdapterError if there are others."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    if len(files) != 1:
        names = ", ".join(path.relative_to(root).as_posix() for path in files)
        raise AdapterError(
            f"a closed store with one session should be one file; this one is: {names or 'none'}"
        )
    return files[0]


def log_of(data: bytes, compression: str, written: list[list[Event]]) -> GoodLog:
    """Where the parts of a file end, and how many events stand before each end.

    Of a database the parts are pages, and the last page stands for the last write, though all of it is
    committed: nothing is known of which page holds what.
    """
    events = [event for batch in written for event in batch]
    parts: list[Part] = []
    if compression == "none":
        start = 0
        for number, line in enumerate(data.splitlines(keepends=True) if b"\r" not in data else []):
            parts.append(Part(start, start + len(line), number))
            start += len(line)
    elif compression == "zstd":
        parts = frames_of(data)
    else:
        parts = pages_of(data)
        return GoodLog(compression, data, events, parts, parts[-1].start)
    if not parts or parts[-1].count != len(events):
        raise AdapterError("the file of the backend does not hold one line for each event")
    before = len(events) - len(written[-1])
    last_write = max((part.end for part in parts if part.count <= before), default=0)
    return GoodLog(compression, data, events, parts, last_write)


def frames_of(data: bytes) -> list[Part]:
    """The frames of a compressed log, found by expanding them."""
    parts: list[Part] = []
    start, lines = 0, 0
    while start < len(data):
        reader = zstandard.ZstdDecompressor().decompressobj()
        lines += reader.decompress(data[start:]).count(b"\n")
        end = len(data) - len(reader.unused_data)
        parts.append(Part(start, end, lines - 1))
        start = end
    return parts
