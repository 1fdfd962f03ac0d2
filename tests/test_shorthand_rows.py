"""Shorthand for rows, and how rows that were written are compared."""

from __future__ import annotations

import pytest
import zstandard

from conformance.compare import first_difference
from conformance.rows_compare import comparable
from conformance.shorthand import ShorthandError
from conformance.shorthand_rows import expand_rows, expand_rows_expected

EMPTY = {"text": "{}"}


def row(schema, written, seq=0):
    return expand_rows(schema, {"rows": [written], "base": seq})["rows"][0]


def test_a_row_has_all_its_columns():
    assert row(17, {"row": "x"}, 4) == {
        "seq": {"int": "4"}, "type": {"text": "x"}, "time": {"int": "40"}, "data": EMPTY,
        "source_event_seqs": None, "surface_op": None, "ignorable": None,
    }  # fmt: skip
    assert row(19, {"row": "x", "seq": 1, "time": -3, "sources": {"blob": "00"}, "op": '"append"'}) == {
        "seq": {"int": "1"}, "type": {"text": "x"}, "time": {"int": "-3"}, "data": EMPTY,
        "source_event_seqs": {"blob": "00"}, "surface_op": {"text": '"append"'}, "is_packed": {"int": "0"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "flag", "cell"),
    [
        (15, {"ignorable": 1}, {"ignorable": {"int": "1"}}),
        (17, {"packed": True}, {"ignorable": {"int": "0"}}),
        (20, {"packed": True}, {"ignorable": {"int": "0"}}),
        (19, {"packed": True}, {"is_packed": {"int": "1"}}),
        (19, {"is_packed": 2}, {"is_packed": {"int": "2"}}),
    ],
)
def test_the_flag_of_each_schema(schema, flag, cell):
    expanded = row(schema, {"row": "x", **flag})
    assert expanded.items() >= cell.items()
    assert len(expanded) == 7


def test_a_row_that_is_written_out_stays():
    for written in ({"seq": None}, None, [], 5):
        assert row(17, written) == written


def test_rows_of_sessions():
    for schema, key in ((17, "id"), (20, "session_key")):
        request = {"row": {"session": {"cwd": "/a", "revision": 7}}}
        expanded = expand_rows(schema, request)["row"]
        assert (expanded[key], expanded["cwd"]) == ({"text": "s"}, {"text": "/a"})
        assert (expanded["revision"], expanded["origin"], len(expanded)) == ({"int": "7"}, None, 11)


@pytest.mark.parametrize(
    ("schema", "written", "told"),
    [
        (17, {"row": "x", "is_packed": 1}, "knows no is_packed"),
        (19, {"row": "x", "ignorable": 1}, "knows no ignorable"),
        (17, {"row": "x", "packed": True, "ignorable": 1}, "packed takes true"),
        (17, {"row": "x", "packed": False}, "packed takes true"),
        (17, {"row": 0.5}, "a cell is"),
        (17, {"row": True}, "a cell is"),
        (17, {"row": "x", "data": {"text": "", "blob": ""}}, "a cell is"),
        (17, {"session": {"session_key": "s"}}, "knows no session_key"),
        (17, {"session": {}, "seq": 1}, "nothing stands beside"),
        (17, {"row": "x", "data": {"$join": [["a", -1]]}}, r"\$join takes"),
        (17, {"row": "x", "data": {"$join": [["a", True]]}}, r"\$join takes"),
        (17, {"row": "x", "data": {"$join": "a"}}, r"\$join takes"),
        (17, {"row": "x", "data": {"$join": [["aa", 1 << 24]]}}, r"\$join takes"),
    ],
)
def test_what_is_no_row_is_refused(schema, written, told):
    with pytest.raises(ShorthandError, match=told):
        row(schema, written)


def test_pieces_are_joined_anywhere():
    expanded = row(17, {"row": "x", "data": {"blob": {"$join": [["00", 2], ["ff", 1]]}}})
    assert expanded["data"] == {"blob": "0000ff"}


def test_expected_events_count_from_the_row_or_the_base():
    expect = {"result": {"events": [{"turn/start": 1}, {"turn/end": 1}], "tornFrom": None}}
    scanned = expand_rows_expected(17, {"rows": [], "base": 5}, expect)
    assert [event["seq"] for event in scanned["result"]["events"]] == [5, 6]
    request = expand_rows(17, {"row": {"row": "x", "seq": 8}})
    either = {"either": [expect, {"rejected": {}}], "reason": "two"}
    decoded = expand_rows_expected(17, request, either)
    assert [event["seq"] for event in decoded["either"][0]["result"]["events"]] == [8, 9]
    assert decoded["either"][1] == {"rejected": {}}


def test_expected_rows_are_rows():
    expect = {"result": {"rows": [{"row": "x"}, {"row": "y"}]}}
    expanded = expand_rows_expected(19, {"events": []}, expect)
    assert [each["seq"] for each in expanded["result"]["rows"]] == [{"int": "0"}, {"int": "1"}]


def frame(text, level=3):
    return {"blob": zstandard.ZstdCompressor(level=level).compress(text.encode()).hex()}


def same(left, right, column="data"):
    pair = [comparable("rows.encode", {"rows": [{column: each}]}) for each in (left, right)]
    return first_difference(*pair) is None


def test_json_in_cells_is_compared_by_value():
    assert same({"text": '{"a":1,"b":[2]}'}, {"text": ' {"b": [2.0], "a": 1}'})
    assert not same({"text": '{"a":1}'}, {"text": '{"a":2}'})
    assert same({"text": "[0]"}, {"text": "[ 0 ]"}, "source_event_seqs")
    assert not same({"text": "a b"}, {"text": "a  b"}, "type")


def test_a_frame_is_compared_by_what_it_holds_and_is_no_text():
    text = '{"a":"' + "b" * 5000 + '"}'
    assert same(frame(text), frame(text, level=9))
    assert not same(frame(text), frame(text.replace("a", "c")))
    assert not same(frame(text), {"text": text})


@pytest.mark.parametrize(
    "changed",
    [lambda content: content[:-4], lambda content: content + b"x", lambda content: content * 2],
    ids=["no-checksum", "garbage-behind", "two-frames"],
)
def test_a_cell_is_one_whole_frame(changed):
    content = zstandard.ZstdCompressor(write_checksum=True).compress(b'{"a":1}')
    whole, other = {"blob": content.hex()}, {"blob": changed(content).hex()}
    assert same(whole, frame('{"a":1}'))
    assert not same(whole, other)


def test_what_a_frame_expands_to_is_bounded():
    """A frame of 8 kB that stands for 256 MiB is compared as it stands."""
    cell = {"blob": zstandard.ZstdCompressor().compress(b" " * (1 << 28)).hex()}
    assert comparable("rows.encode", {"rows": [{"data": cell}]}) == {"rows": [{"data": cell}]}


@pytest.mark.parametrize(
    "cell",
    [None, 5, {}, {"text": 5}, {"blob": "zz"}, {"blob": "00"}, {"text": "{bad"}, {"text": "1", "blob": ""}],
)
def test_what_cannot_be_read_is_compared_as_it_stands(cell):
    assert comparable("rows.encode", {"rows": [{"data": cell}, 7]}) == {"rows": [{"data": cell}, 7]}


def test_other_answers_are_left_alone():
    for result in ({"rows": 5}, {"events": []}):
        assert comparable("rows.encode", result) == result
    assert comparable("fold", {"rows": [{"data": {"text": "1"}}]}) == {"rows": [{"data": {"text": "1"}}]}
