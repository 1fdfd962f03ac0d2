"""Admission: a header and a log become a session, or are refused.

Page: ``spec/admission.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from .clock import now
from .event_log import Event
from .fold import Surface, apply_plan, plan_event
from .lossless_json import require_lossless_event
from .message_shape import (
    check_message,
    check_request_header,
    refuse_retired_delta,
    refuse_retired_reason,
    shown_seed,
)
from .rejection import Rejection
from .session_header import Header, check_borrowed_header, check_header
from .values import MAX_SAFE_INTEGER, is_number, is_seq, to_double

END_SEED: Final = "session/end-seed"
ENVELOPE: Final = ("type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable")


class Admitted(NamedTuple):
    """A session as admission leaves it.

    ``events``: the log as given (ADMT-5), with an end-seed marker where one was added.
    ``first_live_seq``: the number of events that were given, the marker not counted (ADMT-7).
    """

    events: list[Event]
    first_live_seq: int
    header: Header


def admit_restored(
    header: object, events: Sequence[object] | None, session_id: str | None = None
) -> Admitted:
    """ADMT-1, ADMT-8: from a store, the header first. Without ``session_id`` the header may have any id.

    ``events`` is None where no log is given, not even an empty one. Raises Rejection, with ``at`` set to
    the index of the event at fault, or without ``at`` where that is the header.
    """
    checked = check_header(header, session_id)
    return finish(admit_events(events or [], borrowed=False), events is not None, checked)


def admit_borrowed(session_id: str, header: object, events: Sequence[object] | None) -> Admitted:
    """ADMT-1: from a caller, the events first. A caller that has no header gives ``new_header``."""
    log = admit_events(events or [], borrowed=True)
    return finish(log, events is not None, check_borrowed_header(header, session_id))


def finish(log: list[Event], seeded: bool, header: Header) -> Admitted:
    """ADMT-6, ADMT-7: mark the end of a seed, unless it is marked already."""
    first_live_seq = len(log)
    if seeded and not (log and log[-1]["type"] == END_SEED):
        log.append({"type": END_SEED, "seq": first_live_seq, "time": now(), "data": {}})
    return Admitted(log, first_live_seq, header)


def admit_events(elements: Sequence[object], borrowed: bool) -> list[Event]:
    """Check event after event; the first fault refuses the whole log (ADMT-2)."""
    log: list[Event] = []
    surface = Surface()
    for index, element in enumerate(elements):
        try:
            if borrowed:
                require_lossless_event(element, index)
            event = check_event(element, index)
            apply_plan(surface, plan_event(surface, event, index, log, 0))  # LOG-2, then the surface
        except Rejection as refusal:
            refusal.at = index
            raise
        log.append(event)
    return log


def check_event(element: object, index: int) -> Event:
    """ADMT-2: what is asked of one event by itself: envelope, shapes inside data, retired reason."""
    event = check_envelope(element, index)
    if event["type"] == "request/header":
        check_request_header(event["data"], index)
    check_message(event, index)
    refuse_retired_reason(event["type"], event["data"], shown_seed(index))
    return event


def check_envelope(element: object, index: int) -> Event:
    """ADMT-3, and before it the retired type. Of types and of other data nothing is asked (ADMT-4)."""
    if isinstance(element, dict):
        refuse_retired_delta(element.get("type"), shown_seed(index))
    if not isinstance(element, dict) or not is_envelope(element):
        raise Rejection("event-envelope", f"{shown_seed(index)} has an invalid event envelope")
    return element


def is_envelope(event: Event) -> bool:
    """ADMT-3: no other members, and those that must be there are what they must be."""
    for name in event:
        if name not in ENVELOPE:
            return False
    return (
        isinstance(event.get("type"), str)
        and is_seq(event.get("seq"))
        and is_time(event.get("time"))
        and "data" in event
        and event.get("ignorable", True) is True
    )


def is_time(value: object) -> bool:
    """A whole number of milliseconds of at most 2^53-1 in size, negative ones included."""
    if not is_number(value):
        return False
    time = to_double(value)  # type: ignore[arg-type]
    return abs(time) <= MAX_SAFE_INTEGER and time == int(time)
