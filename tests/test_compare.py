"""Comparison by value: what is the same, and where a difference is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.compare import ABSENT, first_difference

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (1, 1.0),
        (0, -0.0),
        (2**53, 2**53 + 1),
        (10**400, 10**500),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ("\ud83d", "\ud83d"),
    ],
)
def test_same(expected, found):
    assert first_difference(expected, found) is None


@pytest.mark.parametrize(
    ("expected", "found", "path"),
    [
        (1, True, ""),
        (0, False, ""),
        (True, 1, ""),
        (None, False, ""),
        (1, "1", ""),
        ([1], (1,), ""),
        ([1, 2], [1], "[1]"),
        ([1], [1, 2], "[1]"),
        ({"a": None}, {}, "a"),
        ({}, {"a": None}, "a"),
        ({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}, {"b": 3}]}, "a[1].b"),
        ("é", "e\u0301", ""),
        (2**53 - 1, 2**53, ""),
    ],
)
def test_different(expected, found, path):
    difference = first_difference(expected, found)
    assert difference is not None
    assert difference.path == path


def test_absent_is_told_from_null():
    difference = first_difference({"a": None}, {})
    assert difference is not None
    assert difference.expected is None
    assert difference.found is ABSENT


@given(JSON)
def test_a_value_is_the_same_as_its_copy(value):
    assert first_difference(value, json.loads(json.dumps(value))) is None


@given(JSON, JSON)
def test_difference_is_symmetric(left, right):
    assert (first_difference(left, right) is None) == (first_difference(right, left) is None)
