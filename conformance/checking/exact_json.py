"""JSON read exactly as a reader of v0 reads it, however deep it nests, and places in its text.

Whole numbers beyond 2^53-1 become the double that they round to, -0 keeps its sign, and what is beyond all
doubles is infinite. Of two equal names the last one counts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

from conformance.limits import DEEPEST

MAX_SAFE = 2**53 - 1
_DIGITS = 17
_TOKEN = re.compile(
    r'[ \t\r\n]*(?:([\[\]{},:])|("(?:[^"\\\x00-\x1f]|\\.)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)'
    r"|(true|false|null))",
    re.ASCII,
)
_BLANKS = " \t\r\n"
_HALF = re.compile("[\ud800-\udfff]")
_COLON = re.compile(r"[ \t\r\n]*:")


class TooDeep(Exception):  # noqa: N818 - it becomes a finding
    """A value nests deeper than this program follows; that says nothing about the log."""


def _whole(digits: str) -> int | float:
    if len(digits) >= _DIGITS or digits == "-0":
        return float(digits)
    number = int(digits)
    return number if -MAX_SAFE <= number <= MAX_SAFE else float(digits)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_int=_whole, parse_constant=_no_constant)


def parse(text: str) -> object:
    """The value of one JSON text with blanks around it. Raises ValueError if it is none, and TooDeep."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        return _parse_deep(text)


def parse_bytes(line: bytes) -> object:
    """The same for bytes; what is no UTF-8 is read as U+FFFD. Raises ValueError and TooDeep."""
    return parse(line.decode("utf-8", "replace"))


def _parse_deep(text: str) -> object:
    """For a text that nests deeper than the stack allows: open containers are kept in a list."""
    holder: list[object] = []
    stack: list[list[object] | dict[str, object]] = [holder]
    names: list[str] = []
    at, end, state = 0, len(text), "value"
    while True:
        token = _TOKEN.match(text, at)
        if token is None:
            if state == "done" and not text[at:].strip(_BLANKS):
                return holder[0]
            raise ValueError(f"no JSON at character {at}")
        at = token.end()
        mark, quoted, number, word = token.groups()
        if state == "done" or at > end:
            raise ValueError(f"more than one value at character {token.start()}")
        top = stack[-1]
        if (mark == "]" and isinstance(top, list) and len(stack) > 1 and state in ("first", "next")) or (
            mark == "}" and isinstance(top, dict) and state in ("first-name", "next")
        ):
            state = _close(stack, names)
        elif mark == "," and state == "next":
            state = "name" if isinstance(top, dict) else "value"
        elif quoted is not None and state in ("name", "first-name"):
            names[-1] = str(_DECODER.decode(quoted))
            state = "colon"
        elif mark == ":" and state == "colon":
            state = "value"
        elif state in ("value", "first") and mark in ("[", "{", None):
            value: object
            if mark == "[":
                value = []
            elif mark == "{":
                value = {}
            else:
                value = _DECODER.decode(quoted or number or word)
            if isinstance(top, dict):
                top[names[-1]] = value
            else:
                top.append(value)
            if isinstance(value, list | dict):
                if len(stack) > DEEPEST:
                    raise TooDeep(f"a value nests more than {DEEPEST:,} levels")
                stack.append(value)
                names.append("")
                state = "first" if mark == "[" else "first-name"
            else:
                state = "done" if len(stack) == 1 else "next"
        else:
            raise ValueError(f"not expected at character {token.start()}")


def _close(stack: list[list[object] | dict[str, object]], names: list[str]) -> str:
    stack.pop()
    names.pop()
    return "done" if len(stack) == 1 else "next"


def is_number(value: object) -> bool:
    """A JSON number. In Python a bool is an int, so ask."""
    return type(value) is int or type(value) is float


def is_seq(value: object) -> bool:
    """A whole number from 0 to 2^53-1, however it is spelled."""
    if type(value) is int:
        return 0 <= value <= MAX_SAFE
    return type(value) is float and 0 <= value <= MAX_SAFE and value == int(value)


def is_whole(value: object) -> bool:
    """A whole number of at most 2^53-1 in size."""
    if type(value) is int:
        return -MAX_SAFE <= value <= MAX_SAFE
    return type(value) is float and -MAX_SAFE <= value <= MAX_SAFE and value == int(value)


def values_in(value: object) -> Iterator[object]:
    """A value, all names and all values in it. No recursion, so that depth is no limit."""
    pending = [value]
    while pending:
        item = pending.pop()
        yield item
        if isinstance(item, dict):
            pending.extend(item)
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


def has_half(value: object) -> bool:
    """Whether a text in the value holds half of a surrogate pair."""
    return any(isinstance(item, str) and _HALF.search(item) is not None for item in values_in(value))


def not_lossless(value: object) -> bool:
    """Whether a number in the value is -0, or beyond all doubles."""
    return any(
        type(item) is float and (math.isinf(item) or (item == 0 and math.copysign(1, item) < 0))
        for item in values_in(value)
    )


def show(value: object) -> str:
    """A value as a finding tells it, shortened."""
    if type(value) is int and abs(value) > MAX_SAFE:
        value = rounded(value)
    if type(value) is float and value == value and abs(value) < 1e21 and value == int(value):
        return str(int(value))
    try:
        text = json.dumps(_told(value), ensure_ascii=True)
    except (RecursionError, ValueError, TypeError):
        return "a deeply nested value"
    return text if len(text) <= 80 else f"{text[:79]}…"


def _told(value: object) -> object:
    """The value with every number as a reader has it. Raises RecursionError."""
    if isinstance(value, dict):
        return {name: _told(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_told(item) for item in value[:50]]
    if type(value) is int and abs(value) > MAX_SAFE:
        value = rounded(value)
    if type(value) is float and abs(value) < 1e21 and value == int(value):
        return int(value)  # as JSON is written: 1 for 1.0, and 0 for -0
    return value


def rounded(number: int) -> float:
    """The double that a whole number stands for."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def place_of(text: str, names: Sequence[str]) -> int | None:
    """The character where the member stands that ``names`` lead to, or the innermost one that is there.

    Only texts that could be read are looked through, so tokens are taken as they come.
    """
    depth, matched, at = 0, 0, 0
    best = None
    while matched < len(names) and (token := _TOKEN.match(text, at)) is not None:
        at = token.end()
        mark, quoted = token[1], token[2]
        if mark in ("[", "{"):
            depth += 1
        elif mark in ("]", "}"):
            depth -= 1
            matched = min(matched, depth)
        elif mark == "," and depth == matched:
            matched -= 1
        elif quoted is not None and depth == matched + 1 and _names(text, at, quoted, names[matched]):
            best = at - len(quoted)
            matched += 1
    return best


def _names(text: str, at: int, quoted: str, name: str) -> bool:
    """Whether a quoted text is this name, with its colon behind it."""
    colon = _COLON.match(text, at)
    return colon is not None and quoted == json.dumps(name)
