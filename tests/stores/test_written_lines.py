"""The lines of a JSONL store: two encoders write them, and what either of them wrote reads as it was."""

from __future__ import annotations

import json
import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.adapters.reference_stores import open_store
from reference_impl.rejection import Rejection
from reference_impl.stores.jsonl_format import PATIENT, QUICK, header_bytes, line_of

FIRST_HALVES = st.characters(min_codepoint=0xD800, max_codepoint=0xDBFF)  # which never make a whole
TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | FIRST_HALVES, max_size=8)
LEAVES = st.none() | st.booleans() | TEXTS | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.dictionaries(
    TEXTS, st.recursive(LEAVES, lambda part: st.lists(part) | st.dictionaries(TEXTS, part), max_leaves=8)
)


@given(VALUES)
def test_a_line_reads_as_what_was_written(value):
    line = line_of(value)
    assert line.endswith(b"\n")
    assert b"\n" not in line[:-1]
    assert repr(json.loads(line.decode())) == repr(value)


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"a": "é\u2028", "b": [1.5, None]}, '{"a":"é\u2028","b":[1.5,null]}\n'.encode()),
        ({"a": "\ud83d\ude00", "b": 1}, b'{"a":"\\ud83d\\ude00","b":1}\n'),
        ({"\udc00": "\U0001f600"}, '{"\\udc00":"\U0001f600"}\n'.encode()),
    ],
)
def test_half_a_character_is_an_escape_and_every_other_one_itself(value, line):
    assert line_of(value) == line


@given(VALUES)
def test_the_quick_encoder_writes_the_patient_ones_value_or_gives_up(value):
    try:
        quick = QUICK.encode(value)
    except UnicodeEncodeError:
        return
    assert repr(json.loads(quick)) == repr(json.loads(PATIENT.encode(value)))


HEADER = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
START = {"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1}}


def test_a_header_is_never_written_with_a_number_that_json_has_no_word_for():
    with pytest.raises(ValueError, match="not JSON compliant"):
        header_bytes({**HEADER, "createdAt": math.inf}, "none")


@pytest.mark.parametrize("name", ["jsonl", "jsonl-zstd", "sqlite20"])
@pytest.mark.parametrize("more", [{"createdAt": math.inf}, {"seedLength": -0.0}, {"createdAt": -1}])
def test_a_live_log_whose_header_cannot_be_read_again_is_refused(tmp_path, name, more):
    store = open_store(name, tmp_path)
    with pytest.raises(Rejection) as refusal:
        store.go_live({**HEADER, **more}, [START])
    assert refusal.value.condition in ("create-not-lossless", "create-created-at")
    assert store.list_headers() == []
    store.go_live(HEADER, [START])
    assert [header["id"] for header in store.list_headers()] == ["s"]
    store.close()


@pytest.mark.parametrize("name", ["jsonl", "sqlite20"])
@pytest.mark.parametrize("value", [(1, 2), (math.nan,), b"x", {1}, date(2026, 1, 1), math.inf, -0.0])
def test_what_json_has_no_form_for_is_not_stored_as_something_else(tmp_path, name, value):
    store = open_store(name, tmp_path)
    store.create(HEADER)
    with pytest.raises(Rejection, match="not losslessly"):
        store.append("s", [{**START, "data": {"turn": 1, "note": [value]}}])
    store.append("s", [START])
    assert store.load("s").events[0] == START
    store.close()
