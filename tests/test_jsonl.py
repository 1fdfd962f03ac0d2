"""The scan of a plain log: laws over any cut and any pieces, an independent reading, and the limits."""

from __future__ import annotations

import json
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters.reference import answer
from conformance.adapters.reference_files import LimitedScanner, TooLarge
from reference_impl.jsonl import Bytes, Scanner, scan, scan_source
from reference_impl.rejection import Rejection
from reference_impl.stored_json import read_json, read_nested

HEADER = b'{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}'
TYPES = ("turn/start", "turn/end", "user/message", "x")


def line(seq: int, kind: str = "user/message", **more: object) -> bytes:
    return json.dumps({"type": kind, "seq": seq, **more}).encode()


def log(*lines: bytes) -> bytes:
    return b"".join(each + b"\n" for each in (HEADER, *lines))


def outcome(data: bytes):
    """What a scan gives, or the refusal and its line."""
    try:
        found = scan(data)
    except Rejection as refusal:
        return refusal.condition, refusal.at
    return found.header, found.events, found.torn_from


def read_otherwise(data: bytes):
    """The same by other means: the whole file at once, all lines decoded first, then one walk over them."""
    whole, _, rest = data.rpartition(b"\n")
    if not whole and not data.startswith(b"\n"):
        return "jsonl-empty", None
    values = []
    for number, raw in enumerate(whole.split(b"\n")[1:], 1):
        try:
            values.append((number, raw, json.loads(raw.decode("utf-8", "replace"))))
        except ValueError:
            values.append((number, raw, None))
    kept = []
    for number, _raw, value in values:
        if value is None or value["seq"] != len(kept):
            if any(later is not None and later["type"] == "turn/end" for _, _, later in values[number - 1 :]):
                return ("jsonl-line" if value is None else "jsonl-gap"), number
            break
        kept.append(value)
    end = len(data) - len(rest) if len(kept) == len(values) else None
    if end is None:
        end = len(HEADER) + 1 + sum(len(raw) + 1 for _, raw, _ in values[: len(kept)])
    return json.loads(HEADER), kept, end if end < len(data) else None


events = st.builds(line, st.integers(0, 4), st.sampled_from(TYPES))
lines = st.lists(st.one_of(events, st.sampled_from([b"", b"{bad", b" ", b"\r"])), max_size=6)


@given(lines, st.sampled_from([b"", b"{", b'{"type":"turn/end","seq":0}']))
def test_an_independent_reading_gives_the_same(those, tail):
    data = log(*those) + tail
    found, expected = outcome(data), read_otherwise(data)
    if len(expected) == 3:
        assert isinstance(found[0], dict)
        assert found[1:] == expected[1:]
    else:
        assert found == expected


@given(st.integers(0, 8), st.data())
def test_a_log_that_was_written_survives_a_cut_anywhere(count, data):
    kinds = [data.draw(st.sampled_from(TYPES)) for _ in range(count)]
    whole = log(*(line(seq, kind) for seq, kind in enumerate(kinds)))
    cut = data.draw(st.integers(len(HEADER) + 1, len(whole)))
    found = scan(whole[:cut])
    assert found.events == scan(whole).events[: len(found.events)]
    assert found.torn_from is None or found.torn_from < cut
    repaired = scan(whole[: cut if found.torn_from is None else found.torn_from])
    assert (repaired.events, repaired.torn_from) == (found.events, None)


@given(lines, st.lists(st.integers(0, 200), max_size=5))
def test_pieces_decide_nothing(those, cuts):
    data = log(*those)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    scanner = Scanner()
    expected = outcome(data)
    try:
        for start, end in pairwise(places):
            scanner.write(data[start:end])
        header = scanner.finish()
    except Rejection as refusal:
        found = (refusal.condition, refusal.at)
    else:
        found = (header, scanner.events, scanner.kept if scanner.kept < scanner.size else None)
    assert found == expected


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_the_reader_of_deep_texts_reads_what_the_library_reads(value):
    for text in (json.dumps(value), json.dumps(value, indent=1, ensure_ascii=False)):
        assert read_nested(text) == read_json(text)


PARTS = ("[", "]", "{", "}", ",", ":", '"a"', "1", "-0", "true", "null", " ", "01", "1.", '"\\q"', "tru", "x")


@given(st.lists(st.sampled_from(PARTS), max_size=8).map("".join))
def test_the_reader_of_deep_texts_is_as_strict_as_the_library(text):
    def read(reader):
        try:
            return reader(text)
        except ValueError:
            return ValueError

    assert read(read_nested) == read(json.loads)


def test_two_hundred_thousand_levels_are_read():
    deep = b'{"type":"a","seq":7,"data":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    assert outcome(log(deep, line(0, "turn/end"))) == ("jsonl-gap", 1)
    assert outcome(log(deep[:-1], line(0, "turn/end"))) == ("jsonl-line", 1)


def test_a_line_beyond_the_limit_is_neither_refused_nor_held():
    data = log(line(0), line(1, text="a" * 500))
    with pytest.raises(TooLarge, match=r"event line 2, at byte \d+, has more than 400 bytes"):
        scan_source(Bytes(data), LimitedScanner(longest_line=400))
    with pytest.raises(TooLarge, match="the header line"):
        scan_source(Bytes(data), LimitedScanner(longest_line=40))
    assert len(scan_source(Bytes(data), LimitedScanner(longest_line=600)).events) == 2


def test_a_file_is_read_by_its_path(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_bytes(log(line(0)) + b"{")
    by_path = answer({"op": "jsonl.scan", "path": str(path), "compression": "none"})
    assert by_path == answer({"op": "jsonl.scan", "hex": path.read_bytes().hex(), "compression": "none"})
    assert by_path["result"]["tornFrom"] == len(log(line(0)))
    missing = answer({"op": "jsonl.scan", "path": str(tmp_path / "no"), "compression": "none"})
    assert "No such file" in missing["error"]


def peak_of_a_scan(path: Path) -> int:
    tracemalloc.start()
    try:
        assert "result" in answer({"op": "jsonl.scan", "path": str(path), "compression": "none"})
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_what_is_dropped(tmp_path):
    short, long = tmp_path / "short", tmp_path / "long"
    dropped = line(9, text="a" * 1000)
    short.write_bytes(log(b"{bad", *([dropped] * 200)))
    long.write_bytes(log(b"{bad", *([dropped] * 4000)))
    assert peak_of_a_scan(long) < peak_of_a_scan(short) + 100_000
