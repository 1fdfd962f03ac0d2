"""A second reading of the sequence codec, made from the recorded results and kept apart from the reference.

It works on bit strings: a blob is cut into varints by one pattern first, a varint is the text of its
seven-bit groups put in front of each other, and only then come the limits. Slow, and meant to be so.

Every function answers ``("values", [..])``, ``("hex", "..")`` or ``("rejected", condition, at)``; ``at`` is a
byte offset, or None for the encoders, which refuse a whole list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import Any

LAST = int("1" * 53, 2)
"""The largest seq, 2^53-1."""

TOKEN = re.compile(
    rb"(?P<goes_on>[\x80-\xff]{9})|(?P<whole>[\x80-\xff]{0,8}[\x00-\x7f])|(?P<short>[\x80-\xff]+)"
)
"""What a varint can look like: nine bytes that go on, a whole one, one that the end of the blob cuts off."""

Answer = tuple[object, ...]


class MalformedError(Exception):
    """A fault: its condition and its byte offset."""

    def __init__(self, condition: str, at: int | None) -> None:
        super().__init__(condition, at)
        self.answer: Answer = ("rejected", condition, at)


class Varints:
    """The varints of a blob, one after the other; ``base`` is the offset of the first byte in the cell."""

    def __init__(self, blob: bytes, base: int) -> None:
        self.blob, self.base, self.place = blob, base, 0

    def more(self) -> bool:
        return self.place < len(self.blob)

    def next(self, limit: int) -> tuple[int, int]:
        """The next number and the offset of its first byte in the cell."""
        begins = self.base + self.place
        token = TOKEN.match(self.blob, self.place)
        if token is None or token["short"] is not None:
            raise MalformedError("seqs-varint-truncated", self.base + len(self.blob))
        if token["goes_on"] is not None:
            raise MalformedError("seqs-varint-range", begins)
        text = token["whole"]
        if len(text) > 1 and text.endswith(b"\0"):
            raise MalformedError("seqs-varint-noncanonical", begins)
        number = int("".join(f"{byte:08b}"[1:] for byte in reversed(text)), 2)
        if len(text) == 9 or number > limit:
            raise MalformedError("seqs-varint-range", begins)
        self.place = token.end()
        return number, begins


def varint(number: int) -> str:
    """A number as the hex of its varint, through its binary digits."""
    bits = f"{number:b}"
    bits = bits.zfill(-(-len(bits) // 7) * 7)
    *others, last = [bits[place : place + 7] for place in range(0, len(bits), 7)][::-1]
    return "".join(f"{int(byte, 2):02x}" for byte in [*("1" + group for group in others), "0" + last])


def zigzag(step: int) -> int:
    return int(f"{step:b}0", 2) if step >= 0 else int(f"{-step:b}0", 2) - 1


def unzigzag(number: int) -> int:
    half, odd = divmod(number, 2)
    return -half - 1 if odd else half


def encode(schema: int, values: list[Any]) -> Answer:
    """Schema 17 or 19."""
    for value in values:
        if type(value) not in (int, float) or not 0 <= value <= LAST or value % 1:
            return ("rejected", "seqs-value-not-seq", None)
    seqs = [int(value) for value in values]
    if not seqs:
        return ("hex", "")
    deltas = varint(seqs[0]) + "".join(varint(zigzag(b - a)) for a, b in pairwise(seqs))
    if schema == 17:
        return ("hex", deltas)
    forms = ["00" + deltas]
    if seqs == sorted(set(seqs)):
        forms.append("01" + "".join(runs(seqs)))
    return ("hex", min(forms, key=len))  # the first of equals is the delta form


def runs(seqs: list[int]) -> Iterator[str]:
    """The varints of each run: within one, value minus position is constant."""
    for _, members in groupby(enumerate(seqs), key=lambda pair: pair[1] - pair[0]):
        run = [value for _, value in members]
        yield varint(run[0]) + varint(len(run))


def decode(schema: int, blob: bytes, row_seq: int) -> Answer:
    """Schema 17 or 19."""
    try:
        if schema == 17:
            return ("values", list(deltas(Varints(blob, 0))))
        if not blob:
            return ("values", [])
        if len(blob) == 1:
            raise MalformedError("seqs-tagged-truncated", 1)
        if blob[0] not in (0, 1):
            raise MalformedError("seqs-tag-unknown", 0)
        body = Varints(blob[1:], 1)
        return ("values", list(ranges(body, row_seq) if blob[0] else deltas(body)))
    except MalformedError as fault:
        return fault.answer


def deltas(body: Varints) -> Iterator[int]:
    if not body.more():
        return
    total, _ = body.next(LAST)
    yield total
    while body.more():
        number, begins = body.next(2 * LAST)
        total += unzigzag(number)
        if not 0 <= total <= LAST:
            raise MalformedError("seqs-value-range", begins)
        yield total


def ranges(body: Varints, row_seq: int) -> Iterator[int]:
    behind, room = 0, row_seq  # the first start that is free, and how many values may still come
    while body.more():
        start, at_start = body.next(LAST)
        count, at_count = body.next(LAST)
        if not count:
            raise MalformedError("seqs-run-count", at_count)
        if start < behind or start + count > LAST + 1:
            raise MalformedError("seqs-run-order", at_start)
        if count > room:
            raise MalformedError("seqs-run-bound", at_count)
        yield from range(start, start + count)
        behind, room = start + count, room - count
