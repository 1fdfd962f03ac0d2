"""What a log leaves open at its end, and the events that a reader adds to close it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.checking.exact_json import is_seq, show
from conformance.checking.shapes import Event

UNKNOWN_TEXT = (
    "The tool call was interrupted after it was recorded, but no result was durably recorded. Its outcome"
    " is unknown. Decide whether to retry from the tool semantics: retry only if the operation is read-only"
    " or idempotent; if it may have side effects, first verify external state or ask the user. Do not retry"
    " blindly."
)
NOT_STARTED_TEXT = (
    "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed."
)
MISSING: Any = object()
"""What is not there. It opens a turn, a step or a call all the same, and is left out where it would stand."""


class Shapeless(Exception):  # noqa: N818 - it becomes a finding
    """What has to be read of an event for the closers is not there."""


@dataclass(slots=True)
class Waiting:
    """A call without a result: its id, the step of its message, and the seq of its tool/call, if any."""

    id: Any
    step: Any
    seq: Any


class OpenEnds:
    """The open turn, the open step, and the tool calls without a result; None where nothing is open."""

    def __init__(self) -> None:
        self.turn: Any = None
        self.opened_line = 0
        self.opened_byte = 0
        self.opened_seq = 0
        self.step: Any = None
        self.calls: dict[str, Waiting] = {}
        """By the key of its id, in the order in which they came."""

    def take(self, event: Event, line: int, byte: int, seq: int) -> None:
        """One event. Raises Shapeless."""
        kind = event.get("type")
        if kind == "turn/start":
            self.turn_starts(_members(event, "data", kind).get("turn", MISSING), seq, line, byte)
        elif kind == "turn/end":
            self.turn = None
        elif kind == "step/start":
            self.step = _members(event, "data", kind).get("step", MISSING)
        elif kind == "step/end":
            self.step_ends()
        elif kind == "assistant/message":
            data = _object(event, "data", kind)
            for place, call in enumerate(_calls(_object(data, "message", kind).get("content"))):
                self.call_waits(call, data.get("step", MISSING), f"block {seq} {place}")
        elif kind == "tool/call":
            self.call_starts(_members(event, "data", kind).get("callId", MISSING), event["seq"])
        elif kind == "tool/result":
            message = _object(_object(event, "data", kind), "message", kind)
            self.calls.pop(key_of(_members(message, "source", kind).get("callId", MISSING)), None)

    def call_waits(self, call: Any, step: Any, otherwise: str = "") -> None:
        """A call that a message asks for; an id that waits already keeps its place."""
        self.calls[key_of(call) or otherwise] = Waiting(call, step, None)

    def turn_starts(self, turn: Any, seq: int, line: int, byte: int) -> None:
        """A turn is open; whatever was open before is forgotten."""
        self.turn = turn
        self.opened_seq, self.opened_line, self.opened_byte = seq, line, byte
        self.step, self.calls = None, {}

    def step_ends(self) -> None:
        """The step is closed, and calls without a result are forgotten."""
        self.step, self.calls = None, {}

    def call_starts(self, call: Any, seq: Any) -> None:
        """A call that waits has begun; one that nobody asked for is passed over."""
        waiting = self.calls.get(key_of(call))
        if waiting is not None:
            waiting.seq = seq

    def closers(self, seq: int, time: Any) -> list[Event]:
        """The events from ``seq`` on that close what is open. Raises Shapeless."""
        if self.turn is None:
            return []
        if not is_seq(self.turn) or self.turn < 1:
            raise Shapeless("an open turn has a whole number from 1")
        made: list[Event] = []
        for call in self.calls.values():
            made.append(_result(call, self.turn, seq + len(made), time))
        if self.step is not None:
            data = {"turn": self.turn, "step": self.step}
            made.append({"type": "step/end", "seq": seq + len(made), "time": time, "data": _present(data)})
        data = {"turn": self.turn, "reason": {"kind": "interrupted"}}
        made.append({"type": "turn/end", "seq": seq + len(made), "time": time, "data": data})
        return made


def _calls(content: Any) -> list[Any]:
    """The ids of the tool calls in a content. Raises Shapeless."""
    if isinstance(content, str):
        return []
    if not isinstance(content, list):
        raise Shapeless("an assistant/message holds a message with a list of blocks")
    if None in content:
        raise Shapeless("a block of content must not be null")
    return [
        block.get("id", MISSING)
        for block in content
        if isinstance(block, dict) and block.get("type") == "tool-call"
    ]


def key_of(call: Any) -> str:
    """A text that is the same for equal ids and no others; empty for an id that equals nothing."""
    if isinstance(call, list | dict):
        return ""
    return f"text {call}" if isinstance(call, str) else f"other {_shown(call)}"


def _shown(call: Any) -> str:
    if call is MISSING:
        return "undefined"
    if isinstance(call, list | dict):
        return "container"
    return call if isinstance(call, str) else show(call)


def _object(holder: Event, name: str, kind: str) -> Event:
    value = holder.get(name)
    if not isinstance(value, dict):
        raise Shapeless(f"the {name} of a {kind} is an object")
    return value


def _members(holder: Event, name: str, kind: str) -> Event:
    """Nothing, where it is no object; what is null or missing is refused. Raises Shapeless."""
    value = holder.get(name)
    if value is None:
        raise Shapeless(f"a {kind} is not without its {name}")
    return value if isinstance(value, dict) else {}


def _present(members: Event) -> Event:
    return {name: value for name, value in members.items() if value is not MISSING}


def _result(call: Waiting, turn: Any, seq: int, time: Any) -> Event:
    started = call.seq is not None
    block = {
        "type": "tool-result",
        "toolCallId": call.id,
        "isError": True,
        "content": [{"type": "text", "text": UNKNOWN_TEXT if started else NOT_STARTED_TEXT}],
    }
    message = {
        "id": f"interrupted-tool-result-{_shown(call.id)}-{seq}",
        "role": "user",
        "source": _present({"kind": "tool", "callId": call.id}),
        "content": [_present(block)],
    }
    name, code = ("ToolNotStartedError", "TOOL_NOT_STARTED")
    if started:
        name, code = ("ToolOutcomeUnknownError", "TOOL_OUTCOME_UNKNOWN")
    data = {"turn": turn, "step": call.step, "message": message, "error": {"name": name, "code": code}}
    event: Event = {"type": "tool/result", "seq": seq, "time": time, "data": _present(data)}
    event["surfaceOp"] = "append"
    if started:
        event["sourceEventSeqs"] = [call.seq]
    return event
