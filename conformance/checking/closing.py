"""What a log leaves open at its end, and the events that a reader adds to close it."""

from __future__ import annotations

from typing import Any

from conformance.checking.exact_json import is_seq
from conformance.checking.shapes import Event, member

UNKNOWN_TEXT = (
    "The tool call was interrupted after it was recorded, but no result was durably recorded. Its outcome"
    " is unknown. Decide whether to retry from the tool semantics: retry only if the operation is read-only"
    " or idempotent; if it may have side effects, first verify external state or ask the user. Do not retry"
    " blindly."
)
NOT_STARTED_TEXT = (
    "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed."
)
_NUMBERLESS: Any = object()


class Shapeless(Exception):  # noqa: N818 - it becomes a finding
    """What has to be read of an event for the closers is not there."""


class OpenEnds:
    """The open turn, the open step, and the tool calls without a result; None where nothing is open."""

    def __init__(self) -> None:
        self.turn: Any = None
        self.opened_line = 0
        self.opened_byte = 0
        self.opened_seq = 0
        self.step: Any = None
        self.calls: dict[str, tuple[Any, Any]] = {}
        """By call id, in the order in which they came: the step, and the seq of the tool/call."""

    def take(self, event: Event, line: int, byte: int) -> None:
        """One event. Raises Shapeless."""
        kind = event.get("type")
        if kind == "turn/start":
            self.turn_starts(_object(event, kind).get("turn", _NUMBERLESS), int(event["seq"]), line, byte)
        elif kind == "turn/end":
            self.turn = None
        elif kind == "step/start":
            self.step = _object(event, kind).get("step")
        elif kind == "step/end":
            self.step_ends()
        elif kind == "assistant/message":
            data = _object(event, kind)
            for call in calls_of(data, kind):
                self.calls[call] = (data.get("step"), None)
        elif kind == "tool/call":
            called = _object(event, kind).get("callId")
            if isinstance(called, str):
                self.call_starts(called, event["seq"])
        elif kind == "tool/result":
            source = member(member(_object(event, kind), "message"), "source")
            if not isinstance(source, dict):
                raise Shapeless("a tool/result holds a message with a source")
            if isinstance(source.get("callId"), str):
                self.calls.pop(source["callId"], None)

    def turn_starts(self, turn: Any, seq: int, line: int, byte: int) -> None:
        """A turn is open; whatever was open before is forgotten."""
        self.turn = turn
        self.opened_seq, self.opened_line, self.opened_byte = seq, line, byte
        self.step, self.calls = None, {}

    def step_ends(self) -> None:
        """The step is closed, and calls without a result are forgotten."""
        self.step, self.calls = None, {}

    def call_starts(self, call: str, seq: Any) -> None:
        """A call that waits has begun; one that nobody asked for is passed over."""
        if call in self.calls:
            self.calls[call] = (self.calls[call][0], seq)

    def closers(self, seq: int, time: Any) -> list[Event]:
        """The events from ``seq`` on that close what is open. Raises Shapeless."""
        if self.turn is None:
            return []
        if not is_seq(self.turn) or self.turn < 1:
            raise Shapeless("an open turn has a whole number from 1")
        made: list[Event] = []
        for call, (step, started) in self.calls.items():
            made.append(_result(call, step, started, self.turn, seq + len(made), time))
        if self.step is not None:
            data = {"turn": self.turn, "step": self.step}
            made.append({"type": "step/end", "seq": seq + len(made), "time": time, "data": data})
        data = {"turn": self.turn, "reason": {"kind": "interrupted"}}
        made.append({"type": "turn/end", "seq": seq + len(made), "time": time, "data": data})
        return made


def calls_of(data: Event, kind: str = "assistant/message") -> list[str]:
    """The ids of the tool calls in an assistant's message. Raises Shapeless."""
    message = data.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        raise Shapeless(f"an {kind} holds a message with a list of blocks")
    found = []
    for block in content:
        if block.get("type") == "tool-call":
            if not isinstance(block.get("id"), str):
                raise Shapeless("the id of a tool-call block is a text")
            found.append(block["id"])
    return found


def _object(event: Event, kind: str) -> Event:
    data = event.get("data")
    if not isinstance(data, dict):
        raise Shapeless(f"the data of a {kind} is an object")
    return data


def _result(call: str, step: Any, started: Any, turn: Any, seq: int, time: Any) -> Event:
    text = NOT_STARTED_TEXT if started is None else UNKNOWN_TEXT
    block = {
        "type": "tool-result",
        "toolCallId": call,
        "isError": True,
        "content": [{"type": "text", "text": text}],
    }
    message = {
        "id": f"interrupted-tool-result-{call}-{seq}",
        "role": "user",
        "source": {"kind": "tool", "callId": call},
        "content": [block],
    }
    name, code = ("ToolNotStartedError", "TOOL_NOT_STARTED")
    if started is not None:
        name, code = ("ToolOutcomeUnknownError", "TOOL_OUTCOME_UNKNOWN")
    data = {"turn": turn, "step": step, "message": message, "error": {"name": name, "code": code}}
    event: Event = {"type": "tool/result", "seq": seq, "time": time, "data": data, "surfaceOp": "append"}
    if started is not None:
        event["sourceEventSeqs"] = [started]
    return event
