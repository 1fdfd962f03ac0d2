"""The compressed JSONL store, read: Zstandard frames one behind the other, and the log that they hold.

Page: ``spec/zstd-container.md``. Where frames begin and end is found here; what is in a frame is left to
a Zstandard library. The file is gone through twice: first its frames, then what they hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import zstandard

from .jsonl import LINE_FEED, PIECE, Bytes, Scan, Scanner, Source
from .rejection import Rejection

MAGIC = b"\x28\xb5\x2f\xfd"
RESERVED_BITS = 0x18
SINGLE_SEGMENT = 0x20
HAS_CHECKSUM = 0x04
CHECKSUM_BYTES = 4
BLOCK_HEADER_BYTES = 3
REPEATED_BYTE, RESERVED_BLOCK = 1, 3

PREFIX = "corrupt Zstandard session log: "


@dataclass(frozen=True)
class Frame:
    """The bytes of a frame from ``start`` to before ``end``; without an end the file ends inside it."""

    start: int
    end: int | None


def scan_zstd(data: bytes, scanner: Scanner | None = None) -> Scan:
    """A whole file at once; ``scanner`` is the one to use, if not a plain one."""
    return scan_zstd_source(Bytes(data), Scanner() if scanner is None else scanner)


def scan_zstd_source(source: Source, scanner: Scanner) -> Scan:
    """ZSTD-1: the frames together hold a plain log. ZSTD-5: the extent of every frame is judged first of all.

    ZSTD-13: then they are read in order, and what refuses first is told.
    ZSTD-7: without a complete frame there is no header. ZSTD-6: a frame in which the file ends is torn.
    """
    count = sum(frame.end is not None for frame in frames_of(source))
    if count == 0:
        raise Rejection("zstd-empty", "empty or header-less Zstandard session log")
    torn_frame = None
    for number, frame in enumerate(frames_of(source)):
        if number == 0:
            scan_header(source, frame, scanner)
        elif frame.end is not None:
            for piece in complete(source, frame):
                scanner.write(piece)
        else:
            torn_frame = frame
        if number == count - 1:
            check_kept(scanner)
    if torn_frame is None:
        return Scan(scanner.finish(), scanner.events, None)
    for piece in torn(source, torn_frame):
        scanner.write(piece)
    return Scan(scanner.finish(), scanner.events, torn_frame.start)


def check_kept(scanner: Scanner) -> None:
    """ZSTD-11: every line of the complete frames is kept, and the last of them ends with one."""
    if scanner.kept != scanner.size:
        raise Rejection("zstd-torn-record", PREFIX + "complete frame contains a torn JSONL record")


# -- where frames begin and end ------------------------------------------------------


def frames_of(source: Source) -> Iterator[Frame]:
    """The frames of a file in order, the torn one last if there is one.

    ZSTD-2 to ZSTD-4: a refusal names the byte that is wrong, or the first of those that are.
    """
    start = 0
    while True:
        head = source.read(start, len(MAGIC) + 1)
        if not head:
            return
        if len(head) >= len(MAGIC) and head[: len(MAGIC)] != MAGIC:
            raise malformed("zstd-magic", "invalid frame magic", start)
        end = end_of(source, start, head[-1]) if len(head) > len(MAGIC) else None
        yield Frame(start, end)
        if end is None:
            return
        start = end


def end_of(source: Source, start: int, descriptor: int) -> int | None:
    """ZSTD-6: the byte behind a frame; None where the file ends before it."""
    if descriptor & RESERVED_BITS:
        raise malformed("zstd-reserved-bit", "reserved frame-header bit", start + len(MAGIC))
    offset = start + len(MAGIC) + 1 + header_rest(descriptor)
    last = False
    while not last:
        header = source.read(offset, BLOCK_HEADER_BYTES)
        if len(header) < BLOCK_HEADER_BYTES:
            return None
        bits = int.from_bytes(header, "little")
        last, kind, size = bits & 1 == 1, bits >> 1 & 3, bits >> 3
        if kind == RESERVED_BLOCK:
            raise malformed("zstd-reserved-block", "reserved block type", offset)
        offset += BLOCK_HEADER_BYTES + (1 if kind == REPEATED_BYTE else size)
    if descriptor & HAS_CHECKSUM:
        offset += CHECKSUM_BYTES
    return offset if len(source.read(offset - 1, 1)) == 1 else None


def header_rest(descriptor: int) -> int:
    """Bytes of a frame header behind its descriptor: window size, dictionary id, content size."""
    single = descriptor & SINGLE_SEGMENT != 0
    window = 0 if single else 1
    dictionary = (0, 1, 2, 4)[descriptor & 3]
    content_size = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    return window + dictionary + content_size


def malformed(condition: str, words: str, at: int) -> Rejection:
    """A refusal of the container; ``at`` is a byte of the file."""
    return Rejection(condition, f"{PREFIX}{words} at byte {at}", at)


# -- what is in a frame --------------------------------------------------------------


@dataclass
class Part:
    """Some bytes of a source as a stream, as the Zstandard library wants them."""

    source: Source
    offset: int
    end: int | None

    def read(self, count: int) -> bytes:
        if self.end is not None:
            count = min(count, self.end - self.offset)
        data = self.source.read(self.offset, count)
        self.offset += len(data)
        return data


def scan_header(source: Source, frame: Frame, scanner: Scanner) -> None:
    """ZSTD-10: the first frame holds one line, its line feed, and nothing else. Only a line is held."""
    ends = 0
    ends_here = False
    for piece in complete(source, frame):
        ends += piece.count(LINE_FEED)
        ends_here = piece.endswith(LINE_FEED)
        if ends == 0:
            scanner.write(piece)
        elif ends == 1 and ends_here:
            scanner.write(piece[:-1])
    if ends != 1 or not ends_here:
        raise Rejection("zstd-first-frame", PREFIX + "first frame is not exactly one header line")
    scanner.write(LINE_FEED)


def complete(source: Source, frame: Frame) -> Iterator[bytes]:
    """ZSTD-8: a complete frame has to expand, the last one too. ZSTD-9: it may lack a checksum."""
    try:
        yield from pieces_of(source, frame)
    except zstandard.ZstdError:
        raise Rejection(
            "zstd-frame", f"{PREFIX}frame at byte {frame.start} failed validation", frame.start
        ) from None


def torn(source: Source, frame: Frame) -> Iterator[bytes]:
    """ZSTD-12: what a torn frame still gives; nothing at all if what there is of it is damaged.

    It is expanded twice, so that it is not held as a whole.
    """
    try:
        for _ in pieces_of(source, frame):
            pass
    except zstandard.ZstdError:
        return
    yield from pieces_of(source, frame)


def pieces_of(source: Source, frame: Frame) -> Iterator[bytes]:
    """The content of one frame, in pieces of bounded size."""
    part = Part(source, frame.start, frame.end)
    with zstandard.ZstdDecompressor().stream_reader(part, read_size=PIECE) as reader:  # type: ignore[arg-type]
        while piece := reader.read(PIECE):
            yield piece
