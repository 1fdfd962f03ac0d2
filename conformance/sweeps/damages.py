"""What a sweep does to a log: each damage by its offset, so that one can be repeated alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.errors import UsageError
from conformance.sweeps.good_log import GoodLog, Part

KINDS = ("cut", "tear", "repeat", "flip-committed", "flip-open")


@dataclass(frozen=True)
class Damage:
    """One damage. ``bit`` is that of the byte at ``offset`` which is flipped, and None for other kinds."""

    kind: str
    offset: int
    bit: int | None = None

    def apply(self, good: bytes) -> bytes:
        """The damaged file."""
        if self.kind == "cut":
            return good[: self.offset]
        if self.kind == "tear":
            return good[: self.offset] + bytes(len(good) - self.offset)
        if self.kind == "repeat":
            return good + good[self.offset :]
        flipped = good[self.offset] ^ (1 << (self.bit or 0))
        return good[: self.offset] + bytes([flipped]) + good[self.offset + 1 :]

    def require_within(self, log: GoodLog) -> None:
        """Raises UsageError for a damage behind the end of a log, which would leave it as it is."""
        if self.offset >= len(log.data):
            raise UsageError(f"{self} lies behind the end of the log, which has {len(log.data)} bytes")

    def __str__(self) -> str:
        bit = "" if self.bit is None else f", bit {self.bit}"
        return f"{self.kind} at byte {self.offset}{bit}"


def damages(kind: str, log: GoodLog, stride: int = 1) -> Iterator[Damage]:
    """All damages of a kind; with a stride above 1, at every boundary and every ``stride`` bytes between.

    A cut ends the file. A tear is a last write whose length reached the disk before its bytes: zeros
    from the offset on. A repeat writes the tail a second time. Flips are those of every bit: in the
    header and some parts that a later turn/end has committed, or in the last write.
    """
    if kind == "cut":
        yield from (Damage(kind, offset) for offset in places(0, len(log.data), log, stride))
    elif kind == "tear":
        yield from (Damage(kind, offset) for offset in places(log.last_write, len(log.data), log, stride))
    elif kind == "repeat":
        yield from (Damage(kind, part.start) for part in log.parts[1:])
    else:
        for part in regions(kind, log):
            for offset in places(part.start, part.end, log, stride):
                yield from (Damage(kind, offset, bit) for bit in range(8))


def places(start: int, end: int, log: GoodLog, stride: int) -> Iterator[int]:
    """Offsets from ``start`` to before ``end``: every one, or boundaries and a stride."""
    if stride == 1:
        yield from range(start, end)
        return
    boundaries = {part.end + near for part in log.parts for near in (-1, 0, 1)}
    wanted = boundaries | set(range(start, end, stride))
    yield from sorted(offset for offset in wanted if start <= offset < end)


def regions(kind: str, log: GoodLog) -> list[Part]:
    """The parts whose bits are flipped."""
    if kind == "flip-open":
        return [part for part in log.parts if part.start >= log.last_write]
    before = [part for part in log.parts if part.start < log.last_write]
    middle = len(before) // 2
    return [before[0], *before[1:2], *before[middle : middle + 8]]
