"""JSON as text: exact reading, plain writing, and what "plain" means on a request line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

MAX_SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 64
MAX_LINE_BYTES = 1 << 20
LONGEST_INTEGER = 4000
"""Digits up to which an integer is kept as one; Python itself refuses to read longer ones."""


class JsonTextError(ValueError):
    """The text is not JSON, or holds something that no answer may hold."""


class NestingError(JsonTextError):
    """The text may well be JSON, but is nested deeper than this Python can read."""


def refuse_constant(name: str) -> NoReturn:
    """NaN and the infinities are no JSON, though Python reads them."""
    raise JsonTextError(f"{name} is no JSON")


def _exact_integer(digits: str) -> int | float:
    if digits == "-0":
        return -0.0
    return int(digits) if len(digits) < LONGEST_INTEGER else float(digits)


_EXACT = json.JSONDecoder(parse_int=_exact_integer, parse_constant=refuse_constant)
_ANSWER = json.JSONDecoder(parse_constant=refuse_constant)
_NO_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN')
"""Texts, and the words that Python writes for numbers which JSON cannot hold."""


def parse_exact(text: str) -> Any:
    """Parse JSON text so that ``-0`` stays negative zero and an integer of any length keeps its value.

    Integers of thousands of digits become the double they round to, an infinite one. Raises JsonTextError.
    """
    return _parse(_EXACT, text)


def parse_answer(text: str) -> Any:
    """Parse one answer line. Raises JsonTextError for anything but one JSON text."""
    try:
        return _parse(_ANSWER, text)
    except JsonTextError as error:
        if "integer string conversion" in str(error):  # JSON all right, but longer than Python reads at once
            return _parse(_EXACT, text)
        raise


def _parse(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        return decoder.decode(text)
    except JsonTextError:
        raise
    except RecursionError:
        raise NestingError("nested too deeply to read") from None
    except ValueError as error:
        raise JsonTextError(str(error)) from None


def dump_ascii(value: Any) -> str:
    """Compact ASCII JSON, keys in the order given. Raises JsonTextError for what JSON cannot hold."""
    try:
        return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as error:
        raise JsonTextError(str(error)) from None


def dump_infinite(value: Any) -> str:
    """As dump_ascii, with infinite numbers as ``1e400`` and ``-1e400``, which read as infinite everywhere."""
    try:
        text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError) as error:
        raise JsonTextError(str(error)) from None
    return _NO_NUMBER.sub(_spell_infinite, text)


def _spell_infinite(found: re.Match[str]) -> str:
    """A text as it is; an infinite number spelled out."""
    word = found[0]
    if word == "NaN":
        raise JsonTextError("NaN is no JSON")
    return word.replace("Infinity", "1e400") if word[0] != '"' else word


def dump_canonical(value: Any) -> str:
    """ASCII JSON with sorted keys: the text that digests are taken over."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"), sort_keys=True)


def not_plain(value: Any) -> str | None:
    """Why a value may not travel as it is on a request line, or None if it may.

    Plain: integers up to 2^53-1 without point or exponent, no negative zero, finite
    fractions, no lone surrogate, at most 64 levels. Anything else goes into ``NAME_text``.
    """
    for path, item, depth in _walk(value):
        reason = _not_plain_here(item, depth)
        if reason is not None:
            return f"{path or 'the value'} {reason}"
    return None


def _not_plain_here(item: Any, depth: int) -> str | None:
    if depth > MAX_DEPTH:
        return f"is nested deeper than {MAX_DEPTH} levels"
    if isinstance(item, bool) or item is None:
        return None
    if isinstance(item, int):
        return None if abs(item) <= MAX_SAFE_INTEGER else "is an integer beyond 2^53-1"
    if isinstance(item, float):
        if item != item or item in (float("inf"), float("-inf")):
            return "is no finite number"
        return "is a whole number written with a point or exponent" if item.is_integer() else None
    if isinstance(item, str):
        return "holds a lone surrogate" if has_surrogate(item) else None
    return None


def nested_deeper(value: Any, levels: int) -> bool:
    """Whether a value has lists or objects inside one another beyond that number of levels."""
    layer = [value]
    for _ in range(levels + 1):
        inner: list[Any] = []
        for item in layer:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        if not inner:
            return False
        layer = inner
    return any(isinstance(item, dict | list) for item in layer)


def has_surrogate(text: str) -> bool:
    """Whether a text holds a surrogate that is not half of a pair (Python keeps pairs as one character)."""
    if text.isascii():
        return False
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _walk(value: Any) -> Iterator[tuple[str, Any, int]]:
    """Every value inside a value, with its path and its depth (containers count from 1)."""
    pending: list[tuple[str, Any, int]] = [("", value, 1 if isinstance(value, dict | list) else 0)]
    while pending:
        path, item, depth = pending.pop()
        yield path, item, depth
        if isinstance(item, dict):
            for key, member in item.items():
                yield f"the name {key!r} in {path}", key, depth
                pending.append((f"{path}.{key}" if path else key, member, _deeper(member, depth)))
        elif isinstance(item, list):
            for index, member in enumerate(item):
                pending.append((f"{path}[{index}]", member, _deeper(member, depth)))


def _deeper(member: Any, depth: int) -> int:
    return depth + 1 if isinstance(member, dict | list) else depth
