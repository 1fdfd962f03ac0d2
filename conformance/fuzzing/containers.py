"""Compressed logs: their lines in frames, whole, torn, or with one fault of the container."""

from __future__ import annotations

from conformance.fuzzing.draw import Draw
from conformance.zstd_frames import STORED, frame_of, frame_of_blocks

FRAME_HEADER = 13
"""Bytes of the header of our frames: magic number, descriptor, and the size of the content in eight."""
BLOCK_HEADER = 3
TYPE_OF_BLOCK = 6
"""The bits of a block header that tell its type: 0 for stored bytes, 2 for a byte that is repeated."""


def container(draw: Draw, lines: list[str]) -> bytes:
    """A file of frames: the header in one, the rest in as many as it pleases; now and then with one fault."""
    contents = [f"{lines[0]}\n"]
    for line in lines[1:]:
        if len(contents) == 1 or draw.chance(40):
            contents.append("")
        contents[-1] += f"{line}\n"
    way = draw.integer(0, 21)
    if way == 0:
        contents = ["".join(contents)]
    elif way == 1:
        place = draw.integer(0, len(contents) - 1)
        contents[place] = contents[place][:-1]
    elif way == 2:
        contents.insert(draw.integer(0, len(contents)), draw.choice(("", "\n", " ")))
    frames = [written(draw, content.encode()) for content in contents]
    if 3 <= way < 7:
        place = draw.integer(0, len(frames) - 1)
        frames[place] = spoilt_frame(draw, frames[place])
    elif way == 7:
        frames.insert(draw.integer(0, len(frames)), draw.choice(NO_FRAMES))
    whole = b"".join(frames)
    if 8 <= way < 12:  # a torn end
        whole = whole[: len(whole) - min(len(whole), draw.integer(1, len(frames[-1]) + 3))]
    elif 12 <= way < 14:  # a few bytes behind it, of a frame or of anything
        whole += bytes(draw.choice((0, 0x28, 0x7B, 0xFF)) for _ in range(draw.integer(1, 5)))
    return whole


NO_FRAMES = (
    bytes.fromhex("502a4d1804000000deadbeef"), b"\x28", b"\x28\xb5\x2f", b"\x28\xb5\x2f\xfd", b"{}\n", b"\0",
    frame_of(b"x")[:-2], bytes.fromhex("28b52ffd08"),
)  # fmt: skip
"""Bytes that are no whole frame of a log: a skippable one, beginnings, a text."""


def written(draw: Draw, content: bytes) -> bytes:
    """One frame, in blocks of some size, with a checksum or without; seldom with a repeated blank."""
    if draw.chance(8) and content.endswith(b"\n"):
        blanks = draw.integer(2, 60)
        blocks = [(content[:-1], STORED), (b" ", blanks), (b"\n", STORED)]
        return frame_of_blocks(blocks, len(content) + blanks)
    block = draw.choice((None, 1, 7, 50)) if draw.chance(20) else None
    return frame_of(content, "right" if not draw.chance(20) else "absent", block)


def spoilt_frame(draw: Draw, frame: bytes) -> bytes:
    """A frame with a bit changed in one of its parts; of a block also its whole type."""
    way = draw.integer(0, 6)
    bit = 1 << draw.integer(0, 7)
    place = len(frame) - 1  # of the checksum
    if way == 1:
        place = draw.integer(0, 3)  # of the magic number
    elif way == 2:
        place = 4  # the descriptor
    elif way == 3:
        place = draw.integer(5, FRAME_HEADER - 1)  # of the size of the content
    elif way == 4:
        place = draw.choice(block_headers(frame))
        bit = draw.choice((TYPE_OF_BLOCK, TYPE_OF_BLOCK, TYPE_OF_BLOCK & 4, TYPE_OF_BLOCK & 2, 1, 8))
    elif way > 4:
        place = draw.integer(0, len(frame) - 1)
    return frame[:place] + bytes([frame[place] ^ bit]) + frame[place + 1 :]


def block_headers(frame: bytes) -> list[int]:
    """Where the blocks of one of our frames begin."""
    found = [FRAME_HEADER]
    while True:
        bits = int.from_bytes(frame[found[-1] : found[-1] + BLOCK_HEADER], "little")
        if bits & 1:
            return found
        found.append(found[-1] + BLOCK_HEADER + (1 if bits & TYPE_OF_BLOCK else bits >> 3))
