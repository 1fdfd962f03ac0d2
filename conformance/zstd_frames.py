"""Zstandard frames written without a compressor: the same content gives the same bytes for good.

A frame has a header that tells the size of its content in eight bytes, blocks that are stored (or
one byte repeated), and a checksum. Compressors differ from version to version; this does not.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    size = block or LARGEST_BLOCK
    pieces = [content[start : start + size] for start in range(0, len(content), size)] or [b""]
    blocks = [(piece[:1], len(piece)) if rle else (piece, STORED) for piece in pieces]
    frame = frame_of_blocks(blocks, len(content), with_checksum=checksum != "absent")
    if checksum == "absent":
        return frame
    told = checksum_of(content)
    return frame + (told if checksum == "right" else bytes(byte ^ 0xFF for byte in told))


def frame_of_blocks(
    blocks: Sequence[tuple[bytes, int]], length: int, *, with_checksum: bool = False
) -> bytes:
    """A frame that says to hold ``length`` bytes. The checksum itself is left to the caller.

    Each block is its bytes with STORED, or one byte with a count from 1, how often it stands there.
    """
    descriptor = SINGLE_SEGMENT_WITH_SIZE | (HAS_CHECKSUM if with_checksum else 0)
    frame = MAGIC + bytes([descriptor]) + length.to_bytes(8, "little")
    for index, (content, times) in enumerate(blocks):
        kind = STORED if times == STORED else REPEATED
        size = len(content) if times == STORED else times
        last = index == len(blocks) - 1
        frame += (size << 3 | kind << 1 | last).to_bytes(3, "little") + content
    return frame


def checksum_of(content: bytes) -> bytes:
    """The four bytes that end a frame of this content, whatever compressor wrote it."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)[-4:]
