"""Small logs for the tests of the checker: events by a few words, and the bytes of a log."""

from __future__ import annotations

import json
from typing import Any

HEADER = {"type": "session", "version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
MODEL = {"kind": "model", "provider": "p", "model": "m"}
Event = dict[str, Any]


def line(value: object) -> bytes:
    """One line; lone surrogates are written as escapes."""
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def log(*events: Event, header: object = HEADER) -> bytes:
    """A log whose events get the seqs that they lack, one after the other."""
    lines = [line(header)]
    for seq, event in enumerate(events):
        lines.append(line({"seq": seq, "time": 1, "data": {}, **event} if "seq0" not in event else event))
    return b"".join(lines)


def turn(number: int = 1) -> Event:
    return {"type": "turn/start", "data": {"turn": number}}


def turn_end(number: int = 1) -> Event:
    return {"type": "turn/end", "data": {"turn": number, "reason": {"kind": "completed"}}}


def step(number: int = 1, turn: int = 1) -> Event:
    return {"type": "step/start", "data": {"turn": turn, "step": number}}


def step_end(number: int = 1, turn: int = 1) -> Event:
    return {"type": "step/end", "data": {"turn": turn, "step": number}}


def user(text: str | None = "hello", name: str = "u", **more: Any) -> Event:
    """A user's message; without a text its content is empty."""
    content = [] if text is None else [{"type": "text", "text": text}]
    message = {"id": name, "role": "user", "content": content, "source": {"kind": "user"}}
    return {"type": "user/message", "data": message, "surfaceOp": "append", **more}


def assistant(
    *calls: str, name: str = "a", text: str = "well", turn: int = 1, step: int = 1, **more: Any
) -> Event:
    """An assistant's message with a text and tool calls."""
    content: list[Any] = [{"type": "text", "text": text}] if text else []
    content += [{"type": "tool-call", "id": call, "name": "bash", "input": {}} for call in calls]
    message = {"id": name, "role": "assistant", "content": content, "source": MODEL}
    data = {"turn": turn, "step": step, "message": message}
    return {"type": "assistant/message", "data": data, "surfaceOp": "append", "sourceEventSeqs": [], **more}


def call(name: str, turn: int = 1, step: int = 1) -> Event:
    return {
        "type": "tool/call",
        "data": {"turn": turn, "step": step, "callId": name, "name": "bash", "input": {}},
    }


def result(name: str, *sources: int, text: str = "done", turn: int = 1, step: int = 1, **more: Any) -> Event:
    """A tool's result; without sources it cites nothing."""
    block = {
        "type": "tool-result", "toolCallId": name, "isError": False,
        "content": [{"type": "text", "text": text}],
    }  # fmt: skip
    message = {
        "id": f"r-{name}",
        "role": "user",
        "source": {"kind": "tool", "callId": name},
        "content": [block],
    }
    cited = {"sourceEventSeqs": [*sources]} if sources else {}
    data = {"turn": turn, "step": step, "message": message}
    return {"type": "tool/result", "data": data, "surfaceOp": "append", **cited, **more}


def chunk(text: str, turn: int = 1, step: int = 1) -> Event:
    delta = {"type": "text-delta", "index": 0, "text": text}
    return {"type": "assistant/chunk", "data": {"turn": turn, "step": step, "chunk": delta}}


def row(seq0: int, *texts: str, tag: str = "text-chunks") -> Event:
    data = {"turn": 1, "step": 1, "index": 0, "dt": [1] * (len(texts) - 1), "texts": [*texts]}
    return {"type": tag, "seq0": seq0, "time0": 1, "data": data}


def replace(start: int, end: int, *sources: int) -> dict[str, Any]:
    """The marks of an event that replaces."""
    return {"surfaceOp": {"op": "replace", "start": start, "end": end}, "sourceEventSeqs": [*sources]}


def at(seq: int, event: Event) -> Event:
    return {**event, "seq": seq}


def whole_turn() -> list[Event]:
    """A turn with nothing wrong: seqs 0 to 8."""
    return [
        turn(), user(), step(), chunk("a"), assistant("c1", sourceEventSeqs=[3]), call("c1"), result("c1", 5),
        step_end(), turn_end(),
    ]  # fmt: skip
