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
"""The number of a turn or step that has none: the turn is open and refused, the step is open, and is told
without a number. One whose number is null is not open."""


@dataclass
class Call:
    """A tool call without a result: the step that its message names, and the seq of its tool/call, if any."""

    step: Any
    seq: Any = None


@dataclass
class Tail:
    """What is open behind the events read so far; None where nothing is.

    ``opened_at`` is the index of the turn/start. ``calls`` are the calls without a result by their ids, in
    the order in which these came in: a map that keeps insertion order, or a list of pairs.
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
    found = closers_of(tail, int(last["seq"]) + 1, last.get("time"))
    if "time" not in last:  # absent is not null
        for closer in found:
            del closer["time"]
    return found


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
        tail.turn = require_object(event, "data", kind).get("turn", MISSING)
        tail.opened_at = at
        tail.step = None
        tail.calls = {}
    elif kind == "turn/end":  # CLOS-2: whichever number it carries; the rest is forgotten at the next start
        tail.turn = None
    elif kind == "step/start":  # CLOS-3: pending calls stay
        tail.step = require_object(event, "data", kind).get("step")
        if "step" not in event["data"]:
            tail.step = MISSING
    elif kind == "step/end":  # CLOS-3: whichever number it carries
        tail.step = None
        tail.calls = {}
    elif kind == "assistant/message":
        take_message(tail, require_object(event, "data", kind))
    elif kind == "tool/call":  # CLOS-5: the last one counts; one that nobody asked for does not
        call_id = require_object(event, "data", kind).get("callId")
        if isinstance(call_id, str) and call_id in tail.calls:
            tail.calls[call_id].seq = event.get("seq")
    elif kind == "tool/result":  # CLOS-6: a replacement too
        message = require_object(require_object(event, "data", kind), "message", kind)
        call_id = require_object(message, "source", kind).get("callId")
        if isinstance(call_id, str):
            tail.calls.pop(call_id, None)


def take_message(tail: Tail, data: dict[str, Any]) -> None:
    """CLOS-4: every call of an assistant's message waits, not started; an id that waits keeps its place."""
    content = require_object(data, "message", "assistant/message").get("content")
    if not isinstance(content, list):
        raise Rejection("event-shapeless", "an assistant/message must hold a content list")
    for block in content:
        if not isinstance(block, dict):
            raise Rejection("event-shapeless", f"a block of content must be an object, got {show(block)}")
        if block.get("type") == "tool-call":
            if not isinstance(block.get("id"), str):
                raise Rejection("event-shapeless", "the id of a tool-call block must be a text")
            tail.calls[block["id"]] = Call(data.get("step"))
            if "step" not in data:
                tail.calls[block["id"]].step = MISSING


def closers_of(tail: Tail, seq: int, time: Any) -> list[Event]:
    """CLOS-9: results in the order of the calls, then the step, then the turn; seqs go on, time does not."""
    found: list[Event] = []
    for call_id, call in tail.calls.items():
        found.append(result_of(call_id, call, tail.turn, seq, time))
        seq += 1
    if tail.step is not None:  # CLOS-13
        data = {"turn": tail.turn, "step": tail.step}
        if tail.step is MISSING:
            del data["step"]
        found.append({"type": "step/end", "seq": seq, "time": time, "data": data})
        seq += 1
    data = {"turn": tail.turn, "reason": {"kind": "interrupted"}}
    found.append({"type": "turn/end", "seq": seq, "time": time, "data": data})
    return found


def result_of(call_id: str, call: Call, turn: Any, seq: int, time: Any) -> Event:
    """CLOS-10: the result in place of the one that never came. CLOS-11 if it was started, else CLOS-12."""
    started = call.seq is not None
    block = {
        "type": "tool-result",
        "toolCallId": call_id,
        "isError": True,
        "content": [{"type": "text", "text": STARTED_TEXT if started else NOT_STARTED_TEXT}],
    }
    message = {
        "id": f"interrupted-tool-result-{call_id}-{seq}",
        "role": "user",
        "source": {"kind": "tool", "callId": call_id},
        "content": [block],
    }
    error = {
        "name": "ToolOutcomeUnknownError" if started else "ToolNotStartedError",
        "code": "TOOL_OUTCOME_UNKNOWN" if started else "TOOL_NOT_STARTED",
    }
    event = {
        "type": "tool/result",
        "seq": seq,
        "time": time,
        "data": {"turn": turn, "step": call.step, "message": message, "error": error},
        "surfaceOp": "append",
    }
    if call.step is MISSING:
        del event["data"]["step"]
    if started:
        event["sourceEventSeqs"] = [call.seq]
    return event
