"""Closers: the events that end a turn which a crash cut off.

Page: ``spec/closers.md``. Nothing is validated beyond the members that are read: a log that the
fold would refuse has closers all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .event_log import Event, require_event
from .projection import require_object
from .rejection import Rejection
from .values import is_seq, show

STARTED_TEXT = (
    "The tool call was interrupted after it was recorded, but no result was durably recorded."
    " Its outcome is unknown. Decide whether to retry from the tool semantics: retry only if the operation is"
    " read-only or idempotent; if it may have side effects, first verify external state or ask the user."
    " Do not retry blindly."
)
NOT_STARTED_TEXT = (
    "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed."
)

MISSING: Any = object()
"""A number or an id that is not there. It opens a turn, a step or a call, while a turn or a step that is null
opens none; and it is written by leaving the member away."""


@dataclass
class Call:
    """A tool call without a result: its id, the step of its message, and the seq of its tool/call, if any."""

    id: Any
    step: Any
    seq: Any = None


@dataclass
class Tail:
    """What is open behind the events read so far; None where nothing is, MISSING where it has no number.

    ``opened_at`` is the index of the turn/start. ``calls`` are the calls without a result by the keys of
    their ids, in the order in which these came in: a map that keeps insertion order, or a list of pairs.
    """

    turn: Any = None
    opened_at: int | None = None
    step: Any = None
    calls: dict[str, Call] = field(default_factory=dict)


def closers(events: Sequence[object]) -> list[Event]:
    """CLOS-8, CLOS-14: the events to append to a log, so that its open turn ends; none where none is open.

    Raises Rejection with ``at``, the index in ``events``, where an event lacks what is read of it (LOG-1).
    """
    tail = tail_of(events)
    if tail.turn is None:
        return []
    if not is_seq(tail.turn) or tail.turn < 1:
        raise Rejection("event-shapeless", "an open turn must have a whole number from 1", tail.opened_at)
    last = require_event(events[-1])
    if not is_seq(last.get("seq")):
        raise Rejection("event-shapeless", "the last event must have a seq", len(events) - 1)
    return closers_of(tail, int(last["seq"]) + 1, last.get("time", MISSING))


def tail_of(events: Sequence[object]) -> Tail:
    """What the events leave open."""
    tail = Tail()
    for at, element in enumerate(events):
        try:
            take(tail, require_event(element), at)
        except Rejection as refusal:
            refusal.at = at
            raise
    return tail


def take(tail: Tail, event: Event, at: int) -> None:
    """One event. CLOS-7: other types change nothing, and of these nothing else is read."""
    kind = event.get("type")
    if kind == "turn/start":  # CLOS-1: whatever was open is forgotten
        tail.turn = members_of(event, "data", kind).get("turn", MISSING)
        tail.opened_at = at
        tail.step = None
        tail.calls = {}
    elif kind == "turn/end":  # CLOS-2: whichever number it carries; the rest is forgotten at the next start
        tail.turn = None
    elif kind == "step/start":  # CLOS-3: pending calls stay
        tail.step = members_of(event, "data", kind).get("step", MISSING)
    elif kind == "step/end":  # CLOS-3: whichever number it carries
        tail.step = None
        tail.calls = {}
    elif kind == "assistant/message":
        take_message(tail, require_object(event, "data", kind), at)
    elif kind == "tool/call":  # CLOS-5: the last one counts; one that nobody asked for does not
        key = key_of(members_of(event, "data", kind).get("callId", MISSING))
        if key in tail.calls:
            tail.calls[key].seq = event.get("seq")
    elif kind == "tool/result":  # CLOS-6: a replacement too
        message = require_object(require_object(event, "data", kind), "message", kind)
        key = key_of(members_of(message, "source", kind).get("callId", MISSING))
        tail.calls.pop(key, None)


def members_of(holder: dict[str, Any], member: str, kind: str) -> dict[str, Any]:
    """What a payload holds: nothing if it is no object. LOG-1: one that is null or missing is refused."""
    value = holder.get(member)
    if value is None:
        raise Rejection("event-shapeless", f"{kind} must not be without its {member}")
    return value if isinstance(value, dict) else {}


def take_message(tail: Tail, data: dict[str, Any], at: int) -> None:
    """CLOS-4: every call of an assistant's message waits, not started; an id that waits keeps its place."""
    content = require_object(data, "message", "assistant/message").get("content")
    if isinstance(content, str):  # it holds no blocks
        return
    if not isinstance(content, list):
        raise Rejection("event-shapeless", "an assistant/message must hold a content list")
    for place, block in enumerate(content):
        if block is None:
            raise Rejection("event-shapeless", "a block of content must not be null")
        if isinstance(block, dict) and block.get("type") == "tool-call":
            call_id = block.get("id", MISSING)
            key = key_of(call_id) or f"block {at} {place}"
            tail.calls[key] = Call(call_id, data.get("step", MISSING))


def key_of(call_id: object) -> str:
    """CLOS-4: a text that is the same for equal ids and no others; empty for an id that equals nothing."""
    if isinstance(call_id, list | dict):
        return ""
    return f"text {call_id}" if isinstance(call_id, str) else f"other {shown_id(call_id)}"


def shown_id(call_id: object) -> str:
    """An id as a part of another: a text as it is."""
    if call_id is MISSING:
        return "undefined"
    return "container" if isinstance(call_id, list | dict) else show(call_id)


def closers_of(tail: Tail, seq: int, time: Any) -> list[Event]:
    """CLOS-9: results in the order of the calls, then the step, then the turn; seqs go on, time does not."""
    found: list[Event] = []
    for call in tail.calls.values():
        found.append(result_of(call, tail.turn, seq, time))
        seq += 1
    if tail.step is not None:  # CLOS-13
        data = present({"turn": tail.turn, "step": tail.step})
        found.append(present({"type": "step/end", "seq": seq, "time": time, "data": data}))
        seq += 1
    data = {"turn": tail.turn, "reason": {"kind": "interrupted"}}
    found.append(present({"type": "turn/end", "seq": seq, "time": time, "data": data}))
    return found


def result_of(call: Call, turn: Any, seq: int, time: Any) -> Event:
    """CLOS-10: the result in place of the one that never came. CLOS-11 if it was started, else CLOS-12."""
    started = call.seq is not None
    block = {
        "type": "tool-result",
        "toolCallId": call.id,
        "isError": True,
        "content": [{"type": "text", "text": STARTED_TEXT if started else NOT_STARTED_TEXT}],
    }
    message = {
        "id": f"interrupted-tool-result-{shown_id(call.id)}-{seq}",
        "role": "user",
        "source": present({"kind": "tool", "callId": call.id}),
        "content": [present(block)],
    }
    error = {
        "name": "ToolOutcomeUnknownError" if started else "ToolNotStartedError",
        "code": "TOOL_OUTCOME_UNKNOWN" if started else "TOOL_NOT_STARTED",
    }
    event = {
        "type": "tool/result",
        "seq": seq,
        "time": time,
        "data": present({"turn": turn, "step": call.step, "message": message, "error": error}),
        "surfaceOp": "append",
    }
    if started:
        event["sourceEventSeqs"] = [call.seq]
    return present(event)


def present(members: dict[str, Any]) -> dict[str, Any]:
    """An object of those members that are not missing."""
    return {name: value for name, value in members.items() if value is not MISSING}
