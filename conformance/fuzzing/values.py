"""Adversarial JSON values: what is a number, what is equal, and what two parsers read differently."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from conformance.fuzzing.draw import Draw
from conformance.fuzzing.spelling import again, odd, raw

ABSENT: Any = object()
"""No member at all, on one side of a pair."""

NOT_SEQS: tuple[Any, ...] = (
    None, "0", -1, 0.5, True, False, [], {}, "", raw("9007199254740992"), raw("-1e400"), raw("1e400"), [0],
    raw("-0.5"), "1.0", raw("18446744073709551616"), raw("4294967296.5"),
)  # fmt: skip
"""Values that are no seq, wherever one is asked for."""

EQUAL_PAIRS: tuple[tuple[Any, Any], ...] = (
    (1, raw("1.0")),
    (0, raw("-0")),
    (10, raw("1e1")),
    (raw("9007199254740993"), raw("9007199254740992")),
    (raw("-9007199254740993"), raw("-9007199254740992")),
    (raw("1e400"), raw("1e500")),
    (raw("123456789012345678901234567890"), raw("123456789012345678901234567891")),
    (raw("1e" + "9" * 30), raw("1e400")),
    (raw("1" * 400), raw("1e400")),
    (raw("-" + "1" * 400), raw("-1e400")),
    ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
    ({"a": 2}, {again("a"): 1, "a": 2}),
    ({"a": 1}, {"a": 2, again("a"): 1}),
    ([{"x": {"y": [1, 2]}}], [{"x": {"y": [1, raw("2.0")]}}]),
    (0.1, raw("1e-1")),
    (0.1, raw("0.1000000000000000055511151231257827")),
    (odd("\ud800"), odd("\ud800")),
    ({odd("\ud800"): 1}, {odd("\ud800"): 1}),
    (raw("1e-400"), 0),
    ("é", "é"),
    (None, None),
    ([], []),
    ({}, {}),
)
"""Pairs that are the same value, spelled alike or not."""

UNEQUAL_PAIRS: tuple[tuple[Any, Any], ...] = (
    (1, 2),
    (1, True),
    (0, False),
    (0, None),
    (0, ""),
    (1, "1"),
    (1, raw("1.5")),
    (-1, 1),
    (None, False),
    (None, ABSENT),
    (ABSENT, None),
    ([], ABSENT),
    ("", ABSENT),
    (0, ABSENT),
    (False, ABSENT),
    ({}, ABSENT),
    (1, ABSENT),
    ([], {}),
    ([], None),
    ({}, None),
    ("", None),
    ([1], 1),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ([1, 2], [1]),
    ([None], []),
    ({"a": None}, {}),
    ({"a": 1}, {"a": 1, "b": None}),
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, {"A": 1}),
    ({"a": 1, "b": 2}, {"a": 2, "b": 1}),
    ({"a": 1}, {again("a"): 1, "a": 2}),
    ({"a": 2}, {again("a"): 1, "a": 1}),
    ({"0": "a"}, ["a"]),
    ({odd("\ud800"): 1}, {odd("\ud801"): 1}),
    ({odd("\ud800"): 1}, {"�": 1}),
    (odd("\ud800"), odd("\ud801")),
    (odd("\ud83d"), odd("\ud83e")),
    (odd("\ud83d"), "�"),
    (odd("\ud83d"), ""),
    (odd("a\ud83d"), "a"),
    ("é", "e\u0301"),
    ("ﬁ", "fi"),
    ("a", "A"),
    ("a", "a "),
    ("a", " a"),
    ("a\0b", "a\0c"),
    ("a\0b", "a"),
    ("a\r\nb", "a\nb"),
    ("a\tb", "a b"),
    ("1", "1.0"),
    ("ß", "ss"),
    ("a\u200b", "a"),
    (raw("1e400"), raw("-1e400")),
    (raw("1" * 400), raw("-" + "1" * 400)),
    (raw("1e400"), raw("1e308")),
    ({"a": None}, {"b": None}),
    ({"content": 1}, {"content": 2}),
    (raw("9007199254740993"), raw("9007199254740994")),
    (raw("9007199254740992"), 9007199254740991),
    (raw("18446744073709551616"), 0),
    (4294967296, 0),
    (4294967297, 1),
    (2147483648, -2147483648),
    (16777217, 16777216),
    (0.1, 0.2),
    (1.5, 1),
    (raw("0.30000000000000004"), 0.3),
    (raw("1e-320"), 0),
    (raw("5e-324"), 0),
)
"""Pairs that are two values, though some reader takes them for one."""


def is_finite(values: Iterable[Any]) -> bool:
    """Whether an answer may repeat all values: what is beyond the doubles cannot be written."""
    return not any(
        type(value) is str and re.search(r"[0-9]e(400|500|9{9})|1{300}", value) for value in values
    )


FINITE_EQUAL = tuple(filter(is_finite, EQUAL_PAIRS))
FINITE_UNEQUAL = tuple(filter(is_finite, UNEQUAL_PAIRS))
FINITE_NOT_SEQS = tuple(value for value in NOT_SEQS if is_finite([value]))

DEPTHS = (2, 10, 70, 130, 260, 480, 500)
"""Levels of nesting inside a value; 512 are required in all, with the levels around it."""

TEXTS = (
    odd("\ud800"), odd("\ud83d"), odd("\ude00"), odd("a\ud800b"), "\0", "a\0b", "\r\n", "\u2028", "e\u0301",
    "�", "\x7f", "\\u0041", "😀",
)  # fmt: skip
"""Texts that get lost on the way through one language or another."""


def value_pair(draw: Draw, *, finite: bool = False) -> tuple[Any, Any]:
    """Two values, equal or not; ABSENT stands for no member."""
    sort = draw.integer(0, 9)
    if sort < 5:
        left, right = draw.choice(FINITE_UNEQUAL if finite else UNEQUAL_PAIRS)
    elif sort < 8:
        left, right = draw.choice(FINITE_EQUAL if finite else EQUAL_PAIRS)
    else:
        return deep_pair(draw)
    if draw.chance(30):
        left, right = right, left
    if draw.chance(25) and left is not ABSENT and right is not ABSENT:
        return {"in": [left]}, {"in": [right]}
    return left, right


def deep_pair(draw: Draw) -> tuple[Any, Any]:
    """Two values nested alike, with an innermost number that is the same or is not."""
    depth = draw.choice(DEPTHS)
    in_lists = not draw.chance(50)
    left, right = draw.choice(((raw("1"), raw("1")), (raw("1"), raw("2")), (raw("1"), raw("1.0"))))
    return nested(depth, left, in_lists=in_lists), nested(depth, right, in_lists=in_lists)


def nested(depth: int, core: Any, *, in_lists: bool) -> Any:
    """A value inside so many lists or objects."""
    value = core
    for _ in range(depth):
        value = [value] if in_lists else {"a": value}
    return value


def respelled(draw: Draw, number: int) -> Any:
    """The same seq in another spelling, or a number next to it that is none."""
    shape = draw.integer(0, 9)
    if shape < 4:
        return raw(f"{number}.0")
    if number == 0 and shape < 7:
        return raw("-0")
    if shape < 6:
        return raw(f"{number}e0")
    if shape == 6:
        return raw(f"{number}0e-1")
    if shape == 7:
        return raw(f"{number}.{'0' * 20}")
    if shape == 8:
        return raw(f"{number}.0000000001")
    return str(number)
