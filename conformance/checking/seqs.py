"""The cited seqs of a database row: JSON text up to schema 15, varints from 17, tagged from 19."""

from __future__ import annotations

from conformance.checking.exact_json import MAX_SAFE


class BadSeqs(Exception):  # noqa: N818 - it becomes a finding
    """The blob is none that this schema has."""

    def __init__(self, condition: str, message: str) -> None:
        super().__init__(message)
        self.condition = condition


def decode(blob: bytes, schema: int, row_seq: int) -> list[int]:
    """The seqs of a blob. Raises BadSeqs."""
    if not blob:
        return []
    if schema < 19:
        return _deltas(blob, 0)
    if len(blob) < 2:
        raise BadSeqs("seqs-tagged-truncated", "one byte is no tagged list")
    if blob[0] == 0:
        return _deltas(blob, 1)
    if blob[0] != 1:
        raise BadSeqs("seqs-tag-unknown", f"the tag {blob[0]} is unknown")
    return _runs(blob, row_seq)


def encode_one(seq: int, schema: int) -> bytes:
    """The blob of one seq, from schema 17 on: the delta form, which is the shorter one."""
    blob = bytearray() if schema < 19 else bytearray(1)
    while seq > 0x7F:
        blob.append(seq & 0x7F | 0x80)
        seq >>= 7
    blob.append(seq)
    return bytes(blob)


def _varint(blob: bytes, at: int, largest: int) -> tuple[int, int]:
    value = 0
    for count in range(9):
        if at + count >= len(blob):
            raise BadSeqs("seqs-varint-truncated", "the blob ends inside a number")
        byte = blob[at + count]
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            if byte == 0 and count > 0:
                raise BadSeqs("seqs-varint-noncanonical", "a number is longer than it has to be")
            if value > largest:
                break
            return value, at + count + 1
    raise BadSeqs("seqs-varint-range", "a number is beyond its range")


def _deltas(blob: bytes, at: int) -> list[int]:
    value, at = _varint(blob, at, MAX_SAFE)
    found = [value]
    while at < len(blob):
        folded, at = _varint(blob, at, 2 * MAX_SAFE)
        value += -(folded + 1) // 2 if folded & 1 else folded // 2
        if not 0 <= value <= MAX_SAFE:
            raise BadSeqs("seqs-value-range", "a decoded seq is out of range")
        found.append(value)
    return found


def _runs(blob: bytes, row_seq: int) -> list[int]:
    found: list[int] = []
    at = 1
    while at < len(blob):
        start, at = _varint(blob, at, MAX_SAFE)
        count, at = _varint(blob, at, MAX_SAFE)
        if count < 1:
            raise BadSeqs("seqs-run-count", "a run holds no seq")
        if (found and start <= found[-1]) or start + count - 1 > MAX_SAFE:
            raise BadSeqs("seqs-run-order", "runs must ascend within safe integers")
        if count > row_seq - len(found):
            raise BadSeqs("seqs-run-bound", "a run holds more seqs than there are events before this one")
        found.extend(range(start, start + count))
    return found
