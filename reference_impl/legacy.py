"""Shapes of events that older writers left: brought up to date, or refused, when a stored log is read.

Page: ``spec/legacy.md``. Nothing here asks for versions, for types that nobody knows, or for the surface.
"""

from __future__ import annotations

from typing import Any

from .event_log import Event, require_event, shown_seq
from .marker import is_eligible
from .message_shape import check_message
from .rejection import Rejection
from .values import MAX_SAFE_INTEGER, is_number, is_seq, to_double

Record = dict[str, Any]
MessageIds = dict[float, object]
"""Ids of messages, each by the seq of its event."""

PLAIN_ENDINGS = ("completed", "blocked", "max-tokens", "interrupted")
"""Reasons for the end of a turn that say nothing beside their kind."""


def normalise(events: list[Any], session_id: str, first: int) -> list[Event]:
    """The events of a stored log in the shapes of today; the list that is given stays as it is.

    LEGA-4: retired shapes are looked for first, in the whole log. Then each event is brought up to
    date and its message is checked (LEGA-16), one event after the other. ``at`` of a refusal is an
    index, counted from ``first``.
    """
    require_events(events, first)
    refuse_retired(events, session_id, first)
    message_ids: MessageIds = {}
    current: list[Event] = []
    for index, event in enumerate(events, first):
        try:
            upgraded = upgrade(event, session_id, message_ids)
            if is_eligible(upgraded):
                check_message({"data": None, **upgraded}, index)
        except Rejection as refusal:
            refusal.at = index
            raise
        remember_message(upgraded, message_ids)
        current.append(upgraded)
    return current


def require_events(elements: list[Any], first: int) -> None:
    """LOG-1 for every element of a list."""
    for index, element in enumerate(elements, first):
        try:
            require_event(element)
        except Rejection as refusal:
            refusal.at = index
            raise


# -- retired ---------------------------------------------------------------------


def refuse_retired(events: list[Event], session_id: str, first: int) -> None:
    """LEGA-1 to LEGA-3, one after the other, each over the whole log."""
    for index, event in enumerate(events, first):
        if event.get("type") == "request/header-delta":
            raise Rejection(
                "legacy-header-delta",
                f'session "{session_id}" contains unsupported legacy request/header-delta event'
                f" at seq {shown_seq(event)}",
                index,
            )
    for index, event in enumerate(events, first):
        if event.get("type") == "mode/set":
            raise Rejection(
                "legacy-mode-set",
                f'session "{session_id}" contains unsupported legacy mode/set event'
                f" at seq {shown_seq(event)}",
                index,
            )
    for index, event in enumerate(events, first):
        if event.get("type") == "request/header" and has_reason_fallback(event.get("data")):
            raise Rejection(
                "legacy-header-fallback",
                f'session "{session_id}" contains unsupported legacy request/header reason "fallback"'
                f" at seq {shown_seq(event)}",
                index,
            )


def has_reason_fallback(data: object) -> bool:
    """LEGA-3: data that is no object has no reason."""
    return isinstance(data, dict) and data.get("reason") == "fallback"


# -- one event -------------------------------------------------------------------


def upgrade(event: Event, session_id: str, message_ids: MessageIds) -> Event:
    """One event in the shape of today. LEGA-17: what no rule names stays as it is."""
    kind = event.get("type")
    if kind == "turn/start":
        return upgrade_turn_start(event, session_id)
    if kind == "turn/end":
        return upgrade_turn_end(event, session_id)
    if kind == "steering/message":  # LEGA-10: a user's message now, and perhaps one without an id
        return upgrade_user(upgrade_steering(event, session_id), session_id)
    if kind == "user/message":
        return upgrade_user(event, session_id)
    if kind == "assistant/message":
        return upgrade_assistant(event, session_id)
    if kind == "tool/result":
        return upgrade_tool_result(event, session_id, message_ids)
    return event


def with_data(event: Event, data: object) -> Event:
    """The event with another payload."""
    return {**event, "data": data}


def has_exactly(record: Record, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> bool:
    """Whether a record has every required member, and none that is neither required nor optional."""
    missing = [name for name in required if name not in record]
    others = [name for name in record if name not in required and name not in optional]
    return not missing and not others


def malformed(event: Event, session_id: str) -> Rejection:
    """LEGA-5: neither a shape of today nor an old one that is known."""
    return Rejection(
        "legacy-malformed",
        f'session "{session_id}" contains malformed pre-react-loop {event["type"]} at seq {shown_seq(event)}',
    )


# -- turns -----------------------------------------------------------------------


def is_turn_number(value: object) -> bool:
    """A whole number from 1 to 2^53-1."""
    return is_seq(value) and value != 0


def upgrade_turn_start(event: Event, session_id: str) -> Event:
    """LEGA-6: a trigger is checked and dropped; a start without one is not looked at."""
    data = event.get("data")
    if not isinstance(data, dict) or "trigger" not in data:
        return event
    if not has_exactly(data, ("turn", "trigger")) or not is_turn_number(data["turn"]):
        raise malformed(event, session_id)
    if not is_trigger(data["trigger"]):
        raise malformed(event, session_id)
    return with_data(event, {"turn": data["turn"]})


def is_trigger(trigger: object) -> bool:
    """An object whose kind is a text that is not empty."""
    return isinstance(trigger, dict) and isinstance(trigger.get("kind"), str) and trigger["kind"] != ""


def upgrade_turn_end(event: Event, session_id: str) -> Event:
    """LEGA-7: the envelope of every end that has an object as its data, then its reason (LEGA-8, LEGA-9)."""
    data = event.get("data")
    if not isinstance(data, dict):
        return event
    if not has_exactly(data, ("turn", "reason")) or not is_turn_number(data["turn"]):
        raise malformed(event, session_id)
    reason = data["reason"]
    if not isinstance(reason, dict) or not isinstance(reason.get("kind"), str):
        raise malformed(event, session_id)
    current = current_reason(reason)
    if current is None:
        raise malformed(event, session_id)
    return with_data(event, {"turn": data["turn"], "reason": current})


def current_reason(reason: Record) -> Record | None:
    """LEGA-8: the reason in the shape of today, or None for a malformed one. Other kinds pass as they are."""
    kind = reason["kind"]
    if kind in PLAIN_ENDINGS:
        return reason if has_exactly(reason, ("kind",)) else None
    if kind == "aborted" and "reason" not in reason:
        return {"kind": "aborted", "reason": {"kind": "legacy"}} if has_exactly(reason, ("kind",)) else None
    if kind == "disposed":
        return {"kind": "aborted", "reason": {"kind": "disposed"}} if has_exactly(reason, ("kind",)) else None
    if kind == "error" and "error" not in reason:
        error = old_error(reason)
        return None if error is None else {"kind": "error", "error": error}
    return reason


def old_error(reason: Record) -> Record | None:
    """LEGA-9: what an error of a numbered step said, or None for a malformed one."""
    if not is_seq(reason.get("step")):
        return None
    if has_exactly(reason, ("kind", "step", "failure")):
        failure: Record = reason["failure"]
        return failure if is_failure(failure) else None
    if not has_exactly(reason, ("kind", "step", "message"), ("code",)):
        return None
    message, code = reason["message"], reason.get("code", "UNKNOWN")
    if not isinstance(message, str) or not isinstance(code, str):
        return None
    return {"message": message, "code": code}


def is_failure(failure: object) -> bool:
    """A message and a code as texts; perhaps two numbers and the id of a request."""
    optional = ("status", "providerRetryAfterMs", "requestId")
    if not isinstance(failure, dict) or not has_exactly(failure, ("message", "code"), optional):
        return False
    if not isinstance(failure["message"], str) or not isinstance(failure["code"], str):
        return False
    for name in ("status", "providerRetryAfterMs"):
        if name in failure and not is_number(failure[name]):
            return False
    return isinstance(failure.get("requestId", ""), str)


# -- messages --------------------------------------------------------------------


def upgrade_steering(event: Event, session_id: str) -> Event:
    """LEGA-10: a steering message is a user's; its turn is dropped."""
    data = event.get("data")
    if not isinstance(data, dict) or not is_safe_integer(data.get("turn")):
        raise malformed(event, session_id)
    if has_exactly(data, ("turn", "message")) and isinstance(data["message"], dict):
        return {**event, "type": "user/message", "data": data["message"]}
    if has_exactly(data, ("turn", "content", "source")):
        message = {"content": data["content"], "source": data["source"]}
        return {**event, "type": "user/message", "data": message}
    raise malformed(event, session_id)


def is_safe_integer(value: object) -> bool:
    """A whole number of at most 2^53-1 in size."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER and value == int(value)


def legacy_id(event: Event, session_id: str) -> str:
    """LEGA-14: the id of a message that was stored without one."""
    return f"legacy-message:{session_id}:{shown_seq(event)}"


def upgrade_user(event: Event, session_id: str) -> Event:
    """LEGA-11: content and source, and none of id, role and message."""
    data = event.get("data")
    if not isinstance(data, dict) or "content" not in data or "source" not in data:
        return event
    if "id" in data or "role" in data or "message" in data:
        return event
    return with_data(event, {**data, "id": legacy_id(event, session_id), "role": "user"})


def upgrade_assistant(event: Event, session_id: str) -> Event:
    """LEGA-12: content and provenance, and no message. The provenance becomes the source, of kind model."""
    data = event.get("data")
    if not isinstance(data, dict) or "message" in data:
        return event
    if "content" not in data or "provenance" not in data:
        return event
    provenance = data["provenance"] if isinstance(data["provenance"], dict) else {}
    message = {
        "id": legacy_id(event, session_id),
        "role": "assistant",
        "content": data["content"],
        "source": {**provenance, "kind": "model"},
    }
    return with_data(event, {**without(data, ("content", "provenance")), "message": message})


def upgrade_tool_result(event: Event, session_id: str, message_ids: MessageIds) -> Event:
    """LEGA-13: callId, content and isError, and no message."""
    data = event.get("data")
    if not isinstance(data, dict) or "message" in data:
        return event
    if "callId" not in data or "content" not in data or "isError" not in data:
        return event
    block = {
        "type": "tool-result",
        "toolCallId": data["callId"],
        "content": data["content"],
        "isError": data["isError"],
    }
    message = {
        "id": result_id(event, session_id, message_ids),
        "role": "user",
        "content": [block],
        "source": {"kind": "tool", "callId": data["callId"]},
    }
    return with_data(event, {**without(data, ("callId", "content", "isError")), "message": message})


def result_id(event: Event, session_id: str, message_ids: MessageIds) -> object:
    """LEGA-15: a result that replaces has the id of the message at its start.

    None stands for no message there, and is no id by LEGA-16.
    """
    marker = event.get("surfaceOp")
    if isinstance(marker, dict) and marker.get("op") == "replace" and is_number(marker.get("start")):
        return message_ids.get(to_double(marker["start"]))
    return legacy_id(event, session_id)


def remember_message(event: Event, message_ids: MessageIds) -> None:
    """LEGA-15: the id of each message as it is now, by the seq of its event."""
    message = event.get("data")
    if event.get("type") != "user/message":
        message = message.get("message") if isinstance(message, dict) else None
    if isinstance(message, dict) and is_number(event.get("seq")):
        message_ids[to_double(event["seq"])] = message.get("id")


def without(record: Record, names: tuple[str, ...]) -> Record:
    """A record with some of its members left out."""
    return {name: value for name, value in record.items() if name not in names}
