"""The sequence codec: how a store writes ``sourceEventSeqs`` into one cell.

Page: ``spec/seqs-codec.md``. Schema 15 keeps JSON text, 17 a stream of deltas, 19 (and 20,
which shares it) a tag in front of either deltas or runs.
"""

from __future__ import annotations

import json
from typing import NoReturn

from .rejection import Rejection
from .values import MAX_SAFE_INTEGER, is_seq

DELTAS = 0
RUNS = 1
LONGEST_VARINT = 9
PREFIX = "malformed source_event_seqs storage value: "


def check_values(values: list[object]) -> list[int]:
    """SEQS-1: only seqs can be encoded; -0 is 0."""
    for value in values:
        if not is_seq(value):
            raise Rejection("seqs-value-not-seq", "sourceEventSeqs must contain non-negative safe integers")
    return [int(value) for value in values]  # type: ignore[call-overload]


# -- schema 15: JSON text --------------------------------------------------------


def encode_15(values: list[object]) -> str:
    """SEQS-15: the compact JSON text of the list, -0 and 5.0 as 0 and 5; nothing is checked."""
    plain = [int(value) if is_seq(value) else value for value in values]  # type: ignore[call-overload]
    return json.dumps(plain, separators=(",", ":"))


def no_constant(name: str) -> NoReturn:
    """NaN and the infinities are no JSON (SEQS-16), though Python reads them."""
    raise ValueError(name)


def decode_15(text: str) -> object:
    """SEQS-16: whatever the JSON text holds; what it should hold is asked elsewhere."""
    try:
        return json.loads(text, parse_constant=no_constant)
    except ValueError:
        raise Rejection("seqs-text-invalid", "the cell holds no JSON text") from None


# -- writing ---------------------------------------------------------------------


def write_varint(number: int) -> bytes:
    """SEQS-2: seven bits to a byte, the lowest first; every byte but the last has its high bit set."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def encode_deltas(values: list[int]) -> bytes:
    """SEQS-3: the first value, then each step to the next one; an even number goes up, an odd one down."""
    out = bytearray()
    previous = None
    for value in values:
        if previous is None:
            out += write_varint(value)
        elif value >= previous:
            out += write_varint(2 * (value - previous))
        else:
            out += write_varint(2 * (previous - value) - 1)
        previous = value
    return bytes(out)


def runs_of(values: list[int]) -> list[tuple[int, int]] | None:
    """SEQS-5: the longest runs of consecutive values as start and count; None unless values only grow."""
    runs: list[tuple[int, int]] = []
    previous = None
    for value in values:
        if previous is not None and value <= previous:
            return None
        if previous is not None and value == previous + 1:
            start, count = runs[-1]
            runs[-1] = (start, count + 1)
        else:
            runs.append((value, 1))
        previous = value
    return runs


def encode_17(values: list[object]) -> bytes:
    """Schema 17: deltas, without a tag. SEQS-4: no values are no bytes."""
    return encode_deltas(check_values(values))


def encode_19(values: list[object]) -> bytes:
    """Schema 19: SEQS-4, no values are no bytes; SEQS-6, runs only where they are strictly shorter."""
    checked = check_values(values)
    if not checked:
        return b""
    deltas = bytes([DELTAS]) + encode_deltas(checked)
    runs = runs_of(checked)
    if runs is None:
        return deltas
    tagged = bytes([RUNS]) + b"".join(write_varint(start) + write_varint(count) for start, count in runs)
    return tagged if len(tagged) < len(deltas) else deltas


# -- reading ---------------------------------------------------------------------


def malformed(condition: str, words: str, at: int) -> Rejection:
    """A refusal of the decoder; ``at`` is a byte offset in the blob."""
    return Rejection(condition, PREFIX + words, at)


def read_varint(blob: bytes, start: int, limit: int) -> tuple[int, int]:
    """One varint and the offset behind it. SEQS-7 to SEQS-9: its end, then its form, then its size.

    ``at`` of a refusal is where the varint begins, or the end of the blob where bytes are missing.
    """
    number = 0
    for length in range(LONGEST_VARINT):
        if start + length >= len(blob):
            raise malformed("seqs-varint-truncated", "truncated varint", len(blob))
        byte = blob[start + length]
        number |= (byte & 0x7F) << (7 * length)
        if byte < 0x80:
            if byte == 0 and length > 0:
                raise malformed("seqs-varint-noncanonical", "non-canonical varint", start)
            if number > limit:
                raise malformed("seqs-varint-range", "varint is out of range", start)
            return number, start + length + 1
    raise malformed("seqs-varint-range", "varint is out of range", start)


def decode_deltas(blob: bytes, offset: int) -> list[int]:
    """SEQS-3, SEQS-10: values by their steps; each stays from 0 to 2^53-1, and nothing else is asked."""
    values: list[int] = []
    while offset < len(blob):
        begins = offset
        if not values:
            value, offset = read_varint(blob, offset, MAX_SAFE_INTEGER)
        else:
            step, offset = read_varint(blob, offset, 2 * MAX_SAFE_INTEGER)
            value = values[-1] + (step // 2 if step % 2 == 0 else -(step // 2) - 1)
        if not 0 <= value <= MAX_SAFE_INTEGER:
            raise malformed("seqs-value-range", "decoded seq is out of range", begins)
        values.append(value)
    return values


def decode_runs(blob: bytes, offset: int, row_seq: int) -> list[int]:
    """SEQS-11 to SEQS-13, for each pair in this order: count, ascent, no more values than the row's seq."""
    values: list[int] = []
    while offset < len(blob):
        begins = offset
        start, offset = read_varint(blob, offset, MAX_SAFE_INTEGER)
        counted = offset
        count, offset = read_varint(blob, offset, MAX_SAFE_INTEGER)
        if count < 1:
            raise malformed("seqs-run-count", "run count must be positive", counted)
        if (values and start <= values[-1]) or start + count - 1 > MAX_SAFE_INTEGER:
            raise malformed("seqs-run-order", "runs must ascend within safe integers", begins)
        if count > row_seq - len(values):
            raise malformed("seqs-run-bound", "run exceeds its event sequence", counted)
        values.extend(range(start, start + count))
    return values


def decode_17(blob: bytes) -> list[int]:
    """Schema 17."""
    return decode_deltas(blob, 0)


def decode_19(blob: bytes, row_seq: int) -> list[int]:
    """Schema 19: SEQS-4, an empty blob is no values; then its length (SEQS-14), then its tag (SEQS-17)."""
    if not blob:
        return []
    if len(blob) == 1:
        raise malformed("seqs-tagged-truncated", "truncated tagged payload", 1)
    if blob[0] == DELTAS:
        return decode_deltas(blob, 1)
    if blob[0] == RUNS:
        return decode_runs(blob, 1, row_seq)
    raise malformed("seqs-tag-unknown", "unknown encoding tag", 0)
