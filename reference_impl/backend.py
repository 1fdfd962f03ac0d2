"""A storage backend in its simplest form: what any backend promises, and nothing of how it stores.

Page: ``spec/backend.md``. The whole store is one JSON file, written anew after each change. That is
no way to store sessions; it is a way to read the rules.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any, NamedTuple

from .admission import admit_restored, finish
from .closers import closers
from .legacy import refuse_retired
from .load import read_events
from .lossless_json import is_lossless
from .rejection import Rejection
from .values import equal_json, is_seq, show, to_double

FORMAT_VERSION = 0

Header = dict[str, Any]
Event = dict[str, Any]


class View(NamedTuple):
    """A session as a reader gets it."""

    header: Header
    events: list[Event]


class BackendModel:
    """A store in a folder, opened by one process at a time. BACK-31: all is kept by id, as it is.

    ``stored`` holds by id what is in the file: ``header``, ``events`` and ``revision``, a count of
    writes. ``created`` holds the headers of sessions without an event, which are in no file (BACK-7).
    ``adopted`` holds the ids whose log this instance has balanced and may continue, ``inspected`` those
    that it has shown; ``live`` the headers of those that a live session is at work on.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "model.json"
        self.created: dict[str, Header] = {}
        self.adopted: set[str] = set()
        self.inspected: set[str] = set()
        self.live: dict[str, Header] = {}
        self.store_id = uuid.uuid4().hex
        self.stored: dict[str, dict[str, Any]] = {}
        if self._file.exists():  # BACK-19
            content = json.loads(self._file.read_text("utf-8"))
            self.store_id = content["store"]
            self.stored = content["sessions"]

    def create(self, header: Header) -> None:
        """Register a session. BACK-7: nothing is written before its first event."""
        require_header(header)
        session_id = header["id"]
        if session_id in self.created or session_id in self.adopted or session_id in self.inspected:  # BACK-4
            raise Rejection("session-exists", f'session "{session_id}" already exists in this backend')
        if session_id in self.stored:  # BACK-5
            raise Rejection(
                "session-persisted",
                f'session "{session_id}" already has a persisted log on disk;'
                " load/resume it instead of creating",
            )
        self.created[session_id] = copied(header)

    def append(self, session_id: str, events: list[Event]) -> None:
        """Write a batch, all of it or nothing. BACK-10: types and payloads are the reader's to judge."""
        if not is_lossless(events):  # BACK-9
            raise Rejection(
                "batch-not-lossless",
                "session event batch is not losslessly JSON-serializable"
                " because it contains non-JSON-serializable data",
            )
        refuse_retired(events, session_id, 0)
        if not events:  # BACK-7
            return
        if session_id not in self.created and session_id not in self.adopted:
            self.load(session_id)  # BACK-11
        stored = self.stored.get(session_id)
        expected = 0 if stored is None else len(stored["events"])
        require_seqs(session_id, events, expected)
        if stored is None:
            stored = {"header": self.created.pop(session_id), "events": [], "revision": 0}
            self.stored[session_id] = stored
            self.adopted.add(session_id)
        self._write(stored, events)

    def load(self, session_id: str) -> View:
        """BACK-13: the balanced log. What an interrupted turn lacks is written, and only that."""
        stored = self._find(session_id)
        events, missing = balance(stored["header"], stored["events"])
        if missing and session_id in self.live:  # BACK-26
            raise Rejection(
                "load-live-open",
                f'cannot load session "{session_id}" while its live turn is open; use the live Session'
                " or wait for the turn to close",
            )
        if missing:
            self._write(stored, missing)  # BACK-14: the next append continues behind them
        self.adopted.add(session_id)
        return View(copied(stored["header"]), copied(events + missing))

    def inspect(self, session_id: str, aborted: Exception | None = None) -> View:
        """BACK-15: what a load would give, and nothing is written. BACK-26: a live log is given as it is.

        ``aborted`` is the reason of a signal that was aborted, here as in the other reads.
        """
        require_wanted(aborted)
        stored = self._find(session_id)
        events, missing = balance(stored["header"], stored["events"])
        if session_id in self.live:
            missing = []
        self.inspected.add(session_id)
        return View(copied(stored["header"]), copied(events + missing))

    def read_from(self, session_id: str, first: object, aborted: Exception | None = None) -> View:
        """BACK-17: the stored events from a seq on; there are none behind the end, and no closers."""
        if not is_seq(first):  # BACK-16
            raise Rejection(
                "read-from", f"readFrom fromSeq must be a non-negative safe integer, got {show(first)}"
            )
        require_wanted(aborted)
        stored = self._find(session_id)
        require_version(stored["header"])
        start = int(first)  # type: ignore[call-overload]
        events = read_events(stored["events"], session_id)
        return View(copied(stored["header"]), copied(events[start:]))

    def list_headers(self, aborted: Exception | None = None) -> list[Header]:
        """BACK-20: the header of every stored session, once each, by id."""
        require_wanted(aborted)
        return [copied(self.stored[session_id]["header"]) for session_id in sorted(self.stored)]

    def revision(self, session_id: str, aborted: Exception | None = None) -> str | None:
        """BACK-18: a token of what is stored: the store, the session, and how often it was written."""
        require_wanted(aborted)
        stored = self.stored.get(session_id)
        return None if stored is None else f"{self.store_id}:{session_id}:{stored['revision']}"

    def prepare(self, session_id: str) -> View:
        """Make a stored session ready to be resumed, by whoever is not at work on it already."""
        if session_id in self.live:  # BACK-27
            raise Rejection("prepare-live", f'cannot prepare session "{session_id}" while it is live')
        return self.load(session_id)

    def go_live(self, header: Header, events: list[Event]) -> None:
        """A live session appears, its log marked as ADMT-6 has it; what the store lacks of it is written."""
        session_id = header["id"]
        log = finish(copied(events), True, header).events
        stored = self.stored.get(session_id)
        if stored is None:
            stored = {"header": copied(header), "events": [], "revision": 0}
        require_continuation(header, log, stored)
        self.stored[session_id] = stored
        self.live[session_id] = header
        self.adopted.add(session_id)
        self._write(stored, log[len(stored["events"]) :])

    def _find(self, session_id: str) -> dict[str, Any]:
        if session_id not in self.stored:  # BACK-6
            raise Rejection("session-not-found", f'session "{session_id}" not found')
        return self.stored[session_id]

    def _write(self, stored: dict[str, Any], events: list[Event]) -> None:
        stored["events"] = stored["events"] + copied(events)  # BACK-1, BACK-12
        stored["revision"] += 1
        content = {"store": self.store_id, "sessions": self.stored}
        self._file.write_text(json.dumps(content), "utf-8")


def require_wanted(aborted: Exception | None) -> None:
    """BACK-30: a read that was called off gives back the reason itself."""
    if aborted is not None:
        raise aborted


def require_header(header: Header) -> None:
    """BACK-2, BACK-3. Of the version nothing is asked here (BACK-21)."""
    if not is_lossless(header):
        raise Rejection("create-not-lossless", "session metadata must be losslessly JSON-serializable")
    if not is_seq(header.get("createdAt")):
        raise Rejection("create-created-at", "session metadata createdAt must be a non-negative safe integer")


def require_seqs(session_id: str, events: list[Event], expected: int) -> None:
    """BACK-8: the events of a batch go on counting from the stored ones."""
    for index, event in enumerate(events):  # BACK-8
        if not is_seq(event.get("seq")) or to_double(event["seq"]) != expected + index:
            raise Rejection(
                "append-seq",
                f'append seq mismatch for "{session_id}": expected {expected + index} at index {index},'
                f" got {show(event.get('seq'))}",
            )


def require_continuation(header: Header, log: list[Event], stored: dict[str, Any]) -> None:
    """BACK-28: a live session continues a stored one of its id, or they are two that collide."""
    here, there = header.get("cwd"), stored["header"].get("cwd")
    if here != there:
        raise Rejection(
            "session-collision",
            f'session "{header["id"]}" is already persisted at a different cwd'
            f" (persisted: {there}, live: {here}) (id collision)",
        )
    if not equal_json(log[: len(stored["events"])], stored["events"]):
        raise Rejection(
            "session-collision",
            f'session "{header["id"]}" already has a persisted log on disk that does not match'
            " this live session (id collision)",
        )


def balance(header: Header, stored: list[Event]) -> tuple[list[Event], list[Event]]:
    """A stored log in the shapes of today, and the closers that it lacks. Raises Rejection.

    BACK-22: which types and shapes are read is the loader's rule. BACK-23: all is judged, the closers
    too, before anything is written. Those of a readable log cannot have an old shape.
    """
    require_version(header)
    events = read_events(stored, header["id"])
    missing = closers(events)
    admit_restored(header, [*events, *missing])
    return events, missing


def require_version(header: Header) -> None:
    """BACK-21: no other version is read; this is asked first."""
    session_id, version = header["id"], header["version"]
    if version > FORMAT_VERSION:
        raise Rejection(
            "format-newer",
            f'session "{session_id}" uses log format v{show(version)}, but this harness reads only v0:'
            " the log was written by a newer harness — upgrade the harness to open it",
        )
    if version < FORMAT_VERSION:
        raise Rejection(
            "format-older",
            f'session "{session_id}" uses log format v{show(version)}, older than the supported v0, and this'
            " build ships no upgrade path for it",
        )


def copied(value: Any) -> Any:
    """A deep copy of a JSON value."""
    return json.loads(json.dumps(value))
