"""A JSONL store on disk, plain or compressed: the contract of ``spec/backend.md``, kept through crashes.

One file per session, only ever appended to. An append is answered for when its bytes and the name of
its file are flushed. What a crash leaves is a torn tail, which the next load cuts off.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zstandard

from ..admission import finish
from ..backend import (
    View,
    balance,
    copied,
    require_continuation,
    require_header,
    require_version,
    require_wanted,
)  # fmt: skip
from ..jsonl_path import Place, check_place, check_store, place_of, segment_of
from ..legacy import refuse_retired
from ..load import read_events, require_identity
from ..lossless_json import is_lossless
from ..rejection import Rejection
from ..values import is_seq, show, to_double
from .durable import UnsettledError, lock_folder, publish, replace_tail
from .jsonl_format import count_before, event_bytes, header_bytes, listed_header, scan_open

Header = dict[str, Any]
Event = dict[str, Any]


ANY_ID = "any"
"""The id that stands for all where what is asked of a store does not hang on one."""


@dataclass
class Stored:
    """A log as it lies in its file: ``size`` bytes, of which those from ``end`` on are torn.

    It is read anew each time, so that it can be given away. ``lost`` are the events of a torn frame,
    which are read and have to be written again (ZSTD-12).
    """

    path: Path
    header: Header
    events: list[Event]
    size: int
    end: int
    lost: list[Event]


@dataclass
class Open:
    """A session that this instance may append to: its file, its events and bytes so far."""

    path: Path
    count: int
    size: int


class ReadOnly(Exception):  # noqa: N818 - a refusal
    """A store that was opened for inspection is not written to."""


class JsonlStore:
    """A store in a folder. A writer has it alone (StoreBusy for the second); any number may inspect.

    ``compression`` is ``none`` or ``zstd``. ``read_only`` takes no lock, and refuses what would write.
    """

    def __init__(self, folder: Path, compression: str = "none", *, read_only: bool = False) -> None:
        self.folder = folder
        self.compression = compression
        self.file = place_of("any", None, compression).file
        self.created: dict[str, Header] = {}
        self.open: dict[str, Open] = {}
        self.live: dict[str, Header] = {}
        self.inspected: set[str] = set()
        self.lock = None if read_only else lock_folder(folder)

    def close(self) -> None:
        """Give the store free for another writer. All that was answered for is on disk already."""
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    # -- writing -------------------------------------------------------------------

    def create(self, header: Header) -> None:
        """BACK-2 to BACK-7: a session is registered, and nothing is written before its first event."""
        self.require_writer()
        require_header(header)
        session_id = header["id"]
        if session_id in self.created or session_id in self.open or session_id in self.inspected:
            raise Rejection("session-exists", f'session "{session_id}" already exists in this backend')
        place_of(session_id, header.get("cwd"), self.compression)
        if self.find(session_id) is not None:
            raise Rejection(
                "session-persisted",
                f'session "{session_id}" already has a persisted log on disk;'
                " load/resume it instead of creating",
            )
        self.created[session_id] = copied(header)

    def append(self, session_id: str, events: list[Event]) -> None:
        """BACK-8 to BACK-12, BACK-19: all of a batch or nothing of it, and on the disk before the answer.

        Raises Rejection, and OSError where the disk does not take it; then the file is as it was.
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
            self.begin(self.created[session_id], events)
        else:
            self.extend(session_id, opened, events)

    def begin(self, header: Header, events: list[Event]) -> None:
        """The file of a session appears with its first batch, whole. BACK-5: never over another one."""
        session_id = header["id"]
        place = place_of(session_id, header.get("cwd"), self.compression)
        path = self.folder / place.project / place.segment / place.file
        content = header_bytes(header, self.compression) + event_bytes(events, self.compression)
        publish(self.folder, path, content)
        self.created.pop(session_id, None)
        self.open[session_id] = Open(path, len(events), len(content))

    def extend(self, session_id: str, opened: Open, events: list[Event]) -> None:
        """More of a log. A session whose file is in doubt is read again before it is written to."""
        content = event_bytes(events, self.compression)
        try:
            replace_tail(opened.path, opened.size, opened.size, content)
        except UnsettledError:
            del self.open[session_id]
            raise
        opened.count += len(events)
        opened.size += len(content)

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
        self.settle(session_id, stored, missing)
        return View(stored.header, events + missing)

    def settle(self, session_id: str, stored: Stored, missing: list[Event]) -> None:
        """Write what a stored log lacks, in the place of its torn tail; then it can be appended to."""
        content = event_bytes(stored.lost + missing, self.compression)
        if content or stored.end < stored.size:
            replace_tail(stored.path, stored.size, stored.end, content)
        count = len(stored.events) + len(missing)
        self.open[session_id] = Open(stored.path, count, stored.end + len(content))

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
        if self.find(session_id) is None:
            self.begin(copied(header), log)
        else:
            stored = self.read(session_id)
            require_continuation(header, log, {"header": stored.header, "events": stored.events})
            self.settle(session_id, stored, log[len(stored.events) :])
        self.live[session_id] = header

    # -- reading -------------------------------------------------------------------

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
        stored = self.read(session_id)
        require_version(stored.header)
        start = int(first)  # type: ignore[call-overload]
        events = read_events(stored.events, session_id)
        return View(stored.header, events[start:])

    def list_headers(self, aborted: Exception | None = None) -> list[Header]:
        """BACK-20, BACK-29: the header of every log that lies where its header says, by id."""
        require_wanted(aborted)
        names = self.names()
        check_store(names, ANY_ID, self.compression)
        found: dict[str, Header] = {}
        for path in self.files():
            header = self.header_in(path)
            if header is not None:
                check_store(names, header["id"], self.compression)
                found[header["id"]] = header
        return [found[session_id] for session_id in sorted(found)]

    def header_in(self, path: Path) -> Header | None:
        """The header of a file if it can be read and the file is its own."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            header = listed_header(descriptor, self.compression)
            if header is not None:
                self.check_place(path, header)
            return header
        except (Rejection, zstandard.ZstdError):
            return None
        finally:
            os.close(descriptor)

    def revision(self, session_id: str, aborted: Exception | None = None) -> str | None:
        """BACK-18: the file, told by its number on the disk, and what is in it."""
        require_wanted(aborted)
        path = self.find(session_id)
        if path is None:
            return None
        with path.open("rb") as stream:
            told = os.fstat(stream.fileno())
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return f"{told.st_dev:x}:{told.st_ino:x}:{digest}"

    # -- files ---------------------------------------------------------------------

    def files(self) -> Iterator[Path]:
        """Every log file of the store."""
        return self.folder.glob(f"*/*/{self.file}")

    def find(self, session_id: str) -> Path | None:
        """The file of a session, in whatever project. PATH-8 to PATH-10 are asked of the store first."""
        check_store(self.names(), session_id, self.compression)
        found = sorted(self.folder.glob(f"*/{segment_of(session_id)}/{self.file}"))
        return found[0] if found else None

    def names(self) -> list[str]:
        """The files of the store by their paths below it, as far down as logs lie."""
        found = [*self.folder.glob("*/*"), *self.folder.glob("*/*/*")]
        return [path.relative_to(self.folder).as_posix() for path in found]

    def read(self, session_id: str) -> Stored:
        """The log of a session from its file. BACK-6, BACK-25; raises Rejection."""
        path = self.find(session_id)
        if path is None:
            raise Rejection("session-not-found", f'session "{session_id}" not found')
        descriptor = os.open(path, os.O_RDONLY)
        try:
            size = os.fstat(descriptor).st_size
            scanned = scan_open(descriptor, self.compression)
            header: Header = scanned.header
            events: list[Event] = scanned.events  # type: ignore[assignment]
            lost: list[Event] = []
            if scanned.torn_from is not None and self.compression == "zstd":
                lost = events[count_before(descriptor, scanned.torn_from) :]
        finally:
            os.close(descriptor)
        require_identity(header, session_id)
        self.check_place(path, header)
        end = size if scanned.torn_from is None else scanned.torn_from
        return Stored(path, header, events, size, end, lost)

    def check_place(self, path: Path, header: Header) -> None:
        """PATH-7, BACK-29."""
        place = Place(path.parent.parent.name, path.parent.name, path.name)
        check_place(place, header["id"], header.get("cwd"), self.compression)

    def require_writer(self) -> None:
        if self.lock is None:
            raise ReadOnly(f"{self.folder}: this store was opened read-only, or is closed")


def require_seqs(session_id: str, events: list[Event], expected: int) -> None:
    """BACK-8: the events of a batch go on counting from the stored ones."""
    for index, event in enumerate(events):
        seq = event.get("seq")
        if not is_seq(seq) or to_double(seq) != expected + index:  # type: ignore[arg-type]
            raise Rejection(
                "append-seq",
                f'append seq mismatch for "{session_id}": expected {expected + index} at index {index},'
                f" got {show(seq)}",
            )
