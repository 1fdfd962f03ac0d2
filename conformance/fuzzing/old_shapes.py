"""Logs with events in the shapes of before, among such of today, most often with one fault."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import logs
from conformance.fuzzing.alterations import NUMBERS, altered
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import Event, LogDraft
from conformance.fuzzing.messages import content_of, user
from conformance.fuzzing.spelling import Members, Spelled, raw

Data = dict[str, Any]

FAILURE: Data = {"message": "m", "code": "C"}
REASONS: tuple[Data, ...] = (
    {"kind": "completed"}, {"kind": "blocked"}, {"kind": "max-tokens"}, {"kind": "interrupted"},
    {"kind": "aborted"}, {"kind": "aborted", "reason": {"kind": "user"}}, {"kind": "disposed"},
    {"kind": "error", "error": FAILURE},
    {"kind": "error", "step": 1, "message": "m"}, {"kind": "error", "step": 0, "message": "m", "code": "C"},
    {"kind": "error", "step": 1, "failure": FAILURE},
    {"kind": "error", "step": 1, "failure": {**FAILURE, "status": 500, "requestId": "r"}},
    {"kind": "error", "step": 1, "failure": {**FAILURE, "providerRetryAfterMs": 1.5}},
    {"kind": "zzz"}, {"kind": "zzz", "more": 1},
)  # fmt: skip
"""How a turn can have ended, told as today and as before."""
STARTS: tuple[Any, ...] = (
    {"turn": 1, "trigger": {"kind": "user"}}, {"turn": 1, "trigger": {"kind": "user"}}, {"turn": 1}, {},
    {"turn": 0}, None,
)  # fmt: skip
RETIRED: tuple[tuple[str, Any], ...] = (
    ("request/header-delta", {"header": {}}),
    ("request/header-delta", None),
    ("mode/set", {"mode": "x"}),
    ("request/header", {"header": {"config": {"provider": "p", "model": "m"}}, "reason": "fallback"}),
)
"""Events that refuse a log."""
AS_RETIRED: tuple[tuple[str, Any], ...] = (
    ("todo/mode", {"mode": "x"}), ("mode", None), ("mode/sets", {}), ("request/header", {"reason": "start"}),
    ("request/header", {"reason": "Fallback"}), ("request/headers", {"reason": "fallback"}),
    ("note", {"reason": "fallback"}), ("request/header", None), ("turn/start", {"reason": "fallback"}),
)  # fmt: skip
"""Events that look as if they did."""
DECIDING: dict[str, tuple[str, ...]] = {
    "user/message": ("id", "role", "message"),
    "assistant/message": ("message",),
    "tool/result": ("message",),
    "turn/start": ("trigger", "step"),
    "steering/message": ("message", "content", "source", "note"),
    "turn/end": ("reason", "error", "code", "step", "message", "failure", "note"),
}
"""Names that tell a shape of today from one of before; the end of a turn has them in its reason."""
KEEPING = tuple(piece for piece in logs.DENSE if piece is not logs.add_rewrite)
MORE: tuple[Data, ...] = ({}, {}, {}, {"note": 1}, {"usage": {"n": 1}})
"""What an old payload may hold beside what is known."""


def add_start(draw: Draw, log: LogDraft) -> None:
    log.add("turn/start", draw.choice(STARTS))


def add_end(draw: Draw, log: LogDraft) -> None:
    data: Any = {"turn": 1, "reason": draw.choice(REASONS)}
    log.add("turn/end", draw.choice((None, "x", [])) if draw.chance(5) else data)


def add_old_user(draw: Draw, log: LogDraft) -> None:
    log.join("user/message", {"content": content_of(("a",)), "source": {"kind": "user"}, **draw.choice(MORE)})


def add_steering(draw: Draw, log: LogDraft) -> None:
    bare = {"content": content_of(("a",)), "source": {"kind": "user"}}
    wrapped = draw.choice((bare, user(len(log.events), ("a",))))
    rest: Data = draw.choice((bare, {"message": wrapped}))
    log.join("steering/message", {"turn": draw.choice((1, 0, -1)), **rest})


def add_old_assistant(draw: Draw, log: LogDraft) -> None:
    more: Data = draw.choice(({}, {}, {"kind": "other"}, {"note": 1}))
    provenance = {"provider": "p", "model": "m", **more}
    data = {"turn": 1, "step": 1, "content": content_of(("a",)), "provenance": provenance}
    log.join("assistant/message", {**data, **draw.choice(MORE)})


def add_old_result(draw: Draw, log: LogDraft) -> None:
    """A result of before, which may take the place of a node, or of something that is none."""
    data = {
        "turn": 1, "step": 1, "callId": "c1", "content": content_of(("a",)), "isError": not draw.chance(50),
        **draw.choice(MORE),
    }  # fmt: skip
    seq = log.join("tool/result", data)
    if not draw.chance(50) or not seq:
        return
    start = draw.choice(NUMBERS) if draw.chance(20) else draw.integer(0, seq - 1)
    end = start if draw.chance(60) else draw.integer(0, seq - 1)
    op = "replace" if not draw.chance(10) else draw.choice(("append", "", "Replace"))
    log.events[-1] |= {"surfaceOp": {"op": op, "start": start, "end": end}, "sourceEventSeqs": [start]}


def add_retired(draw: Draw, log: LogDraft) -> None:
    log.add(*draw.choice(RETIRED if not draw.chance(60) else AS_RETIRED))
    if draw.chance(25):
        log.events[-1]["ignorable"] = True


def add_with_message(draw: Draw, log: LogDraft) -> None:
    """An event that never joins the surface and holds a message, with an id that a result could take."""
    log.add(draw.choice(("note", "tool/call", "turn/step")), {"message": user(len(log.events), ("a",))})


def add_of_today(draw: Draw, log: LogDraft) -> None:
    draw.choice(KEEPING)(draw, log)


OLD = (
    add_start, add_end, add_end, add_end, add_old_user, add_old_user, add_steering, add_steering,
    add_old_assistant, add_old_assistant, add_old_result, add_old_result, add_old_result, add_old_result,
    add_with_message, add_of_today, add_of_today,
)  # fmt: skip
SESSIONS = ("s", "s", "a b", "0", "会")


def old_events(draw: Draw) -> list[Event]:
    """Some events, of which one may be altered anywhere, and one may be of a retired type."""
    log = LogDraft()
    for _ in draw.repeat(2):
        draw.choice(OLD)(draw, log)
    if draw.chance(12):
        for _ in draw.repeat(1):
            add_retired(draw, log)
    events = log.events
    if events and draw.chance(70):
        place = draw.integer(0, len(events) - 1)
        events[place] = draw.choice((altered_event, altered_event, half_old))(draw, events[place])
    if events and draw.chance(15):
        event = draw.choice(events)
        event[draw.choice(("note", "ignorable"))] = draw.choice((True, 1, False))
    if events and draw.chance(10):
        event = draw.choice(events)
        if type(event.get("seq")) is int:
            seq = event["seq"]
            event["seq"] = draw.choice((raw(f"{seq}.0"), raw(f"{seq}e0")))
    return events


def half_old(draw: Draw, event: Event) -> Event:
    """An event that also has a member of its other shape, or one that neither has."""
    data = event["data"]
    if not isinstance(data, dict) or event["type"] not in DECIDING:
        return event
    member: Data = {draw.choice(DECIDING[event["type"]]): draw.choice((None, None, {}, "x", "", 1))}
    if event["type"] == "turn/end":
        member = {"reason": {**data["reason"], **member}}
    return {**event, "data": {**data, **member}}


def altered_event(draw: Draw, event: Event) -> Event:
    """Most often it is the payload that is altered."""
    if draw.chance(85) and isinstance(event.get("data"), dict):
        return {**event, "data": altered(draw, event["data"])}
    return {**altered(draw, event), "seq": event["seq"]}  # a refusal names it, and may count by it


def old_log(draw: Draw) -> Members:
    """A request to bring a log up to date."""
    return {"sessionId": draw.choice(SESSIONS), "events": Spelled(old_events(draw))}
