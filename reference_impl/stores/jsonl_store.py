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

import zstandard

from ..backend import require_wanted
from ..jsonl_path import Place, check_place, check_store, place_of, segment_of
from ..load import require_identity
from ..rejection import Rejection
from ..written_numbers import as_written
from .durable import adopt, publish, replace_tail
from .jsonl_format import count_before, event_bytes, header_bytes, listed_header, scan_open
from .store import Event, Header, Opened, Store, Stored

ANY_ID = "any"
"""The id that stands for all where what is asked of a store does not hang on one."""


@dataclass
class StoredFile(Stored):
    """A log as it lies in its file: ``size`` bytes, of which those from ``end`` on are torn.

    ``lost`` are the events of a torn frame, which are read and have to be written again (ZSTD-12).
    """

    path: Path
    size: int
    end: int
    lost: list[Event]

    @property
    def rewritten(self) -> int:
        return len(self.lost)


@dataclass
class Open(Opened):
    """A session that this instance may append to: its file, and its bytes so far."""

    path: Path
    size: int


class JsonlStore(Store[StoredFile, Open]):
    """A store of JSON lines. ``compression`` is ``none`` or ``zstd``."""

    def __init__(self, folder: Path, compression: str = "none", *, read_only: bool = False) -> None:
        super().__init__(folder, read_only=read_only)
        self.compression = compression
        self.file = place_of("any", None, compression).file

    # -- writing -------------------------------------------------------------------

    def begin(self, header: Header, events: list[Event]) -> None:
        """The file of a session appears with its first batch, whole. BACK-5: never over another one."""
        session_id = header["id"]
        place = place_of(session_id, header.get("cwd"), self.compression)
        path = self.folder / place.project / place.segment / place.file
        content = header_bytes(header, self.compression) + event_bytes(events, self.compression)
        publish(self.folder, path, content)
        self.open[session_id] = Open(len(events), path, len(content))

    def extend(self, session_id: str, opened: Open, events: list[Event]) -> None:
        """More of a log, behind what is there."""
        content = event_bytes(events, self.compression)
        replace_tail(opened.path, opened.size, opened.size, content)
        opened.count += len(events)
        opened.size += len(content)

    def settle(self, session_id: str, stored: StoredFile, missing: list[Event]) -> None:
        """Write what a stored log lacks, in the place of its torn tail; then it can be appended to."""
        content = event_bytes(as_written(stored.lost) + missing, self.compression)
        if content or stored.end < stored.size:
            replace_tail(stored.path, stored.size, stored.end, content)
        if session_id not in self.open:
            adopt(self.folder, stored.path)
        count = len(stored.events) + len(missing)
        self.open[session_id] = Open(count, stored.path, stored.end + len(content))

    # -- reading -------------------------------------------------------------------

    def list_headers(self, aborted: Exception | None = None) -> list[Header]:
        """BACK-20, BACK-29: the header of every log that lies where its header says, by id."""
        require_wanted(aborted)
        names = self.names()
        check_store(names, ANY_ID, self.compression)
        places: dict[str, list[str]] = {}
        for name in names:
            places.setdefault(name.split("/")[1], []).append(name)
        found: dict[str, Header] = {}
        for path in self.files():
            header = self.header_in(path)
            if header is not None:
                check_store(places[path.parent.name], header["id"], self.compression)
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

    def holds(self, header: Header) -> bool:
        """PATH-1 to PATH-6: an id that can name no place is refused here."""
        place_of(header["id"], header.get("cwd"), self.compression)
        return self.find(header["id"]) is not None

    def find(self, session_id: str) -> Path | None:
        """The file of a session, in whatever project. PATH-8 to PATH-10 are asked of the store first."""
        names = self.names()
        check_store(names, session_id, self.compression)
        place = [segment_of(session_id), self.file]
        return next((self.folder / name for name in names if name.split("/")[1:] == place), None)

    def names(self) -> list[str]:
        """The files of the store by their paths below it, as far down as logs lie."""
        found = []
        for project in names_in(self.folder):
            for segment in names_in(self.folder / project):
                found.append(f"{project}/{segment}")
                files = names_in(self.folder / project / segment)
                found += [f"{project}/{segment}/{file}" for file in files]
        return found

    def read(self, session_id: str) -> StoredFile:
        """The log of a session from its file. BACK-6, BACK-25; raises Rejection."""
        path = self.find(session_id)
        if path is None:
            raise Rejection("session-not-found", f'session "{session_id}" not found')
        descriptor = os.open(path, os.O_RDONLY)
        try:
            scanned, size = scan_open(descriptor, self.compression, alone=self.lock is not None)
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
        return StoredFile(header, events, path, size, end, lost)

    def check_place(self, path: Path, header: Header) -> None:
        """PATH-7, BACK-29."""
        place = Place(path.parent.parent.name, path.parent.name, path.name)
        check_place(place, header["id"], header.get("cwd"), self.compression)


def names_in(folder: Path) -> list[str]:
    """The names in a folder; none in what is a file, cannot be read, or has gone meanwhile."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - of names there are many, and no paths are needed
    except OSError:
        return []
