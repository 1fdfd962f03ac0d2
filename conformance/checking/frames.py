"""Zstandard frames: where each begins and ends in a file, and what is in it, piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import zstandard

MAGIC = b"\x28\xb5\x2f\xfd"
PIECE = 1 << 17
_WINDOW = (1, 0)
_DICTIONARY = (0, 1, 2, 4)
_SIZE = (0, 2, 4, 8)


class FrameFault(Exception):  # noqa: N818 - a fault of the file, which becomes a finding
    """The container is not one; ``at`` is a byte of the file."""

    def __init__(self, condition: str, message: str, at: int) -> None:
        super().__init__(message)
        self.condition = condition
        self.message = message
        self.at = at


@dataclass(frozen=True, slots=True)
class Frame:
    """Bytes ``start`` to before ``end`` of the file; ``end`` is None where the file ends inside the frame."""

    start: int
    end: int | None


class Bytes:
    """A file, read at any place through one buffer. It is taken as long as it was when it was opened."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file = file
        self.size = size
        self._start = 0
        self._buffer = b""

    def at(self, offset: int, count: int) -> bytes:
        """A few bytes; fewer at the end of the file."""
        inside = offset - self._start
        if inside < 0 or inside + count > len(self._buffer):
            self.file.seek(offset)
            self._start, inside = offset, 0
            self._buffer = self.file.read(max(0, min(max(count, 4096), self.size - offset)))
        return self._buffer[inside : inside + count]

    def size_now(self) -> int:
        """How long the file is at this moment."""
        return self.file.seek(0, 2)


def frames_of(source: Bytes) -> Iterator[Frame]:
    """The frames in order, the torn one last if there is one. Raises FrameFault."""
    start = 0
    while start < source.size:
        head = source.at(start, 5)
        if len(head) >= 4 and head[:4] != MAGIC:
            raise FrameFault("zstd-magic", "no Zstandard frame begins here", start)
        end = _end_of(source, start, head[4]) if len(head) == 5 else None
        yield Frame(start, end)
        if end is None:
            return
        start = end


def _end_of(source: Bytes, start: int, descriptor: int) -> int | None:
    if descriptor & 0x18:
        raise FrameFault("zstd-reserved-bit", "a reserved bit of the frame header is set", start + 4)
    single = descriptor >> 5 & 1
    rest = _WINDOW[single] + _DICTIONARY[descriptor & 3] + (_SIZE[descriptor >> 6] or single)
    offset = start + 5 + rest
    while True:
        header = source.at(offset, 3)
        if len(header) < 3:
            return None
        bits = int.from_bytes(header, "little")
        kind = bits >> 1 & 3
        if kind == 3:
            raise FrameFault("zstd-reserved-block", "a block has the reserved type", offset)
        offset += 3 + (1 if kind == 1 else bits >> 3)
        if bits & 1:
            break
    offset += 4 if descriptor & 4 else 0
    return offset if offset <= source.size else None


def content_of(source: Bytes, frame: Frame) -> Iterator[bytes]:
    """What a frame expands to, in pieces of bounded size. Raises ``zstandard.ZstdError``."""
    at, end = frame.start, source.size if frame.end is None else frame.end
    decompressor = zstandard.ZstdDecompressor()
    source.file.seek(at)

    class Part:
        """The compressed bytes as the library reads them."""

        def read(self, count: int) -> bytes:
            nonlocal at
            source.file.seek(at)
            data = source.file.read(max(0, min(count, end - at)))
            at += len(data)
            return data

    with decompressor.stream_reader(Part(), read_size=PIECE) as reader:  # type: ignore[arg-type]
        while piece := reader.read(PIECE):
            yield piece


def expands(source: Bytes, frame: Frame, most: int) -> bool:
    """Whether what there is of a torn frame expands, to at most so many bytes; else nothing is saved."""
    size = 0
    try:
        for piece in content_of(source, frame):
            size += len(piece)
            if size > most:
                return False
    except zstandard.ZstdError:
        return False
    return True
