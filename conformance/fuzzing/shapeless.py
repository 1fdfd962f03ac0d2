"""Input that is no event where an event is due, and payloads without what is read of them (LOG-1)."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import messages
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import Event, LogDraft, valid_draft

NO_EVENTS: tuple[Any, ...] = (None, "user/message", 0, 1.5, True, False, [], [{"type": "user/message"}], "")
NO_OBJECTS: tuple[Any, ...] = (None, "", "x", 0, True, [], [None], {}, {"content": None}, {"message": None})
NO_LISTS: tuple[Any, ...] = (None, "", "x", 0, True, {}, {"length": 0}, {"0": {}}, [None], [[]], ["x"], [0])
MESSAGE_KINDS = ("user/message", "assistant/message", "tool/result", "turn/start", "step/start", "tool/call")


def shapeless_event(draw: Draw, log: LogDraft) -> Any:
    """Something for the next place that some operation cannot read."""
    if draw.chance(30):
        return draw.choice(NO_EVENTS)
    kind = draw.choice(MESSAGE_KINDS)
    event: Event = {"type": kind, "seq": log.next_seq, "time": 0, "data": payload(draw)}
    if draw.chance(10):
        del event["data"]
    if "message" in kind or kind == "tool/result":
        event["surfaceOp"] = "append"
        results = [seq for seq in log.nodes if log.kind_of(seq) == "tool/result"]
        if results and draw.chance(50):
            event.update(type="tool/result", sourceEventSeqs=[results[0]])
            event["surfaceOp"] = {"op": "replace", "start": results[0], "end": results[0]}
    return event


def payload(draw: Draw) -> Any:
    """Data with a hole at some depth."""
    depth = draw.integer(0, 3)
    if depth == 0:
        return draw.choice(NO_OBJECTS)
    if depth == 1:
        return {"message": draw.choice(NO_OBJECTS)}
    message = {"id": "m", "source": draw.choice(({"kind": "tool", "callId": "c1"}, None, {}))}
    if depth == 2:
        return {"turn": 1, "step": 1, "message": {**message, "content": draw.choice(NO_LISTS)}}
    block = draw.choice(
        ({"type": "tool-call"}, {"type": "tool-call", "id": 7}, {"type": "tool-call", "id": None}, {})
    )
    return {"turn": 1, "step": 1, "message": {**message, "content": [block]}}


def shapeless_draft(draw: Draw, base: int = 0) -> LogDraft:
    """A short valid log, something shapeless, and perhaps more events behind it."""
    log = valid_draft(draw, base, average=2)
    if draw.chance(40):
        log.join("tool/result", messages.result(len(log.events), "c1", ("a",)))
    element = shapeless_event(draw, log)
    log.events.append(element)
    if draw.chance(30):
        marker = {"op": "replace", "start": log.next_seq - 1, "end": log.next_seq - 1}
        data = messages.result(0, "c1", ("a",))
        rewrite = {"type": "tool/result", "seq": log.next_seq, "time": 0, "data": data, "surfaceOp": marker}
        log.events.append({**rewrite, "sourceEventSeqs": [log.next_seq - 1]})
    return log
