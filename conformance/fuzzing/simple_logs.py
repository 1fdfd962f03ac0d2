"""Logs of the teaching version, old logs without markers, and single events."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import faults
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import Event, LogDraft, valid_draft
from conformance.fuzzing.messages import TEXTS
from conformance.fuzzing.respelling import odd_message, respell
from conformance.fuzzing.spelling import Members, Spelled
from conformance.fuzzing.values import TEXTS as ODD_TEXTS

NAMES = ("read", "", "a: b", "会")
MARKERS: tuple[Any, ...] = (
    "append",
    None,
    {"op": "replace", "start": 0, "end": 0},
    {},
    "",
    "Append",
    ["append"],
    False,
)


def teaching_log(draw: Draw) -> list[Event]:
    """A log of the teaching version."""
    events: list[Event] = []
    for _ in draw.repeat(5):
        kind = draw.choice(("user/message", "assistant/message", "tool/result", "assistant/chunk"))
        event: Event = {"type": kind, "text" if kind == "assistant/chunk" else "content": draw.choice(TEXTS)}
        if kind == "tool/result":
            event["name"] = draw.choice(NAMES)
        events.append(event)
    return events


def unmarked_log(draw: Draw, *, typed: bool = True) -> list[Event]:
    """A log from before markers; now and then one event has a marker all the same."""
    log = valid_draft(draw, average=5, typed=typed)
    events = [
        {name: value for name, value in event.items() if name not in ("surfaceOp", "sourceEventSeqs")}
        for event in log.events
    ]
    if events and draw.chance(30):
        draw.choice(events)["surfaceOp"] = draw.choice(MARKERS)
    if events and draw.chance(30):
        draw.choice(events)["sourceEventSeqs"] = draw.choice(([0], [], None))
    if events and draw.chance(30):
        draw.choice(events)["time"] = -1
    if events and draw.chance(20):
        draw.choice(events)["seq"] = draw.integer(0, 9)
    if len(events) > 1 and draw.chance(20):
        draw.choice(events)["data"] = (
            events[0]["data"] if events[0]["type"] == "user/message" else {"id": "m0"}
        )
        events = [event for event in events if readable(event)]
    return events


def readable(event: Event) -> bool:
    """Whether a projection finds what it reads."""
    data = event["data"]
    if event["type"] in ("assistant/message", "tool/result"):
        return isinstance(data, dict) and "message" in data
    return event["type"] != "user/message" or isinstance(data, dict)


def one_event(draw: Draw, *, typed: bool = True) -> Members:
    """One event, as it stands in a valid log or with a fault."""
    log = valid_draft(draw, average=2, typed=typed, finite=True)
    if log.events and draw.chance(50):
        event = draw.choice(log.events)
    elif draw.chance(50):
        event = faults.any_event(draw, log)
        event["surfaceOp"] = draw.choice(MARKERS)
    else:
        event = faults.spoiled_event(draw, log, draw.choice(faults.KINDS))
    return {"event": Spelled(event)}


def odd_event(draw: Draw) -> Members:
    """One message event with odd texts, or with an odd type."""
    log = LogDraft(typed=False)
    odd_message(draw, log)
    event = log.events[0]
    if draw.chance(30):
        event = {**event, "type": draw.choice((None, ["user/message"], *ODD_TEXTS))}
    return {"event": Spelled(respell(draw, event) if draw.chance(30) else event)}
