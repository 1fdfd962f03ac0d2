"""Expectations that stand for values which only the implementation can choose.

{"$any": "time"}    a whole number of at most 2^53-1 in size: a clock
{"$any": "token"}   a text that is not empty
{"$same": N}        what stood at this place in the answer to step N
{"$other": N}       a token that differs from what stood there; N may be a list of steps
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from conformance.json_text import MAX_SAFE_INTEGER

MISSING = object()
Path = tuple[str | int, ...]


def with_tokens(expected: Any, found: Any, earlier: Sequence[Any] = (), path: Path = ()) -> Any:
    """``expected`` with each token replaced by what was found there, if that is what the token stands for.

    ``earlier`` holds the answers to the steps before this one. A ``$same`` always becomes the earlier
    value, so that a difference shows both.
    """
    if type(expected) is dict:
        if len(expected) == 1:
            ((name, asked),) = expected.items()
            if name == "$same":
                value = at_place(earlier, asked, path)
                return expected if value is MISSING else value
            if name in ("$any", "$other"):
                return found if _stands_for(name, asked, found, earlier, path) else expected
        members = found if type(found) is dict else {}
        return {
            key: with_tokens(value, members.get(key), earlier, (*path, key))
            for key, value in expected.items()
        }
    if type(expected) is list:
        elements = found if type(found) is list else []
        return [
            with_tokens(value, elements[index] if index < len(elements) else None, earlier, (*path, index))
            for index, value in enumerate(expected)
        ]
    return expected


def _stands_for(name: str, asked: Any, found: Any, earlier: Sequence[Any], path: Path) -> bool:
    if name == "$any" and asked == "time":
        return type(found) is int and abs(found) <= MAX_SAFE_INTEGER
    if type(found) is not str or not found:
        return False
    others = [] if name == "$any" else [at_place(earlier, step, path) for step in steps_named(asked)]
    return found not in others


def at_place(earlier: Sequence[Any], step: int, path: Path) -> Any:
    """What the result of an earlier step holds at a path, or MISSING."""
    answer = earlier[step]
    value: Any = answer.get("result") if type(answer) is dict else None
    for key in path:
        try:
            value = value[key]
        except (TypeError, KeyError, IndexError):
            return MISSING
    return value


def steps_named(asked: Any) -> list[int]:
    """The steps that a ``$same`` or ``$other`` names."""
    return asked if type(asked) is list else [asked]


def references(expected: Any) -> Iterator[Any]:
    """Every step that an expectation names, as it is written."""
    if type(expected) is dict:
        for name, value in expected.items():
            if name in ("$same", "$other"):
                yield from steps_named(value)
            else:
                yield from references(value)
    elif type(expected) is list:
        for value in expected:
            yield from references(value)
