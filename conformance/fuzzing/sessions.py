"""Headers and logs for admission, and forks: what becomes a session and what does not."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import faults, headers, interrupted, logs, messages
from conformance.fuzzing.alterations import JUNK, altered
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import Event, LogDraft, valid_draft
from conformance.fuzzing.spelling import Members, Spelled, raw
from conformance.fuzzing.values import ABSENT, FINITE_NOT_SEQS, FINITE_UNEQUAL

IDS = ("s", "session-1", "", "a b")
HEADER: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("cwd", ("/work", "/", "work", "", "./x", None, 1, " /x", "~/x", "/x ")),
    ("parentSession", ("p", "", None, 1)),
    ("seedLength", (0, 5, -1, 0.5, "1", None)),
    ("origin", ("subagent", "user", "", None, "Subagent", ["subagent"])),
    ("delegationDepth", (0, 1, -1, None, True)),
    ("agentPreset", ("plan", "", None, [])),
    ("note", (1, None, [0, raw("-0")])),
)
RETIRED: tuple[tuple[str, Any], ...] = (
    ("request/header-delta", {}),
    ("request/header", {"header": {"config": {"provider": "p", "model": "m"}}, "reason": "fallback"}),
    ("mode/set", {"mode": "x"}),
    ("steering/message", {"turn": 1, "content": []}),
    ("unknown/type", None),
    ("", {}),
)


def session_header(draw: Draw, session_id: str) -> Any:
    """A header, most often a sound one."""
    found: dict[str, Any] = {"version": 0, "id": session_id, "createdAt": 1000}
    for name, values in HEADER:
        if draw.chance(25):
            found[name] = values[0] if draw.chance(70) else draw.choice(values)
    if draw.chance(25):
        found[draw.choice(("version", "id", "createdAt"))] = draw.choice(
            (*FINITE_NOT_SEQS, raw("-0"), raw("0.0"), 1)
        )
    if draw.chance(6):
        del found[draw.choice(("version", "id", "createdAt"))]
    if draw.chance(12):
        found["id"] = draw.choice((session_id.upper(), f" {session_id}", [session_id], f"{session_id} "))
    if draw.chance(10):
        found = dict(reversed(found.items()))
    if draw.chance(3):
        return draw.choice(JUNK)
    return found


def seed_log(draw: Draw) -> LogDraft:
    """A log that may have been a session: turns, request headers, perhaps the mark of a seed at its end."""
    log = valid_draft(draw, average=4)
    if draw.chance(30):
        log.add(
            "request/header",
            {"header": headers.header(draw), "reason": draw.choice(("start", "fallback", None))},
        )
    if draw.chance(15):
        log.add(
            draw.choice(("unknown/type", "x", "request/header-delta-2", "")),
            draw.choice((None, {"reason": "fallback"})),
        )
    if draw.chance(15):
        user = messages.user(len(log.events), ("a",))
        log.join(
            "user/message", {**user, "source": {"kind": draw.choice(("tool", "x"))}, "message": {"role": "x"}}
        )
    if draw.chance(20):
        log.add("session/end-seed", draw.choice(({}, None, 1)))
    if draw.chance(20):
        for event in log.events:
            event["time"] = draw.choice((-5, logs.LAST_SEQ, -logs.LAST_SEQ, 0, 7))
    return log


def spoiled_seed(draw: Draw) -> list[Any]:
    """The same with a fault: in an envelope, in a message, in a payload, or in the surface."""
    log = seed_log(draw)
    way = draw.integer(0, 5)
    if way == 0:
        return faults.nearly_valid_log(draw, typed=False, finite=True)
    if way == 1:
        kind, data = draw.choice(RETIRED)
        log.add(kind, data)
        if draw.chance(25):
            log.events[-1] = spoil_envelope(draw, log.events[-1])
        return log.events
    if way == 2 and draw.chance(20):
        return [*log.events, draw.choice(("x", [], 0, True))]
    if not log.events:
        logs.add_user(draw, log)
    events: list[Any] = list(log.events)
    place = draw.integer(0, len(events) - 1)
    if way > 3 or draw.chance(25):
        events[place] = spoil_payload(draw, events[place])
    if way == 3:
        events[place] = spoil_envelope(draw, events[place])
    return events


def spoil_envelope(draw: Draw, event: Event) -> Event:
    """An event with another envelope; now and then a sound one."""
    way = draw.integer(0, 3)
    if way == 0:
        gone = draw.choice(("type", "seq", "time", "data"))
        return {name: value for name, value in event.items() if name != gone}
    if way == 1:
        return {**event, "ignorable": draw.choice((True, False, None, 1, "true"))}
    if way == 2:
        return {**event, draw.choice(("note", "Type", "")): draw.choice(JUNK)}
    name = draw.choice(("type", "seq", "time", "time"))
    return {
        **event,
        name: draw.choice((*FINITE_NOT_SEQS, raw("-0"), -5, raw("1.0"), raw("9007199254740992.0"))),
    }


def spoil_payload(draw: Draw, event: Event) -> Event:
    """An event with a change anywhere inside its data."""
    return {**event, "data": altered(draw, event["data"])}


def lossy(draw: Draw, value: Any, depth: int) -> Any:
    """A copy with a number somewhere inside that JSON does not bring back."""
    if depth and isinstance(value, list) and value:
        place = draw.integer(0, len(value) - 1)
        return [*value[:place], lossy(draw, value[place], depth - 1), *value[place + 1 :]]
    if depth and isinstance(value, dict) and value:
        name = draw.choice(sorted(value))
        return {**value, name: lossy(draw, value[name], depth - 1)}
    number = draw.choice((raw("-0"), raw("1e400"), raw("-1e400"), raw("1" * 400), raw("-0.0")))
    return draw.choice((number, [1, number], {"__proto__": number, "a": 1}, {"__proto__": 1}))


def admit_request(draw: Draw) -> Members:
    """A header and a log, of which at most a few are faulty."""
    session_id = draw.choice(IDS)
    members: Members = {"sessionId": session_id}
    members["header"] = Spelled(session_header(draw, session_id))
    if not draw.chance(8):
        members["events"] = Spelled(seed_log(draw).events if draw.chance(35) else spoiled_seed(draw))
    return members


def altered_request(draw: Draw) -> Members:
    """A sound session with a few messages and request headers, of which one is changed, seldom twice."""
    log = LogDraft()
    for _ in range(1 + draw.integer(0, 1)):
        if draw.chance(30):
            data = {"header": headers.sound_header(draw), "reason": draw.choice(("start", "change", None))}
            log.add("request/header", data)
        else:
            draw.choice((logs.add_user, logs.add_assistant, logs.add_result, logs.add_result))(draw, log)
    event = draw.choice(log.events)
    if event["type"] == "tool/result" and draw.chance(15):
        event["data"] = with_ids(event["data"], *draw.choice(FINITE_UNEQUAL))
    for _ in range(1 + draw.chance(25)):
        event["data"] = altered(draw, event["data"])
    return {
        "sessionId": "s",
        "header": {"version": 0, "id": "s", "createdAt": 1000},
        "events": Spelled(log.events),
    }


def with_ids(data: Any, call: Any, source: Any) -> Any:
    """The data of a tool result whose block and whose source name the call otherwise; ABSENT for none."""
    message = data["message"]
    block, *rest = message["content"]
    content = [without_absent({**block, "toolCallId": call}), *rest]
    named = without_absent({**message["source"], "callId": source})
    return {**data, "message": {**message, "content": content, "source": named}}


def without_absent(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not ABSENT}


def borrowed_request(draw: Draw) -> Members:
    """The same for a caller, who may leave the header out."""
    members = admit_request(draw)
    if draw.chance(40):
        del members["header"]
    if draw.chance(20) and "events" in members:
        log = seed_log(draw).events
        members["events"] = Spelled(lossy(draw, log, draw.integer(2, 7)) if log else [lossy(draw, 0, 0)])
    return members


def fork_request(draw: Draw) -> Members:
    """A fork of a session at some boundary."""
    log = seed_log(draw)
    if draw.chance(30):
        log.events = interrupted.lifecycle_log(draw)
        for place, event in enumerate(log.events):
            event["seq"] = place
        if draw.chance(30):
            log.add("session/end-seed", {})
    if log.events and draw.chance(15):
        place = draw.integer(0, len(log.events) - 1)
        log.events[place] = {**log.events[place], "seq": draw.integer(0, len(log.events) + 1)}
    if draw.chance(40):
        logs.add_turn(draw, log)
        log.events = log.events[: draw.integer(0, len(log.events))]
    header: dict[str, Any] = {"version": 0, "id": "s", "createdAt": 1000}
    for name, values in HEADER[:-1]:
        if draw.chance(25):
            header[name] = values[0]
    members: Members = {"header": header, "events": Spelled(log.events)}
    if draw.chance(70):
        places = (
            *range(len(log.events) + 1),
            *range(len(log.events)),
            *FINITE_NOT_SEQS,
            raw("1.0"),
            raw("-0"),
        )
        members["boundary"] = Spelled(draw.choice(places))
    if draw.chance(40):
        members["childId"] = draw.choice(("child", "s", "taken", "session-1", ""))
    if draw.chance(40):
        members["taken"] = draw.choice(
            (["taken"], ["session-1"], ["session-1", "session-2"], ["session-2"], [])
        )
    if draw.chance(10):
        members["sourceId"] = draw.choice(("s", "other", ""))
    return members


def lossy_script(draw: Draw) -> Members:
    """Appends to a live session that are refused before the surface is asked, and some that only look so."""
    steps: list[dict[str, Any]] = []
    for place in draw.repeat(3):
        event: dict[str, Any] = {
            "type": "user/message", "data": messages.user(place, ("a",)), "surfaceOp": "append",
        }  # fmt: skip
        for name in ("data", "surfaceOp"):
            if draw.chance(25):
                event[name] = lossy(draw, event[name], draw.integer(0, 4))
        if draw.chance(25):
            event["sourceEventSeqs"] = [raw("-0")]
        if draw.chance(10):
            event["surfaceOp"] = {"op": "replace", "start": raw("-0"), "end": 0}
        if draw.chance(30):
            event["type"], event["data"] = draw.choice(RETIRED)
            event.pop("surfaceOp", None)
        if draw.chance(20):
            header = {"header": headers.header(draw), "reason": "start"}
            event["type"], event["data"] = "request/header", altered(draw, header)
            event.pop("surfaceOp", None)
        if draw.chance(10):
            event["type"] = draw.choice(("note", "request/header-delta"))
        if draw.chance(10):
            event["data"] = draw.choice(
                (raw("-0"), raw("1e400"), {"reason": "fallback"}, {"header": {}}, {"id": ""})
            )
        steps.append({"append": event})
    return {"steps": Spelled([*steps, {"observe": ["nodes"]}])}


def seeded_script(draw: Draw) -> Members:
    """A live session that begins with a log."""
    log = seed_log(draw) if draw.chance(70) else None
    seed = spoiled_seed(draw) if log is None else log.events
    known = log or LogDraft()
    steps: list[dict[str, Any]] = [{"observe": ["nodes", "messages"]}]
    for _ in draw.repeat(2):
        place = len(known.events)
        steps.append(
            {"append": {"type": "user/message", "data": messages.user(place, ("a",)), "surfaceOp": "append"}}
        )
        steps.append({"observe": draw.choice((["nodes", "messages"], ["events"]))})
    return {"seed": Spelled(seed), "steps": steps}
