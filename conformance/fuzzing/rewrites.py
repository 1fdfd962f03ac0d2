"""Rewrites of tool results whose data differ in one place, or only seem to."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import messages
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import Event, LogDraft, valid_draft
from conformance.fuzzing.values import ABSENT, value_pair

Data = dict[str, Any]
TYPED_PLACES: tuple[tuple[str, ...], ...] = (
    ("meta",), ("message", "extra"), ("block", "extra"), ("block", "isError"), ("message", "source", "extra"),
    ("error",),
)  # fmt: skip
"""Where a typed port has to keep whatever value stands there."""
COMPARED = (
    *TYPED_PLACES, ("turn",), ("step",), ("message", "id"), ("message", "role"), ("message", "source"),
    ("message", "source", "callId"), ("block", "toolCallId"), ("block", "type"),
)  # fmt: skip
PLACES = (*COMPARED, ("block", "content"), ("second",), ("text",))
"""Where the data of a result can differ. The first block's own content is free, and another block behind it
(``second``) is not compared, nor what stands in a text of the first one (``text``)."""
BLOCKS: tuple[list[Any], ...] = ([], [{}], [{"content": 1}], [{"isError": True}], [{}, {"a": 1}])
"""Lists of blocks, among them the empty one; only a first block without members is the same as none."""


def put_at(data: Data, place: tuple[str, ...], value: Any) -> Data:
    """A copy of the data with a value at a place, or without it where the value is ABSENT."""
    if place == ("second",):
        message = data["message"]
        rest = [] if value is ABSENT else [value]
        return {**data, "message": {**message, "content": [*message["content"][:1], *rest]}}
    if place == ("text",):
        return put_at(
            data, ("block", "content"), value if value is ABSENT else [{"type": "text", "text": value}]
        )
    if place[0] == "block":
        message = data["message"]
        first = put_in(message["content"][0], place[1:], value)
        return {**data, "message": {**message, "content": [first, *message["content"][1:]]}}
    return put_in(data, place, value)


def put_in(holder: Data, place: tuple[str, ...], value: Any) -> Data:
    """A copy of an object with a value at a path."""
    name, *rest = place
    if rest:
        return {**holder, name: put_in(holder.get(name, {}), tuple(rest), value)}
    if value is ABSENT:
        return {key: member for key, member in holder.items() if key != name}
    return {**holder, name: value}


def alter(draw: Draw, data: Data, log: LogDraft) -> Data:
    """The data of a result with another value somewhere, as the log allows."""
    _, value = value_pair(draw, finite=log.finite)
    return put_at(data, draw.choice(TYPED_PLACES if log.typed else COMPARED), value)


def rewritten_draft(draw: Draw, base: int = 0, *, typed: bool = True, finite: bool = False) -> LogDraft:
    """A result, and a rewrite of it that differs from it in one place; and perhaps a rewrite of that."""
    log = valid_draft(draw, base, average=1, typed=typed, finite=finite)
    call = draw.choice(messages.CALL_IDS)
    place = draw.choice(TYPED_PLACES if typed else PLACES)
    left, right = value_pair(draw, finite=finite)
    original = messages.result(len(log.events), call, ("long",))
    if not typed and draw.chance(10):
        return other_blocks(draw, log, original)
    log.join("tool/result", put_at(original, place, left))
    if draw.chance(20):
        log.add("todo/write", {})
    rewrite(draw, log, put_at(messages.rewritten(original, ("short",)), place, right))
    if draw.chance(25):
        rewrite(draw, log, put_at(messages.rewritten(original, ()), place, draw.choice((left, right))))
    return log


def other_blocks(draw: Draw, log: LogDraft, data: Data) -> LogDraft:
    """A result and its rewrite with lists of blocks that are hardly alike."""
    old, new = draw.choice(BLOCKS), draw.choice(BLOCKS)
    log.join("tool/result", {**data, "message": {**data["message"], "content": old}})
    rewrite(draw, log, {**data, "message": {**data["message"], "content": new}})
    return log


def rewrite(draw: Draw, log: LogDraft, data: Data) -> None:
    """Let a result take the place of the last node."""
    log.replace("tool/result", data, len(log.nodes) - 1, len(log.nodes) - 1, [log.nodes[-1]])


def rewritten_log(draw: Draw, *, typed: bool = True, finite: bool = False) -> list[Event]:
    """A log with a rewrite."""
    return rewritten_draft(draw, typed=typed, finite=finite).events
