"""Logs that break off in the middle of a turn, for the events that repair them."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import messages
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import Event, LogDraft, add_noise, add_turn, add_user
from conformance.fuzzing.spelling import odd, raw

CALLS = ("A", "B", "10", "9", "a", "", " A", "会", "B:1", "x" * 70)
ODD_CALLS = (*CALLS, odd("\ud83d"), "a\0b", odd("\ud800"), "__proto__", "constructor")
TIMES = (0, 10, -5, 1_755_072_000_000, 2**53 - 1, -(2**53 - 1))
NUMBERS = (1, 2, 3, 7, 2**31, 2**32 + 1, 2**53 - 1)
STEPS = (1, 2, 0, 9)
BLOCK_TYPES = ("text", "tool-result", "tool-calls", "Tool-Call", "thinking", "tool-call-delta")


def cut_session(draw: Draw) -> list[Event]:
    """A session as it is written, cut off anywhere."""
    log = LogDraft()
    if draw.chance(30):
        add_turn(draw, log)
    add_turn(draw, log)
    kept = draw.integer(0, len(log.events))
    return log.events[:kept]


def lifecycle_log(draw: Draw, *, typed: bool = True) -> list[Event]:
    """Starts, ends, messages with calls, starts and results of calls, in any order and with any numbers."""
    log = LogDraft(typed=typed)
    every = CALLS if typed else ODD_CALLS
    calls = tuple(draw.choice(every) for _ in range(3))
    if not draw.chance(15):
        boundary(draw, log, "turn/start")
    for _ in draw.repeat(6):
        way = draw.integer(0, 19)
        if way < 5:
            ask(draw, log, calls)
        elif way < 8:
            started = messages.call(draw.choice(calls), draw.choice(NUMBERS), draw.choice(STEPS))
            log.add("tool/call", started)
        elif way < 11:
            answer(draw, log, calls)
        elif way < 14:
            boundary(draw, log, "step/start")
        elif way < 16:
            boundary(draw, log, draw.choice(("step/end", "turn/start", "turn/end")))
        elif way == 16:
            add_user(draw, log)
        elif way == 17:
            lookalike(draw, log, calls)
        else:
            add_noise(draw, log)
    if draw.chance(30):
        for event in log.events:
            event["time"] = draw.choice(TIMES)
    if draw.chance(25):
        shift = draw.choice((5, 2**31, 2**40))
        for event in log.events:
            event["seq"] += shift
    if not typed:
        if log.events and draw.chance(8):
            draw.choice(log.events)["seq"] += draw.integer(1, 60)
        for event in log.events:
            if draw.chance(20):
                untyped(draw, event)
    return log.events


def boundary(draw: Draw, log: LogDraft, kind: str) -> None:
    """The start or end of a turn or of a step, with whatever number."""
    data: dict[str, Any] = {"turn": draw.choice(NUMBERS)}
    if kind.startswith("step"):
        data["step"] = draw.choice(STEPS)
    if kind == "turn/end":
        data["reason"] = {"kind": draw.choice(("completed", "interrupted", "aborted"))}
    log.add(kind, data)


def ask(draw: Draw, log: LogDraft, calls: tuple[str, ...]) -> None:
    """A message of the assistant with text and calls in any order."""
    content: list[dict[str, Any]] = []
    for _ in draw.repeat(2):
        if draw.chance(25):
            content.append({"type": draw.choice(BLOCK_TYPES), "id": draw.choice(calls), "text": "t"})
        else:
            content.append(messages.call_block(draw.choice(calls)))
    plain = messages.assistant(len(log.events), (), (), draw.choice(NUMBERS), draw.choice(STEPS))
    log.join("assistant/message", {**plain, "message": {**plain["message"], "content": content}})


def answer(draw: Draw, log: LogDraft, calls: tuple[str, ...]) -> None:
    """A result that appends itself, or replaces the last node."""
    data = messages.result(len(log.events), draw.choice(calls), ("r",))
    if draw.chance(20):
        first = data["message"]["content"][0]
        other = {**first, "toolCallId": draw.choice(calls)}
        data = {**data, "message": {**data["message"], "content": [other]}}
    if draw.chance(10):
        written_id = f"interrupted-tool-result-{data['message']['source']['callId']}-4"
        data = {**data, "message": {**data["message"], "id": written_id}}
    if draw.chance(15):
        data = {**data, "error": {"name": "ToolNotStartedError", "code": "TOOL_NOT_STARTED"}}
    if log.nodes and draw.chance(25):
        log.replace("tool/result", data, len(log.nodes) - 1, len(log.nodes) - 1, [log.nodes[-1]])
    else:
        log.join("tool/result", data)


def lookalike(draw: Draw, log: LogDraft, calls: tuple[str, ...]) -> None:
    """An event of another type whose data would start, end, ask or answer something."""
    kinds = (
        "compaction/start",
        "tool/code-dispatch",
        "step/ended",
        "turn/starts",
        "user/message",
        "Turn/End",
        "hook/result",
    )
    kind = draw.choice(kinds)
    content = [messages.call_block(draw.choice(calls))]
    data = {"turn": 5, "step": 5, "callId": draw.choice(calls), "id": "m", "content": content}
    if kind == "user/message":
        log.join(kind, {**messages.user(len(log.events), ()), "content": content})
    else:
        log.add(kind, {**data, "message": {"content": content, "source": {"kind": "tool", "callId": "A"}}})


def with_odd_blocks(draw: Draw, message: dict[str, Any]) -> dict[str, Any]:
    """A message, now and then with something among its blocks that is none, or with a text in their place."""
    if not draw.chance(25):
        return message
    blocks = [*message["content"], draw.choice(("x", 0, True, [], {}, {"type": "tool-call"}))]
    return {**message, "content": draw.choice((blocks, blocks, blocks[::-1], "text"))}


def untyped(draw: Draw, event: Event) -> None:
    """Take something out of an event that a typed port insists on; what is read stays readable."""
    way = draw.integer(0, 6)
    if event["type"] in ("turn/end", "step/end"):
        event["data"] = draw.choice((None, {}, 0, []))
    elif way == 0:
        event.pop("surfaceOp", None)
    elif way == 1:
        event["time"] = draw.choice((None, "t", 0.5))
    elif event["type"] == "step/start":
        event["data"] = draw.choice(({}, {"step": None}, {"step": "x"}, {"step": 0.5}))
    elif event["type"] == "turn/start":
        event["data"] = draw.choice(({"turn": None}, {"turn": raw("1.0")}, {"turn": 4}))
    elif event["type"] == "assistant/message":
        event["data"] = {
            "message": with_odd_blocks(draw, event["data"]["message"]),
            **draw.choice(({}, {"step": None}, {"step": "x"})),
        }
    elif event["type"] == "tool/call":
        event["data"] = {"callId": draw.choice((None, 10, ["A"], 9, "A"))}
    elif way == 2:
        event.pop("seq" if draw.chance(30) else "time", None)
