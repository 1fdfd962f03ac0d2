"""A storage backend in miniature: JSON lines in files, honest, and easy to break in one place.

It shares nothing with the model of the reference but what judges a stored log, so that the contract
is met by two programs. ``broken_backends`` derives from it.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reference_impl.admission import admit_restored
from reference_impl.closers import closers
from reference_impl.load import read_events
from reference_impl.rejection import Rejection

Json = dict[str, Any]
RETIRED = {"request/header-delta": "legacy-header-delta", "mode/set": "legacy-mode-set"}


class Refused(Exception):  # noqa: N818 - an answer, not an error of the program
    """A clean refusal, by its condition."""


class Miniature:
    """One instance over one folder. ``owned`` counts the stored events of sessions that it may append to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.headers: dict[str, Json] = {}
        self.owned: dict[str, int] = {}
        self.inspected: set[str] = set()

    # -- files ---------------------------------------------------------------------

    def segment(self, session_id: str) -> str:
        """The name of a session's folder."""
        name = re.sub(r"[^A-Za-z0-9._-]", lambda found: f"~{ord(found[0]):04X}", session_id)
        return name if name.strip(".") else name.replace(".", "~002E")

    def path(self, session_id: str, cwd: str | None = None) -> Path:
        """Where a session is stored; without cwd wherever it is found."""
        name = self.segment(session_id)
        if cwd is not None:
            project = "--" + hashlib.sha256(cwd.encode()).hexdigest()[:8] + "--"
            return self.root / project / name / "session.jsonl"
        found = list(self.root.glob(f"*/{name}/session.jsonl"))
        return found[0] if found else self.root / "_no-cwd" / name / "session.jsonl"

    def check_store(self, session_id: str | None = None) -> None:
        """No log in the layout or the compression of other programs, and none in two projects."""
        if any(self.root.glob("*/*.jsonl*")):
            raise Refused("root-flat-layout")
        if any(self.root.glob("*/*/session.jsonl.zstd")):
            raise Refused("root-encoding")
        if (
            session_id is not None
            and len(list(self.root.glob(f"*/{self.segment(session_id)}/session.jsonl"))) > 1
        ):
            raise Refused("jsonl-duplicate-id")

    def store_id(self) -> str:
        """What tells this store from others, for as long as its folder stands."""
        return str(self.root.stat().st_ino)

    def read(self, session_id: str) -> tuple[Json, list[Json], int]:
        """Header, events and the number of bytes that hold them. Refuses committed damage."""
        self.check_store(session_id)
        path = self.path(session_id)
        if not path.exists():
            raise Refused("session-not-found")
        header, *lines = self.whole_lines(path.read_bytes())
        events: list[Json] = []
        size, fault = len(header), None
        for line in lines:
            event = parsed(line)
            if fault is None and event is None:
                fault = "jsonl-line"
            elif fault is None and event is not None and event.get("seq") != len(events):
                fault = "jsonl-gap"
            if fault is None and event is not None:
                events.append(event)
                size += len(line)
            elif event is not None and event.get("type") == "turn/end":
                raise Refused(str(fault))
        return self.header_of(json.loads(header)), events, size

    def whole_lines(self, content: bytes) -> list[bytes]:
        """Lines with their line feed; what stands behind the last one is torn."""
        return re.findall(rb"[^\n]*\n", content)

    def header_of(self, line: Json) -> Json:
        return {name: value for name, value in line.items() if name != "type"}

    def write(self, session_id: str, header: Json, events: list[Json], size: int | None = None) -> None:
        """Put events behind the first ``size`` bytes, all that there are by default."""
        path = self.path(session_id, header.get("cwd"))
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = path.read_bytes()[:size] if path.exists() else line_of({"type": "session", **header})
        path.write_bytes(kept + b"".join(line_of(event) for event in events))

    # -- the calls -----------------------------------------------------------------

    def create(self, header: Json) -> None:
        if not lossless(header):
            raise Refused("create-not-lossless")
        if not whole(header.get("createdAt")):
            raise Refused("create-created-at")
        self.check_store(header["id"])
        if header["id"] in self.headers or header["id"] in self.owned or header["id"] in self.inspected:
            raise Refused("session-exists")
        if self.path(header["id"]).exists():
            raise Refused("session-persisted")
        self.headers[header["id"]] = copy.deepcopy(header)

    def append(self, session_id: str, events: list[Json]) -> None:
        self.check_batch(events)
        if not events:
            return
        if session_id in self.headers:
            header, stored = self.headers[session_id], 0
        else:
            if session_id not in self.owned:
                self.load(session_id)
            header, _, _ = self.read(session_id)
            stored = self.owned[session_id]
        self.check_seqs(stored, events)
        self.write(session_id, header, events)
        self.headers.pop(session_id, None)
        self.owned[session_id] = stored + len(events)

    def check_batch(self, events: list[Json]) -> None:
        if not lossless(events):
            raise Refused("batch-not-lossless")
        for event in events:
            if event["type"] in RETIRED:
                raise Refused(RETIRED[event["type"]])

    def check_seqs(self, stored: int, events: list[Json]) -> None:
        for place, event in enumerate(events, stored):
            if not whole(event.get("seq")) or event["seq"] != place:
                raise Refused("append-seq")

    def load(self, session_id: str) -> Json:
        header, events, size = self.read(session_id)
        events, missing = self.balance(header, events)
        if missing or size < self.path(session_id).stat().st_size:
            self.write(session_id, header, missing, size)
        self.owned[session_id] = len(events) + len(missing)
        return {"header": header, "events": events + missing}

    def inspect(self, session_id: str) -> Json:
        header, events, _ = self.read(session_id)
        events, missing = self.balance(header, events)
        self.inspected.add(session_id)
        return {"header": header, "events": events + missing}

    def read_from(self, session_id: str, first: Any) -> Json:
        if not whole(first):
            raise Refused("read-from")
        header, events, _ = self.read(session_id)
        return {"header": header, "events": self.readable(header, events)[first:]}

    def readable(self, header: Json, events: list[Json]) -> list[Json]:
        """The events in the shapes of today."""
        if header["version"] != 0:
            raise Refused("format-newer" if header["version"] > 0 else "format-older")
        try:
            return read_events(events, header["id"])
        except Rejection as refusal:
            raise Refused(refusal.condition) from None

    def balance(self, header: Json, events: list[Json]) -> tuple[list[Json], list[Json]]:
        """Those events, and the closers that they lack."""
        events = self.readable(header, events)
        missing = closers(events)
        try:
            admit_restored(header, [*events, *missing])
        except Rejection as refusal:
            raise Refused(refusal.condition) from None
        return events, missing

    def list(self) -> list[Json]:
        self.check_store()
        headers = [self.header_of(json.loads(path.read_bytes().split(b"\n")[0])) for path in self.logs()]
        for header in headers:
            self.check_store(header["id"])
        return sorted(headers, key=lambda header: str(header["id"]))

    def logs(self) -> Iterator[Path]:
        return self.root.glob("*/*/session.jsonl")

    def revision(self, session_id: str) -> str | None:
        path = self.path(session_id)
        if not path.exists():
            return None
        return f"{self.store_id()}:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    def close(self) -> None:
        """All is in files already."""


def line_of(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def parsed(line: bytes) -> Json | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def whole(value: Any) -> bool:
    """A number from 0 to 2^53-1 without a fraction."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value < 2**53 and value == int(value)


def lossless(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(lossless, value.values()))
    if isinstance(value, list):
        return all(map(lossless, value))
    return not isinstance(value, float) or (
        math.isfinite(value) and (value != 0 or math.copysign(1, value) > 0)
    )
