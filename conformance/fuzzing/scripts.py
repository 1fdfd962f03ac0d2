"""Scripts for what lives: steps over an incremental view, and over a session that is appended to."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import faults, messages
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import DENSE, Event, LogDraft
from conformance.fuzzing.rewrites import put_at
from conformance.fuzzing.values import value_pair

Step = dict[str, Any]
OBSERVED = (
    ["nodes", "replaceGeneration"], ["messages"], ["nodes", "messages"], ["events"],
    ["replaceGeneration", "messages"],
)  # fmt: skip
HELD = ("messages", "events", "nodes")
KEYS = ("first", "second")


def next_event(draw: Draw, log: LogDraft) -> Event:
    """A valid event for the next place; the log and its nodes are as they were."""
    events, nodes = list(log.events), list(log.nodes)
    draw.choice(DENSE)(draw, log)
    event = log.events[len(events)]
    log.events, log.nodes = events, nodes
    return event


def take(log: LogDraft, event: Event) -> None:
    """Put a valid event at the end of the log."""
    marker = event.get("surfaceOp")
    if isinstance(marker, dict):
        first, last = log.nodes.index(marker["start"]), log.nodes.index(marker["end"])
        log.nodes[first : last + 1] = [event["seq"]]
    elif marker is not None:
        log.nodes.append(event["seq"])
    log.events.append(event)


def view_script(draw: Draw, base: int = 0, *, typed: bool = True) -> list[Step]:
    """Steps for ``surface.live``: pushes, checks, faults and their repair, reads."""
    log = LogDraft(base, typed=typed)
    steps: list[Step] = []
    checked: Event | None = None
    usable = False
    for _ in draw.repeat(7):
        way = draw.integer(0, 9)
        if way < 4:
            event = next_event(draw, log)
            steps.append({"push": event})
            take(log, event)
        elif way < 6:
            checked = next_event(draw, log)
            usable = True
            steps.append({"validate": checked})
        elif way == 6:
            spoiled = spoiled_next(draw, log)
            steps.append({"validate": spoiled})
            checked, usable = spoiled, False
        elif way == 7 and checked is not None:
            steps.append({"pushValidated": True})
            if usable and checked["seq"] == log.next_seq and fits(log, checked):
                take(log, checked)
            else:
                repair(draw, log, steps)
        elif way == 8:
            alike = None if typed or checked is None else lookalike_of(checked)
            steps.append({"push": spoiled_next(draw, log) if alike is None else alike})
            repair(draw, log, steps)
        else:
            steps.append({"observe": True})
    steps.append({"observe": True})
    return steps


def lookalike_of(event: Event) -> Event | None:
    """An event that many languages take for equal, with a boolean for a 0 or 1; None where there is none."""
    for name in ("seq", "sourceEventSeqs"):
        value = event.get(name)
        number = value[0] if isinstance(value, list) and value else value
        if type(number) is int and number in (0, 1):
            swapped = number == 1
            return {**event, name: [swapped, *value[1:]] if isinstance(value, list) else swapped}
    return None


def fits(log: LogDraft, event: Event) -> bool:
    """Whether the ends of an event's range are still nodes, in order."""
    marker = event.get("surfaceOp")
    if not isinstance(marker, dict):
        return True
    start, end = marker["start"], marker["end"]
    if start not in log.nodes or end not in log.nodes:
        return False
    first, last = log.nodes.index(start), log.nodes.index(end)
    return first <= last and set(log.nodes[first : last + 1]) <= set(event["sourceEventSeqs"])


def repair(draw: Draw, log: LogDraft, steps: list[Step]) -> None:
    """What was pushed is refused by every read, until another event takes its place."""
    for _ in draw.repeat(1):
        steps.append({"observe": True} if draw.chance(60) else {"validate": next_event(draw, log)})
    event = next_event(draw, log)
    steps.append({"amend": event})
    take(log, event)


def spoiled_next(draw: Draw, log: LogDraft) -> Event:
    """A faulty event for the next place; whatever a fault puts in front of itself is left out."""
    kept, nodes = list(log.events), list(log.nodes)
    event = faults.spoiled_event(draw, log, draw.choice(faults.KINDS))
    log.events, log.nodes = kept, nodes
    return event


def session_script(draw: Draw, *, isolation: bool = False, typed: bool = True) -> list[Step]:
    """Steps for ``session.live``: appends that are right or faulty, reads, and values that are held on to."""
    log = LogDraft(typed=typed, finite=True)
    steps: list[Step] = []
    held: set[str] = set()
    sound: set[str] = set()  # kept, and nobody has tried to change it
    for _ in draw.repeat(8):
        way = draw.integer(0, 11)
        if way < 5:
            event = next_event(draw, log)
            if event["type"] == "tool/result" and draw.chance(15):
                event = {**event, "data": put_at(event["data"], ("meta",), value_pair(draw, finite=True)[0])}
            take(log, event)
            steps.append(append(event))
        elif way < 7:
            steps.append(append(spoiled_append(draw, log)))
        elif way < 9 or (way > 9 and not held):
            steps.append({"observe": draw.choice(OBSERVED)})
        elif way == 9:
            key = draw.choice(KEYS)
            held.add(key)
            sound.add(key)
            steps.append({"hold": draw.choice(HELD), "as": key})
        elif sound and (way == 10 or not isolation):
            steps.append({"recheck": draw.choice(sorted(sound))})
        else:
            key = draw.choice(sorted(held))
            sound.discard(key)
            steps.append({"mutate": key, "how": draw.choice(("grow", "edit"))})
    steps.extend({"recheck": key} for key in sorted(sound))
    steps.append({"observe": ["nodes", "replaceGeneration", "messages"]})
    return steps


NOT_SEQ_FAULTS = tuple(kind for kind in faults.KINDS if kind != "seq-not-contiguous")


def spoiled_append(draw: Draw, log: LogDraft) -> Event:
    """A faulty event of which only what an append is given counts."""
    kept, nodes = list(log.events), list(log.nodes)
    event = faults.any_event(draw, log)
    faults.FAULTS[draw.choice(NOT_SEQ_FAULTS)](draw, log, event)
    log.events, log.nodes = kept, nodes
    if still_valid(log, event):
        event["surfaceOp"] = None
    return event


def still_valid(log: LogDraft, event: Event) -> bool:
    """Whether a fault may have missed: then the script would not know the surface any more."""
    eligible = event["type"] in (
        "user/message",
        "assistant/message",
        "tool/result",
    )  # a list is equal to none
    if not eligible:
        return "surfaceOp" not in event and "sourceEventSeqs" not in event
    if event.get("surfaceOp") == "append":
        sources = event.get("sourceEventSeqs", [0])
        return type(sources) is list and all(type(seq) is int and seq < log.next_seq for seq in sources)
    marker = event.get("surfaceOp")
    return type(marker) is dict and marker.get("start") in log.nodes and marker.get("end") in log.nodes


def append(event: Event) -> Step:
    """What a live session is given of an event."""
    members = ("type", "data", "surfaceOp", "sourceEventSeqs")
    given = {name: event[name] for name in members if name in event}
    return {"append": given if type(event["type"]) is str else {**given, "type": "note"}}


def empty_then_full(draw: Draw) -> list[Step]:
    """Appends of messages of which some project to nothing, with reads between: a cache must not miscount."""
    log = LogDraft()
    steps: list[Step] = []
    for _ in draw.repeat(5):
        if draw.chance(40):
            log.join("assistant/message", messages.assistant(len(log.events), ()))
        else:
            draw.choice(DENSE)(draw, log)
        steps.append(append(log.events[-1]))
        if draw.chance(70):
            steps.append({"observe": ["nodes", "messages"]})
    return [*steps, {"observe": ["messages"]}]
