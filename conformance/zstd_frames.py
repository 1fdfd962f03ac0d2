"""Zstandard frames written without a compressor: the same content gives the same bytes for good.

A frame has a header that tells the size of its content in eight bytes, blocks that are stored (or
one byte repeated), and a checksum. Compressors differ from version to version; this does not.
"""

from __future__ import annotations

import zstandard

from conformance.shorthand import ShorthandError

MAGIC = (0xFD2FB528).to_bytes(4, "little")
LARGEST_BLOCK = 1 << 17
STORED, REPEATED = 0, 1
SINGLE_SEGMENT_WITH_SIZE = 0xE0
HAS_CHECKSUM = 0x04


def frame_of(
    content: bytes, checksum: str = "right", block: int | None = None, *, rle: bool = False
) -> bytes:
    """One frame. ``block`` is the size of its blocks in bytes; ``rle`` writes one byte and a count.

    ``checksum`` is right, wrong or absent. Raises ShorthandError for anything else.
    """
    if checksum not in ("right", "wrong", "absent"):
        raise ShorthandError(f"checksum is right, wrong or absent, not {checksum!r}")
    if block is not None and not (type(block) is int and 0 < block <= LARGEST_BLOCK):
        raise ShorthandError(f"block is a number of bytes up to {LARGEST_BLOCK}, not {block!r}")
    if rle and (not content or content.strip(content[:1])):
        raise ShorthandError("rle takes a content of one byte, repeated")
    descriptor = SINGLE_SEGMENT_WITH_SIZE | (0 if checksum == "absent" else HAS_CHECKSUM)
    frame = MAGIC + bytes([descriptor]) + len(content).to_bytes(8, "little")
    size = block or LARGEST_BLOCK
    pieces = [content[start : start + size] for start in range(0, len(content), size)] or [b""]
    for index, piece in enumerate(pieces):
        last = index == len(pieces) - 1
        kind = REPEATED if rle else STORED
        frame += (len(piece) << 3 | kind << 1 | last).to_bytes(3, "little")
        frame += piece[:1] if rle else piece
    if checksum == "absent":
        return frame
    told = checksum_of(content)
    return frame + (told if checksum == "right" else bytes(byte ^ 0xFF for byte in told))


def checksum_of(content: bytes) -> bytes:
    """The four bytes that end a frame of this content, whatever compressor wrote it."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)[-4:]
