"""The human transcript, and the four questions one can ask of a single event.

Page: ``spec/transcript.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from .event_log import Event, require_event
from .marker import is_eligible
from .projection import Message, project


def is_on_surface(event: Event) -> bool:
    """TRAN-2: an eligible type with a marker, whatever that marker is."""
    return is_eligible(event) and "surfaceOp" in event


def is_append(event: Event) -> bool:
    """TRAN-3: it entered at its own place, so a person saw it there."""
    return is_on_surface(event) and event["surfaceOp"] == "append"


def is_replacement(event: Event) -> bool:
    """TRAN-4: on the surface by any other marker, a malformed one included."""
    return is_on_surface(event) and event["surfaceOp"] != "append"


def transcript(events: Sequence[Event]) -> list[Event]:
    """TRAN-5, TRAN-6: what a person saw: append-origin events in log order, shadowed or not."""
    return [event for event in events if is_append(require_event(event))]


def transcript_messages(events: Sequence[Event]) -> list[Message]:
    """TRAN-7: the messages of the transcript; an event that projects to nothing has none."""
    projected = [project(event) for event in transcript(events)]
    return [message for message in projected if message is not None]
