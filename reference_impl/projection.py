"""Projection: from the nodes of the surface to the messages that the model is sent.

Page: ``spec/projection.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .event_log import Event, require_event
from .fold import Surface, fold
from .rejection import Rejection

Message = dict[str, Any]


def project(element: object) -> Message | None:
    """The message of one event as it stands (PROJ-9), or None. The marker plays no part (PROJ-7)."""
    event = require_event(element)
    kind = event.get("type")
    if kind == "user/message":  # PROJ-1, PROJ-6: verbatim, empty or not
        return require_object(event, "data", kind)
    if kind == "assistant/message":
        message = require_object(require_object(event, "data", kind), "message", kind)
        if not isinstance(message.get("content"), list):
            raise Rejection("event-shapeless", "an assistant/message must hold a content list")
        return message if message["content"] else None  # PROJ-2, PROJ-3
    if kind == "tool/result":  # PROJ-4, PROJ-6
        return require_object(require_object(event, "data", kind), "message", kind)
    return None  # PROJ-5


def require_object(holder: dict[str, Any], member: str, kind: str) -> dict[str, Any]:
    """LOG-1: a payload without the object that holds its message is no event that can be projected."""
    value = holder.get(member)
    if not isinstance(value, dict):
        raise Rejection("event-shapeless", f"{kind} must hold an object as its {member}")
    return value


def messages_of(surface: Surface, log: Sequence[Event]) -> list[Message]:
    """PROJ-8: the projections of the nodes, in surface order, without the ones that have none."""
    messages: list[Message] = []
    for seq in surface.nodes:
        try:
            message = project(log[seq])
        except Rejection as refusal:
            refusal.at = seq
            raise
        if message is not None:
            messages.append(message)
    return messages


def derive_messages(events: Sequence[Event]) -> list[Message]:
    """Fold a whole log, then project it (PROJ-10). Refuses whatever the fold refuses."""
    surface, _ = fold(events)
    return messages_of(surface, events)
