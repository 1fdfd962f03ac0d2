"""The event log: what an event is, and that seqs are contiguous.

Page: ``spec/event-log.md``.
"""

from __future__ import annotations

from typing import Any

from .rejection import Rejection
from .values import is_number, show, to_double

Event = dict[str, Any]
"""One entry of the log. Only the members that a rule names are ever read."""


def require_event(element: object) -> Event:
    """LOG-1: an element that is no object is no event."""
    if not isinstance(element, dict):
        raise Rejection("event-shapeless", f"an event must be an object, got {show(element)}")
    return element


def require_contiguous(event: Event, expected: int) -> None:
    """LOG-2: an event's seq is the base of its log plus its position."""
    seq = event.get("seq")
    if not is_number(seq) or to_double(seq) != expected:  # type: ignore[arg-type]
        raise Rejection(
            "seq-not-contiguous",
            f"session event seq {shown_seq(event)} is not contiguous; expected {expected}",
        )


def shown_seq(event: Event) -> str:
    """The seq as messages print it."""
    return show(event["seq"]) if "seq" in event else "undefined"


def shown_type(event: Event) -> str:
    """The type as messages print it."""
    return f'"{event.get("type")}"'
