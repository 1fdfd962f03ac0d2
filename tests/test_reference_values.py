"""The small questions that every page of the reference asks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.values import MAX_SAFE_INTEGER, equal_json, is_seq


@pytest.mark.parametrize("value", [0, 1, 0.0, -0.0, 1.0, 2**53 - 1, float(2**53 - 1)])
def test_seqs(value):
    assert is_seq(value)


@pytest.mark.parametrize(
    "value", [-1, 0.5, 2**53, 1e300, float("inf"), float("nan"), True, False, None, "1", [], {}]
)
def test_no_seqs(value):
    assert not is_seq(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_equality_is_equality_of_sorted_json(left, right):
    same = json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    assert equal_json(left, right) is same


def test_equality_of_numbers_is_of_doubles():
    assert equal_json(1, 1.0)
    assert equal_json(2**53, 2**53 + 1)
    assert equal_json(10**400, 10**401)
    assert not equal_json(1, True)
    assert not equal_json({"a": None}, {})


def test_depth_is_no_limit():
    left: object = 1
    right: object = 1
    for _ in range(100_000):
        left, right = [left], [right]
    assert equal_json(left, right)
    assert not equal_json(left, [right])
