"""Lossless JSON: which values come back from JSON text as they went in.

Page: ``spec/lossless-json.md``.
"""

from __future__ import annotations

import math

from .rejection import Rejection
from .values import is_number, to_double


def is_lossless(value: object) -> bool:
    """LJSN-1, LJSN-3: every number inside a value is lossless, at whatever depth. No recursion.

    The value is what a parser made of the text, so names that stood twice are gone (LJSN-4). What no
    parser makes is not lossless.
    """
    pending: list[object] = [value]
    while pending:
        item = pending.pop()
        if item is None or isinstance(item, (str, bool)):  # most of a log, so that this is asked first
            continue
        if isinstance(item, dict):
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        elif not is_number(item) or not is_lossless_number(to_double(item)):  # type: ignore[arg-type]
            return False
    return True


def is_lossless_number(number: float) -> bool:
    """LJSN-2: finite, and not -0, which JSON writers turn into 0."""
    if not math.isfinite(number):
        return False
    return number != 0 or math.copysign(1, number) == 1


def require_lossless_event(event: object, index: int) -> None:
    """LJSN-5: a seed event is lossless as a whole, whatever it is."""
    if not is_lossless(event):
        raise Rejection(
            "event-not-lossless", f"seed event at index {index} is not losslessly JSON-serializable"
        )


def require_lossless_data(kind: str, data: object) -> None:
    """LJSN-6: so is what a live session is given as data."""
    if not is_lossless(data):
        raise Rejection(
            "append-data-not-lossless",
            f'session event "{kind}" carries non-JSON-serializable data',
        )


def require_lossless_marker(kind: str, marker: dict[str, object]) -> None:
    """LJSN-7: and as ``surfaceOp`` and ``sourceEventSeqs``."""
    if not is_lossless(marker):
        raise Rejection(
            "append-metadata-not-lossless",
            f'session event "{kind}" carries non-JSON-serializable surface metadata',
        )
