"""The lines of a JSONL store: two encoders write them, and what either of them wrote reads as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.stores.jsonl_format import PATIENT, QUICK, line_of

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
