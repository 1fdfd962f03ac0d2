"""What all stores of the reference share: the contract of ``spec/backend.md``, whatever lies on the disk.

A store of one format says how a log is read, begun, continued and repaired. When each of these is due,
and what is refused before, is said here. ``backend`` has the same rules over a store in its simplest form.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..admission import finish
from ..backend import (
    View,
    balance,
    copied,
    require_continuation,
    require_header,
    require_seqs,
    require_version,
    require_wanted,
)  # fmt: skip
from ..legacy import refuse_retired
from ..load import read_events
from ..lossless_json import is_lossless
from ..rejection import Rejection
from ..values import is_seq, show
from ..written_numbers import as_written
from .durable import UnsettledError, lock_folder

Header = dict[str, Any]
Event = dict[str, Any]


@dataclass
class Stored:
    """A log as it is stored. It is read anew each time, so that it can be given away."""

    header: Header
    events: list[Event]

    @property
    def rewritten(self) -> int:
        """How many of the last events a repair has to write a second time."""
        return 0


@dataclass
class Opened:
    """A session that this instance may append to: how many events it has so far."""

    count: int


class ReadOnly(Exception):  # noqa: N818 - a refusal
    """A store that was opened for inspection is not written to."""


StoredLog = TypeVar("StoredLog", bound=Stored)
OpenLog = TypeVar("OpenLog", bound=Opened)


class Store(ABC, Generic[StoredLog, OpenLog]):
    """A store in a folder. A writer has it alone (StoreBusy for the second); any number may inspect.

    ``created`` holds the headers of sessions without an event, which are in no file; ``open`` those that
    may be appended to, ``inspected`` the ids that were shown; ``live`` the headers of those that a live
    session is at work on. ``read_only`` takes no lock, and refuses what would write.
    """

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self.folder = folder
        self.created: dict[str, Header] = {}
        self.open: dict[str, OpenLog] = {}
        self.inspected: set[str] = set()
        self.live: dict[str, Header] = {}
        self.lock = None if read_only else lock_folder(folder)

    def close(self) -> None:
        """Give the store free for another writer. All that was answered for is on disk already."""
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    # -- what a format says ----------------------------------------------------------

    @abstractmethod
    def holds(self, header: Header) -> bool:
        """Whether a log of this id is stored. Raises Rejection where none could ever be."""

    @abstractmethod
    def read(self, session_id: str) -> StoredLog:
        """The log of a session, whole. BACK-6, BACK-25; raises Rejection."""

    @abstractmethod
    def begin(self, header: Header, events: list[Event]) -> None:
        """Store a new log with its first batch, whole or not at all. BACK-5: never over another one."""

    @abstractmethod
    def extend(self, session_id: str, opened: OpenLog, events: list[Event]) -> None:
        """Store more of a log. Raises OSError with the log as it was, or UnsettledError."""

    @abstractmethod
    def settle(self, session_id: str, stored: StoredLog, missing: list[Event]) -> None:
        """Put what a stored log lacks in the place of its torn tail; then it can be appended to."""

    @abstractmethod
    def list_headers(self, aborted: Exception | None = None) -> list[Header]:
        """BACK-20, BACK-29: the header of every stored session, by id."""

    @abstractmethod
    def revision(self, session_id: str, aborted: Exception | None = None) -> str | None:
        """BACK-18: what tells one state of a stored log from another; None for no such session."""

    # -- writing ---------------------------------------------------------------------

    def create(self, header: Header) -> None:
        """BACK-2 to BACK-7: a session is registered, and nothing is written before its first event."""
        self.require_writer()
        require_header(header)
        session_id = header["id"]
        if session_id in self.created or session_id in self.open or session_id in self.inspected:
            raise Rejection("session-exists", f'session "{session_id}" already exists in this backend')
        if self.holds(header):
            raise Rejection(
                "session-persisted",
                f'session "{session_id}" already has a persisted log on disk;'
                " load/resume it instead of creating",
            )
        self.created[session_id] = copied(header)

    def append(self, session_id: str, events: list[Event]) -> None:
        """BACK-8 to BACK-12, BACK-19: all of a batch or nothing of it, and on the disk before the answer.

        Raises Rejection, and OSError where the disk does not take it; then the log is as it was. A
        session that is in doubt after that is read again before it is written to.
        """
        self.require_writer()
        if not is_lossless(events):
            raise Rejection(
                "batch-not-lossless",
                "session event batch is not losslessly JSON-serializable"
                " because it contains non-JSON-serializable data",
            )
        refuse_retired(events, session_id, 0)
        if not events:
            return
        if session_id not in self.created and session_id not in self.open:
            self.load(session_id)
        opened = self.open.get(session_id)
        require_seqs(session_id, events, 0 if opened is None else opened.count)
        if opened is None:
            try:
                self.begin(self.created[session_id], events)
            except OSError:
                if self.may_be_stored(session_id):
                    del self.created[session_id]
                raise
            self.created.pop(session_id, None)
            return
        with self.read_if_in_doubt(session_id):
            self.extend(session_id, opened, events)

    @contextmanager
    def read_if_in_doubt(self, session_id: str) -> Iterator[None]:
        """One write. Where nobody knows what came of it, the log is read before it is written to again."""
        try:
            yield
        except UnsettledError:
            self.open.pop(session_id, None)
            raise

    def may_be_stored(self, session_id: str) -> bool:
        """Whether a first batch is there though its write failed; then it is read before more is written."""
        try:
            return self.holds(self.created[session_id])
        except (OSError, Rejection):
            return False

    def load(self, session_id: str) -> View:
        """BACK-13, BACK-24: the torn tail goes, and the closers of what remains come, in one write."""
        self.require_writer()
        stored = self.read(session_id)
        events, missing = balance(stored.header, stored.events)
        if missing and session_id in self.live:
            raise Rejection(
                "load-live-open",
                f'cannot load session "{session_id}" while its live turn is open; use the live Session'
                " or wait for the turn to close",
            )
        kept = len(events) - stored.rewritten
        missing = as_written(missing)
        with self.read_if_in_doubt(session_id):
            self.settle(session_id, stored, missing)
        return View(stored.header, events[:kept] + as_written(events[kept:]) + missing)

    def prepare(self, session_id: str) -> View:
        """BACK-27."""
        if session_id in self.live:
            raise Rejection("prepare-live", f'cannot prepare session "{session_id}" while it is live')
        return self.load(session_id)

    def go_live(self, header: Header, events: list[Event]) -> None:
        """BACK-28: what the store lacks of a live log is written behind it, and a torn tail goes."""
        self.require_writer()
        session_id = header["id"]
        log = finish(copied(events), True, header).events
        if self.holds(header):
            stored = self.read(session_id)
            require_continuation(header, log, {"header": stored.header, "events": stored.events})
            with self.read_if_in_doubt(session_id):
                self.settle(session_id, stored, as_written(log[len(stored.events) :]))
        else:
            require_header(header)
            self.begin(copied(header), as_written(log))
            self.created.pop(session_id, None)
        self.live[session_id] = header

    # -- reading ---------------------------------------------------------------------

    def inspect(self, session_id: str, aborted: Exception | None = None) -> View:
        """BACK-15, BACK-26: what a load would give, and nothing is written."""
        require_wanted(aborted)
        stored = self.read(session_id)
        events, missing = balance(stored.header, stored.events)
        if session_id in self.live:
            missing = []
        self.inspected.add(session_id)
        return View(stored.header, events + missing)

    def read_from(self, session_id: str, first: object, aborted: Exception | None = None) -> View:
        """BACK-16, BACK-17: the stored events from a seq on."""
        if not is_seq(first):
            raise Rejection(
                "read-from", f"readFrom fromSeq must be a non-negative safe integer, got {show(first)}"
            )
        require_wanted(aborted)
        start = int(first)  # type: ignore[call-overload]
        base, stored = self.read_part(session_id, start)
        require_version(stored.header)
        events = read_events(stored.events, session_id, base)
        return View(stored.header, events[max(start - base, 0) :])

    def read_part(self, session_id: str, first: int) -> tuple[int, Stored]:
        """A log from some event at or before ``first`` on, and the seq of that event."""
        return 0, self.read(session_id)

    def require_writer(self) -> None:
        if self.lock is None:
            raise ReadOnly(f"{self.folder}: this store was opened read-only, or is closed")
