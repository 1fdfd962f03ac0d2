"""Exact reading, plain writing, and the plainness of request lines."""

from __future__ import annotations

import math

import pytest

from conformance import json_text


def test_exact_reading_keeps_what_python_would_lose():
    assert math.copysign(1, json_text.parse_exact("-0")) == -1
    assert json_text.parse_exact("9007199254740993") == 2**53 + 1
    assert json_text.parse_exact("1" * 5000) == math.inf
    assert json_text.parse_exact('"\\ud83d"') == "\ud83d"
    assert json_text.parse_exact("1e400") == math.inf
    assert type(json_text.parse_exact("1.0")) is float


@pytest.mark.parametrize("text", ["", "{", "NaN", "[1,]", "Infinity", "'a'", "[" * 100_000, "1 2"])
def test_answers_that_are_no_json(text):
    with pytest.raises(json_text.JsonTextError):
        json_text.parse_answer(text)


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -1, 2**53 - 1, 0.5, "é😀\0", [], {"a": {"b": [1]}}, deep(64), 1e-300],
)
def test_plain(value):
    assert json_text.not_plain(value) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (2**53, "beyond 2^53-1"),
        (-(2**53), "beyond 2^53-1"),
        (1.0, "point or exponent"),
        (-0.0, "point or exponent"),
        (math.nan, "finite"),
        (math.inf, "finite"),
        ("\ud83d", "lone surrogate"),
        ({"a": [{"b": "\udc00"}]}, "a[0].b holds a lone surrogate"),
        ({"\ud800": 1}, "lone surrogate"),
        (deep(65), "deeper than 64"),
        ({"x": deep(64)}, "deeper than 64"),
    ],
)
def test_not_plain(value, told):
    reason = json_text.not_plain(value)
    assert reason is not None
    assert told in reason


def test_infinite_numbers_are_spelled_so_that_they_read_as_infinite():
    value = {"a": [math.inf, -math.inf, 'an "Infinity"', 1.5, None], "-Infinity": "\\"}
    text = json_text.dump_infinite(value)
    assert text == '{"a":[1e400,-1e400,"an \\"Infinity\\"",1.5,null],"-Infinity":"\\\\"}'
    assert json_text.parse_exact(text) == value


def test_what_is_no_number_at_all_is_not_spelled():
    with pytest.raises(json_text.JsonTextError, match="NaN is no JSON"):
        json_text.dump_infinite([math.nan])
