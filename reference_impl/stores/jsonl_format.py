"""The bytes of a JSONL store, written: lines, and in a compressed store the frames around them.

Pages: ``spec/jsonl.md``, ``spec/zstd-container.md``. Reading them is in ``jsonl`` and ``zstd_container``.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import msgspec
import zstandard

from ..chunk_rows import LONE_SURROGATE, escaped
from ..jsonl import KNOWN, Bytes, Header, Scan, Scanner, has_header_shape, scan_source
from ..rejection import Rejection
from ..stored_json import read_json
from ..zstd_container import frames_of, pieces_of, scan_zstd_source

QUICK = msgspec.json.Encoder()
"""For events, of which there are many. They are lossless (BACK-9), or hold null for an infinite number."""
PATIENT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@dataclass(frozen=True)
class OpenFile:
    """A source in a file that is open, of the ``size`` that it had then: a writer may add to it."""

    descriptor: int
    size: int

    def read(self, offset: int, count: int) -> bytes:
        return os.pread(self.descriptor, max(0, min(count, self.size - offset)), offset)


def line_of(value: dict[str, Any]) -> bytes:
    """JSNL-9, JSNL-10: one event as a line of UTF-8."""
    try:
        return QUICK.encode(value) + b"\n"
    except UnicodeEncodeError:
        return patient_line(value)


def patient_line(value: dict[str, Any]) -> bytes:
    """The same for any value. Half a character can only be written as an escape.

    Raises ValueError for a number that JSON has no word for.
    """
    return LONE_SURROGATE.sub(escaped, PATIENT.encode(value)).encode() + b"\n"


def header_bytes(header: Header, compression: str) -> bytes:
    """JSNL-6: the header line. ZSTD-10: in a compressed store it is a frame of its own."""
    return written([patient_line({"type": "session", **header, **depth_of(header)})], compression)


def depth_of(header: Header) -> Header:
    """A header line has a depth, also where the header has none."""
    return {"delegationDepth": header.get("delegationDepth", 0)}


def event_bytes(events: list[dict[str, Any]], compression: str) -> bytes:
    """The lines of a batch; in a compressed store one frame, so that a batch is torn or whole."""
    return written([line_of(event) for event in events], compression) if events else b""


def written(lines: list[bytes], compression: str) -> bytes:
    """ZSTD-9: a frame carries a checksum, though a reader does not insist on it."""
    content = b"".join(lines)
    if compression == "none":
        return content
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(content)


def scan_open(descriptor: int, compression: str, *, alone: bool) -> tuple[Scan, int]:
    """Header, events, and where the torn tail begins; and the size of the file. Raises Rejection.

    A reader that is not alone may get bytes of two states where a writer repairs the log meanwhile. So
    it reads once more what it would refuse, and what has changed since it began.
    """
    before = state_of(descriptor)
    try:
        scanned = scan_part(descriptor, before[0], compression)
        if alone or state_of(descriptor) == before:
            return scanned, before[0]
    except (Rejection, zstandard.ZstdError):
        if alone:
            raise
    size, _ = state_of(descriptor)
    return scan_part(descriptor, size, compression), size


def state_of(descriptor: int) -> tuple[int, int]:
    """The size of a file, and when it was written to."""
    told = os.fstat(descriptor)
    return told.st_size, told.st_mtime_ns


def scan_part(descriptor: int, size: int, compression: str) -> Scan:
    source = OpenFile(descriptor, size)
    return scan_zstd_source(source, Scanner()) if compression == "zstd" else scan_source(source, Scanner())


def count_before(descriptor: int, end: int) -> int:
    """How many events a compressed log keeps of what stands before ``end``, a torn frame.

    ZSTD-12: a scan gives those of the torn frame as well, and a repair has to write them anew.
    """
    return len(scan_zstd_source(Bytes(os.pread(descriptor, end, 0)), Scanner()).events)


def listed_header(descriptor: int, compression: str) -> Header | None:
    """The header of a file as a listing shows it, of whatever version it is; None if there is none.

    BACK-25: a listing reads no further, so that it shows a session whose events are damaged.
    """
    line = first_line(OpenFile(descriptor, state_of(descriptor)[0]), compression)
    try:
        found = read_json(line.decode(errors="replace"))
    except ValueError:
        return None
    if not isinstance(found, dict) or not has_header_shape(found):
        return None
    return {name: found[name] for name in KNOWN if name in found}


def first_line(source: OpenFile, compression: str) -> bytes:
    """What stands before the first line feed; nothing where that cannot be read."""
    head = b""
    if compression == "zstd":
        for frame in frames_of(source):
            if frame.end is not None:
                head = b"".join(pieces_of(source, frame))
            break
    else:
        while b"\n" not in head and (piece := source.read(len(head), 1 << 16)):
            head += piece
    return head.partition(b"\n")[0] if b"\n" in head else b""
