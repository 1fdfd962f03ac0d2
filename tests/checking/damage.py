"""Logs that are damaged in many ways, from a seed: what people's disks and tools do to them."""

from __future__ import annotations

import json
import random
from typing import Any

from logs import (
    HEADER,
    assistant,
    call,
    chunk,
    line,
    result,
    row,
    step,
    step_end,
    turn,
    turn_end,
    user,
)

ODD: list[Any] = [
    None, True, 0, -1, 1, 1.5, 2**53, 2**53 - 1, "", "x", "append", [], [0], {}, -0.0, 1e300, "\ud83d",
    [[0, 1]], {"op": "replace", "start": 0, "end": 0}, {"kind": "x"}, "tool/result", "user/message",
]  # fmt: skip
RAW = [
    b"", b" ", b"{bad", b"null", b"[]", b'"x"', b"\x00\x00", b"\xff", b"{}", b'{"type":"turn/end"}', b"1e400",
    b"NaN",
    b'{"type":"turn/end","seq":1.0,"time":1e3,"data":null}', b"\xef\xbb\xbf{}", b"{}{}", b'{"a":1,"a":2}',
]  # fmt: skip


def healthy(choose: random.Random) -> list[dict[str, Any]]:
    """A log without faults, of one to three turns."""
    events: list[dict[str, Any]] = []
    surface: list[int] = []

    def add(event: dict[str, Any], *, joins: bool = False) -> int:
        events.append({"seq": len(events), "time": 10 + len(events), "data": {}, **event})
        if joins:
            surface.append(len(events) - 1)
        return len(events) - 1

    for number in range(1, choose.randint(1, 3) + 1):
        add(turn(number))
        add(user(name=f"u{number}"), joins=True)
        for part in range(1, choose.randint(1, 2) + 1):
            add(step(part, number))
            chunks = [add(chunk(f"t{n}", number, part)) for n in range(choose.randint(0, 4))]
            name = f"c{number}.{part}"
            calls = [name] if choose.random() < 0.5 else []
            message = assistant(*calls, name=f"a{name}", turn=number, step=part, sourceEventSeqs=chunks)
            add(message, joins=True)
            if calls:
                began = add(call(name, number, part))
                at = add(result(name, began, turn=number, step=part), joins=True)
                if choose.random() < 0.3:
                    marks = {"surfaceOp": {"op": "replace", "start": at, "end": at}, "sourceEventSeqs": [at]}
                    surface[-1] = add(result(name, text="cut", turn=number, step=part, **marks))
            add(step_end(part, number))
        add({"type": choose.choice(["todo/write", "plan/mode", "session/title", "zzz/x"]), "ignorable": True}
            if choose.random() < 0.2 else {"type": "plan/mode"})  # fmt: skip
        if len(surface) > 2 and choose.random() < 0.4:
            first, last = sorted(choose.sample(range(len(surface)), 2))
            gone = surface[first : last + 1]
            marks = {
                "surfaceOp": {"op": "replace", "start": gone[0], "end": gone[-1]},
                "sourceEventSeqs": gone,
            }
            surface[first : last + 1] = [add(user("sum", name=f"s{number}", **marks))]
        if number < 3 or choose.random() < 0.6:
            add(turn_end(number))
    return events


def packed(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with runs of chunks as rows."""
    out: list[dict[str, Any]] = []
    run: list[dict[str, Any]] = []
    for event in [*events, {"type": ""}]:
        same = run and event["type"] == "assistant/chunk" and event["data"]["step"] == run[0]["data"]["step"]
        if event["type"] == "assistant/chunk" and (not run or same):
            run.append(event)
            continue
        if len(run) >= 3:
            made = row(run[0]["seq"], *[each["data"]["chunk"]["text"] for each in run])
            out.append({**made, "time0": run[0]["time"]})
        else:
            out += run
        run = []
        out.append(event)
    return out[:-1]


def hurt(value: Any, choose: random.Random) -> Any:
    """A JSON value with one place changed, taken away or added."""
    if isinstance(value, dict) and value and choose.random() < 0.9:
        name = choose.choice(list(value))
        if choose.random() < 0.2:
            return {key: item for key, item in value.items() if key != name}
        if choose.random() < 0.08:
            return {
                **value,
                choose.choice(["x", "trigger", "message", "ignorable", "surfaceOp"]): choose.choice(ODD),
            }
        return {**value, name: hurt(value[name], choose)}
    if isinstance(value, list) and value and choose.random() < 0.8:
        index = choose.randrange(len(value))
        return [*value[:index], hurt(value[index], choose), *value[index + 1 :]]
    return choose.choice(ODD)


def damaged(seed: int) -> bytes:
    """The bytes of a log with some damage, or with none."""
    choose = random.Random(seed)
    events = healthy(choose)
    if choose.random() < 0.4:
        events = packed(events)
    header = HEADER if choose.random() < 0.95 else hurt(HEADER, choose)
    for _ in range(choose.choice([0, 1, 1, 1, 2, 4])):
        if events:
            index = choose.randrange(len(events))
            events[index] = hurt(events[index], choose)
    lines = [line(header), *map(line, events)]
    for _ in range(choose.choice([0, 0, 0, 1, 1, 2])):
        lines = _shuffled(lines, choose)
    data = b"".join(lines)
    if choose.random() < 0.15:
        data = data[: choose.randrange(len(data) + 1)]
    if choose.random() < 0.1:
        at = choose.randrange(len(data) + 1)
        data = data[:at] + choose.choice([b"\xff", b"\x00", b"\n", b" ", b"\\ud800", b"-0"]) + data[at:]
    return data


def _shuffled(lines: list[bytes], choose: random.Random) -> list[bytes]:
    at = choose.randrange(1, len(lines) + 1)
    what = choose.randrange(6)
    if what == 0:
        return [*lines[:at], *lines[at + 1 :]]
    if what == 1:
        return [*lines[:at], *lines[max(1, at - 2) :]]
    if what == 2:
        return [*lines[:at], choose.choice(RAW) + b"\n", *lines[at:]]
    if what == 3:
        old = json.dumps({"type": "request/header", "seq": at - 1, "time": 1, "data": {"reason": "fallback"}})
        return [*lines[:at], old.encode() + b"\n", *lines[at + 1 :]]
    if what == 4:
        return [*lines[:at], *[each.replace(b"\n", b"\r\n") for each in lines[at:]]]
    return [*lines[:at], *reversed(lines[at:])]
