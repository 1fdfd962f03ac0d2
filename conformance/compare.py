"""Are two JSON values the same, and if not, where do they first differ?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ABSENT = type("Absent", (), {"__repr__": lambda self: "absent"})()
"""Stands where a member or an element is missing; never equal to a JSON value, null included."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two values differ: a path such as ``nodes[2]``, and both sides."""

    path: str
    expected: Any
    found: Any


def first_difference(expected: Any, found: Any, path: str = "") -> Difference | None:
    """None if the values are the same; else the first difference in the order of ``expected``.

    Numbers are compared as IEEE doubles (-0 equals 0, and true is no number), texts by
    their code units, objects without regard to key order, and absent is never null. What is
    found may be of a type derived from a JSON type, as a port in this process may answer.
    """
    kind = type(expected)
    if kind is dict:
        if not isinstance(found, dict):
            return Difference(path, expected, found)
        for key, value in expected.items():
            here = f"{path}.{key}" if path else key
            if key not in found:
                return Difference(here, value, ABSENT)
            inner = first_difference(value, found[key], here)
            if inner is not None:
                return inner
        for key, value in found.items():
            if key not in expected:
                return Difference(f"{path}.{key}" if path else key, ABSENT, value)
        return None
    if kind is list:
        if not isinstance(found, list):
            return Difference(path, expected, found)
        for index, value in enumerate(expected):
            if index >= len(found):
                return Difference(f"{path}[{index}]", value, ABSENT)
            inner = first_difference(value, found[index], f"{path}[{index}]")
            if inner is not None:
                return inner
        if len(found) > len(expected):
            return Difference(f"{path}[{len(expected)}]", ABSENT, found[len(expected)])
        return None
    if kind is int or kind is float:
        same = type(found) in (int, float) and _double(expected) == _double(found)
    else:
        same = isinstance(found, kind) and expected == found
    return None if same else Difference(path, expected, found)


def _double(number: int | float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
