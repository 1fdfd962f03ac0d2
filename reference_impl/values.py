"""JSON values as every page needs them: what is a seq, when are two values equal.

Page: ``spec/values.md``. Values come from a parser that lets the last of two equal names
count (VAL-5), as Python's own does.
"""

from __future__ import annotations

from typing import Final

MAX_SAFE_INTEGER: Final = 2**53 - 1


def is_number(value: object) -> bool:
    """VAL-1: true and false are no numbers (in Python bool is an int, so ask)."""
    # A tuple, here and below: Python makes a union anew each time, and this is asked of every value.
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_seq(value: object) -> bool:
    """VAL-2: a seq is a number without fraction from 0 to 2^53-1, however it is spelled."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return 0 <= value <= MAX_SAFE_INTEGER and value == int(value)


def to_double(value: int | float) -> float:
    """VAL-3: numbers are IEEE doubles; an integer beyond them is infinite."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def equal_json(left: object, right: object) -> bool:
    """VAL-3, VAL-4, VAL-6: deep equality by value. No recursion, so that depth is no limit (VAL-7)."""
    pending: list[tuple[object, object]] = [(left, right)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pending.extend((a[key], b[key]) for key in a)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pending.extend(zip(a, b, strict=True))
        elif is_number(a) and is_number(b):
            if to_double(a) != to_double(b):  # type: ignore[arg-type]
                return False
        elif type(a) is not type(b) or a != b:
            return False
    return True


def show(value: object) -> str:
    """A value as the messages of the reference system print it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        double = to_double(value)
        return str(int(double)) if abs(double) < 1e21 and double == int(double) else str(double)
    return str(value)
