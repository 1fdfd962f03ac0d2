"""Logs whose numbers and names are spelled in other ways than a writer would: the same log, or not quite."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import values
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import Event, LogDraft, valid_draft
from conformance.fuzzing.spelling import again, odd

NAMES = ("seq", "type", "surfaceOp", "sourceEventSeqs", "data", "time")
DECOYS: tuple[Any, ...] = (None, 0, 99, "append", "user/message", "turn/start", [], [0], {}, True)


def respelled_draft(draw: Draw, base: int = 0) -> LogDraft:
    """A valid log in which some numbers are spelled oddly, some names stand twice, some texts are odd."""
    log = valid_draft(draw, base, average=4, typed=False)
    log.events = [respell(draw, event) if draw.chance(50) else event for event in log.events]
    return log


def respelled_log(draw: Draw) -> list[Event]:
    """Such a log."""
    return respelled_draft(draw).events


def respell(draw: Draw, event: Event) -> Event:
    """One event with one thing spelled in another way."""
    way = draw.integer(0, 7)
    if way == 6:
        dropped = draw.choice(("type", "seq", "time"))
        return {name: value for name, value in event.items() if name != dropped}
    if way == 7 and isinstance(event.get("surfaceOp"), dict):
        return {**event, "surfaceOp": dict(reversed(event["surfaceOp"].items()))}
    if way == 0:
        return {**event, "seq": values.respelled(draw, event["seq"])}
    if way == 1 and event.get("sourceEventSeqs"):
        return {**event, "sourceEventSeqs": with_one_respelled(draw, event["sourceEventSeqs"])}
    if way == 2 and isinstance(event.get("surfaceOp"), dict):
        end = draw.choice(("start", "end"))
        marker = event["surfaceOp"]
        return {**event, "surfaceOp": {**marker, end: values.respelled(draw, marker[end])}}
    if way == 3:
        return named_twice(draw, event)
    if way == 4:
        return {
            **event,
            draw.choice(("note", "ignorable", "Seq", "data ", odd("\ud800"))): draw.choice(DECOYS),
        }
    return {**event, "time": draw.choice((*values.NOT_SEQS, -1, None))}


def with_one_respelled(draw: Draw, seqs: list[int]) -> list[Any]:
    place = draw.integer(0, len(seqs) - 1)
    return [*seqs[:place], values.respelled(draw, seqs[place]), *seqs[place + 1 :]]


def named_twice(draw: Draw, event: Event) -> Event:
    """An event that holds one of its names twice; the last one counts."""
    name = draw.choice(NAMES)
    decoy = draw.choice(DECOYS)
    return {again(name): decoy, **event} if draw.chance(50) else {**event, again(name): decoy}


def odd_message(draw: Draw, log: LogDraft) -> None:
    """A message with texts and values that get lost on the way through some language."""
    odd = draw.choice(values.TEXTS)
    value = values.value_pair(draw, finite=True)[0]
    content = [
        {"type": "text", "text": odd},
        {"type": "image", odd: None if value is values.ABSENT else value},
    ]
    kind = draw.choice(("user/message", "assistant/message", "tool/result"))
    message = {"id": odd, "role": "user", "source": {"kind": "user"}, "content": content}
    log.join(kind, message if kind == "user/message" else {"turn": 1, "step": 1, "message": message})


def odd_draft(draw: Draw, base: int = 0) -> LogDraft:
    """A valid log with odd messages."""
    log = valid_draft(draw, base, average=2, typed=False)
    odd_message(draw, log)
    for _ in draw.repeat(1):
        odd_message(draw, log)
    return log
