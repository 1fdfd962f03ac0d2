"""Lines of a log as a typed decoder takes them: only those of which by themselves nothing is wrong.

A class holds the members that somebody needs. What a class does not take is no fault yet; it is looked at
again without types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from conformance.checking.exact_json import MAX_SAFE
from conformance.checking.shapes import ELIGIBLE, KNOWN_TYPES

Seq = Annotated[int, Meta(ge=0, le=MAX_SAFE)]
Whole = Annotated[int, Meta(ge=-MAX_SAFE, le=MAX_SAFE)]
Turn = Annotated[int, Meta(ge=1, le=MAX_SAFE)]
Name = Annotated[str, Meta(min_length=1)]
Number = int | float

JUDGED = ELIGIBLE | {
    "turn/start", "turn/end", "step/start", "step/end", "tool/call", "request/header", "request/context",
    "todo/write", "llm/retry", "llm/retry-started", "compaction/start", "compaction/summary",
    "compaction/end",
}  # fmt: skip
"""Known types of which more is asked than their envelope. The others only count."""


class Exactly(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An object with these members and no others."""


class Among(msgspec.Struct, gc=False):
    """An object with these members, and perhaps others."""


class Event(Exactly, tag_field="type"):
    """The envelope of an event without marks."""

    seq: Seq
    time: Whole


# -- chunks ---------------------------------------------------------------------------


class Chunk(Event, tag="assistant/chunk"):
    """The most frequent line of all."""

    data: Raw


class Delta(Exactly, tag_field="type", tag="text-delta"):
    """A piece of text."""

    index: Whole
    text: str


class Reasoning(Exactly, tag_field="type", tag="reasoning-delta"):
    """A piece of reasoning."""

    index: Whole
    text: str


class CallDelta(Exactly, tag_field="type", tag="tool-call-delta"):
    """A piece of a tool call."""

    index: Whole
    id: str
    argumentsDelta: str  # noqa: N815 - the name in the log
    name: str | UnsetType = UNSET


class ChunkData(Exactly):
    """The payload of a chunk in which every number is a whole one that is safe."""

    turn: Whole
    step: Whole
    chunk: Delta | Reasoning | CallDelta


class DeepChunk(Event, tag="assistant/chunk"):
    """The most frequent line of all, looked into."""

    data: ChunkData


class TextData(Exactly):
    """The data of a row of text or reasoning."""

    turn: Number
    step: Number
    index: Number
    dt: list[Whole]
    texts: Annotated[list[str], Meta(min_length=1)]


class CallData(Exactly):
    """The data of a row of a tool call."""

    turn: Number
    step: Number
    index: Number
    id: str
    dt: list[Whole]
    args: Annotated[list[str], Meta(min_length=1)]
    name: str | UnsetType = UNSET


class Row(Exactly, tag_field="type"):
    """The envelope of a packed row."""

    seq0: Seq
    time0: Whole


class TextRow(Row, tag="text-chunks"):
    """A row of text."""

    data: TextData


class ReasoningRow(Row, tag="reasoning-chunks"):
    """A row of reasoning."""

    data: TextData


class CallRow(Row, tag="tool-call-chunks"):
    """A row of a tool call."""

    data: CallData


# -- turns and steps ------------------------------------------------------------------


class TurnData(Exactly):
    """A turn."""

    turn: Turn


class StepData(Exactly):
    """A step."""

    turn: Turn
    step: Whole


class Plain(Exactly):
    """A reason that says nothing beside its kind."""

    kind: Literal["completed", "blocked", "max-tokens", "interrupted"]


class EndData(Exactly):
    """The end of a turn."""

    turn: Turn
    reason: Plain


class Called(Among):
    """A call that begins."""

    turn: Turn
    step: Whole
    callId: str  # noqa: N815 - the name in the log


class TurnStart(Event, tag="turn/start"):
    """A turn begins."""

    data: TurnData


class TurnEnd(Event, tag="turn/end"):
    """A turn ends."""

    data: EndData


class StepStart(Event, tag="step/start"):
    """A step begins."""

    data: StepData


class StepEnd(Event, tag="step/end"):
    """A step ends."""

    data: StepData


class ToolCall(Event, tag="tool/call"):
    """A call begins."""

    data: Called


# -- messages that append -------------------------------------------------------------


class Source(Among):
    """Where a user's message comes from."""

    kind: Name


class ModelSource(Among):
    """Where an assistant's message comes from."""

    kind: Literal["model"]
    provider: Name
    model: Name


class Block(Among):
    """A block of an assistant's content; only a tool call has an id that somebody reads."""

    type: str
    id: Raw = Raw(b"")


class UserData(Among):
    """A user's message."""

    id: Name
    role: Literal["user"]
    content: list[Raw]
    source: Source


class Message(Among):
    """An assistant's message."""

    id: Name
    role: Literal["assistant"]
    content: list[Block]
    source: ModelSource


class AssistantData(Among):
    """What an assistant has said in a step."""

    message: Message
    turn: Whole | None = None
    step: Whole | None = None


class UserMessage(Event, tag="user/message"):
    """A user's message that appends."""

    data: UserData
    surfaceOp: Literal["append"]  # noqa: N815 - the name in the log
    sourceEventSeqs: list[Seq] | UnsetType = UNSET  # noqa: N815


class AssistantMessage(Event, tag="assistant/message"):
    """An assistant's message that appends."""

    data: AssistantData
    surfaceOp: Literal["append"]  # noqa: N815 - the name in the log
    sourceEventSeqs: list[Seq] | UnsetType = UNSET  # noqa: N815


class ToolSource(Exactly):
    """Which call a result answers."""

    kind: Literal["tool"]
    callId: Name  # noqa: N815 - the name in the log


class ResultBlock(Exactly):
    """What a tool has given. The type is a member like others: a tag that is alone may be left out."""

    type: Literal["tool-result"]
    toolCallId: Name  # noqa: N815
    content: list[Raw]
    isError: bool | UnsetType = UNSET  # noqa: N815


class ResultMessage(Exactly):
    """The message of a result."""

    id: Name
    role: Literal["user"]
    source: ToolSource
    content: Annotated[list[ResultBlock], Meta(min_length=1, max_length=1)]


class ResultData(Exactly):
    """A result without an error of its harness."""

    turn: Whole
    step: Whole
    message: ResultMessage


class ToolResult(Event, tag="tool/result"):
    """A result that appends."""

    data: ResultData
    surfaceOp: Literal["append"]  # noqa: N815
    sourceEventSeqs: list[Seq] | UnsetType = UNSET  # noqa: N815


# -- the decoders ---------------------------------------------------------------------


def _counted() -> list[type[msgspec.Struct]]:
    """One class for each type that only counts."""
    return [
        msgspec.defstruct(f"Counted{number}", [("data", Raw)], bases=(Event,), gc=False, tag=tag,
                          forbid_unknown_fields=True)
        for number, tag in enumerate(sorted(KNOWN_TYPES - JUDGED - {"assistant/chunk"}))
    ]  # fmt: skip


_COUNTED_LIST = _counted()
ROWS = frozenset((TextRow, ReasoningRow, CallRow))
_REST: tuple[Any, ...] = (
    TextRow, ReasoningRow, CallRow, TurnStart, TurnEnd, StepStart, StepEnd, ToolCall, UserMessage,
    AssistantMessage, ToolResult, *_COUNTED_LIST,
)  # fmt: skip


def _decoder(chunk: Any) -> Callable[[bytes], Any]:
    union = chunk
    for each in _REST:
        union = union | each
    return msgspec.json.Decoder(union).decode


decode_line = _decoder(Chunk)
decode_deep = _decoder(DeepChunk)
decode_any: Callable[[bytes], Any] = msgspec.json.Decoder().decode
REFUSED = (msgspec.MsgspecError, RecursionError, ValueError)
"""What the decoders raise for what they do not take."""


def frame_of_result(data: ResultData) -> dict[str, Any]:
    """The data of a result with nothing in its one block: what ``surface.frame_of`` gives for it."""
    message, (block,) = data.message, data.message.content
    source = {"kind": "tool", "callId": message.source.callId}
    left: dict[str, Any] = {"type": "tool-result", "toolCallId": block.toolCallId, "content": None}
    if block.isError is not UNSET:
        left["isError"] = block.isError
    told = {"id": message.id, "role": "user", "source": source, "content": [left]}
    return {"turn": data.turn, "step": data.step, "message": told}
