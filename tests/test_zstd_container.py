"""The scan of compressed logs: it agrees with the plain one, survives any cut, and holds no bomb."""

from __future__ import annotations

import json

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters.reference import answer
from conformance.adapters.reference_files import LimitedScanner, TooLarge
from conformance.checking.jsonl import JsonlCheck
from conformance.zstd_frames import frame_of
from reference_impl.jsonl import scan
from reference_impl.zstd_container import scan_zstd

HEADER = b'{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}\n'


def batch(first: int, count: int) -> bytes:
    kinds = ("user/message", "turn/end")
    return b"".join(
        json.dumps({"type": kinds[seq % 2], "seq": seq, "text": "ab" * 40}).encode() + b"\n"
        for seq in range(first, first + count)
    )


def compressed(content: bytes, level: int = 3) -> bytes:
    return zstandard.ZstdCompressor(level=level, write_checksum=True).compress(content)


writers = st.sampled_from(
    [compressed, frame_of, lambda content: frame_of(content, block=50, checksum="absent")]
)


@given(st.lists(st.integers(0, 5), max_size=5), writers, st.data())
def test_whole_frames_and_a_cut_anywhere(counts, write, data):
    contents, first = [], 0
    for count in counts:
        contents.append(batch(first, count))
        first += count
    frames = [write(HEADER), *(write(content) for content in contents)]
    whole = b"".join(frames)
    plain = scan(HEADER + b"".join(contents))
    found = scan_zstd(whole)
    assert (found.header, found.events, found.torn_from) == (plain.header, plain.events, None)

    cut = data.draw(st.integers(len(frames[0]), len(whole)))
    torn = scan_zstd(whole[:cut])
    starts = [sum(len(frame) for frame in frames[:number]) for number in range(len(frames) + 1)]
    assert torn.torn_from == (None if cut in starts else max(start for start in starts if start < cut))
    assert torn.events == plain.events[: len(torn.events)]
    before = scan_zstd(whole[: cut if torn.torn_from is None else torn.torn_from])
    assert before.events == torn.events[: len(before.events)]


@given(st.binary(max_size=60), st.integers(0, 40))
def test_any_bytes_are_answered(junk, keep):
    whole = frame_of(HEADER) + frame_of(batch(0, 1))
    for data in (junk, whole[:-keep] + junk, whole + junk):
        told = answer({"op": "jsonl.scan", "hex": data.hex(), "compression": "zstd"})
        condition = told.get("rejected", {}).get("condition", "zstd-")
        assert condition.startswith(("zstd-", "jsonl-", "format-"))
        assert told.keys() <= {"result", "rejected"}


def bomb(blocks: int, byte: bytes) -> bytes:
    """A frame of that many blocks of 128 KiB of one byte each, in four bytes of file for each."""
    size = blocks << 17
    block = (1 << 20 | 2).to_bytes(3, "little") + byte
    last = (1 << 20 | 3).to_bytes(3, "little") + byte
    return b"\x28\xb5\x2f\xfd\xa0" + size.to_bytes(4, "little") + block * (blocks - 1) + last


@pytest.mark.parametrize("frames", [frame_of(HEADER) + bomb(700, b"a"), bomb(700, b"a")])
def test_a_bomb_is_neither_held_nor_refused(frames):
    told = answer({"op": "jsonl.scan", "hex": frames.hex(), "compression": "zstd"})
    assert "has more than 67108864 bytes" in told["error"]


def test_contents_beyond_the_limit_are_not_read_to_their_end():
    frames = frame_of(HEADER) + bomb(100, b"\n")
    with pytest.raises(TooLarge, match="expand to more than 1000000 bytes"):
        scan_zstd(frames, LimitedScanner(largest_content=1_000_000))


def test_the_checker_has_the_same_limits():
    """Two programs of one project that pass different logs over would contradict each other."""
    ours, theirs = JsonlCheck(), LimitedScanner()
    assert (ours.longest_line, ours.largest_content) == (theirs.longest_line, theirs.largest_content)
    assert ours.largest_content > 3 << 29  # what the published package was seen to load


def test_a_file_is_read_by_its_path(tmp_path):
    path = tmp_path / "session.jsonl.zstd"
    path.write_bytes(compressed(HEADER) + compressed(batch(0, 2)) + b"\x28")
    by_path = answer({"op": "jsonl.scan", "path": str(path), "compression": "zstd"})
    assert by_path == answer({"op": "jsonl.scan", "hex": path.read_bytes().hex(), "compression": "zstd"})
    assert len(by_path["result"]["events"]) == 2
