"""Batches of stream events as stores pack them, and rows as stores hold them."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing.alterations import altered
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import LAST_SEQ
from conformance.fuzzing.messages import TEXTS
from conformance.fuzzing.spelling import Members, Spelled, raw
from conformance.fuzzing.values import ABSENT, FINITE_NOT_SEQS
from conformance.fuzzing.values import TEXTS as ODD_TEXTS

Event = dict[str, Any]
KINDS = ("text-delta", "reasoning-delta", "tool-call-delta")
ROWS = ("text-chunks", "reasoning-chunks", "tool-call-chunks")
MOST_BYTES = 1_048_576
"""Of the data of a row of SQLite, in UTF-8."""
GAPS = (0, 1, 10, 10, -5, 2**32, LAST_SEQ)
STARTS = (0, 1, 7, -3, 2**31, LAST_SEQ - 2, LAST_SEQ)
NUMBERS = (1, 2, 0, -1, 0.5, raw("1.0"), raw("-0"), raw("1e21"), raw("1e-7"), raw("9007199254740993"))


def chunk_event(draw: Draw, seq: int, time: int, kind: str) -> Event:
    """One event of a stream that can be packed."""
    text = draw.choice(TEXTS) if not draw.chance(10) else draw.choice(ODD_TEXTS)
    chunk: Event = {"type": kind, "index": 0}
    if kind == "tool-call-delta":
        chunk |= {"id": "c1", "argumentsDelta": text}
    else:
        chunk["text"] = text
    return {
        "type": "assistant/chunk",
        "seq": seq,
        "time": time,
        "data": {"turn": 1, "step": 1, "chunk": chunk},
    }


def batch(draw: Draw) -> list[Event]:
    """Runs of chunks, one after another, some of which break off where a reader might not look."""
    seq = draw.choice(STARTS) if draw.chance(20) else draw.integer(0, 3)
    time = draw.choice((0, 1_755_072_000_000, -5, LAST_SEQ - 20))
    events: list[Event] = []
    for _ in draw.repeat(2):
        kind = draw.choice(KINDS)
        number, name = draw.choice(NUMBERS), draw.choice((ABSENT, ABSENT, ABSENT, "read", "", None))
        turn = 1 if not draw.chance(15) else draw.choice(NUMBERS)
        for _ in draw.repeat(4):
            event = chunk_event(draw, seq, time, kind)
            chunk = event["data"]["chunk"]
            chunk["index"] = number
            event["data"]["turn"] = turn
            if name is not ABSENT and kind == "tool-call-delta":
                chunk["name"] = name
            events.append(change(draw, event) if draw.chance(12) else event)
            seq = min(seq + 1, LAST_SEQ)
            time = max(min(time + draw.choice(GAPS), LAST_SEQ), -LAST_SEQ) if draw.chance(50) else time
    return events


def change(draw: Draw, event: Event) -> Event:
    """An event with something that ends a run, or seems to."""
    way = draw.integer(0, 9)
    data = event["data"]
    chunk = data["chunk"]
    if way == 0:
        return {**event, draw.choice(("ignorable", "surfaceOp", "note")): True}
    if way == 1:
        return {
            **event,
            "seq": draw.choice(
                (event["seq"] + 1 if event["seq"] < LAST_SEQ else 0, raw(f"{event['seq']}.0"), 0)
            ),
        }
    if way == 2:
        return {
            **event,
            "time": draw.choice((0, -LAST_SEQ, LAST_SEQ, 0.5, None, raw(f"{event['time']}.0"), raw("-0"))),
        }
    if way == 3:
        return {**event, "data": {**data, draw.choice(("turn", "step")): draw.choice((*NUMBERS, None, "1"))}}
    if way == 4:
        return {**event, "data": {**data, "extra": 1}}
    if way == 5:
        return {**event, "type": draw.choice(("assistant/message", "turn/end", "assistant/chunks"))}
    if way == 6:
        return {
            **event,
            "data": {**data, "chunk": {**chunk, draw.choice(("id", "name", "index", "extra")): "c2"}},
        }
    if way == 7:
        kind = draw.choice((*KINDS, "tool-result", "", None))
        return {**event, "data": {**data, "chunk": {**chunk, "type": kind}}}
    if way == 8:
        return {
            **event,
            "data": {
                **data,
                "chunk": {**chunk, draw.choice(("text", "argumentsDelta")): draw.choice((1, None, "t"))},
            },
        }
    return {**event, "data": draw.choice((None, {}, [], {**data, "chunk": None}))}


def plain_request(draw: Draw) -> Members:
    """Streams of events that nothing is wrong with, one behind the other."""
    events: list[Event] = []
    time = draw.choice((0, 1_755_072_000_000))
    for _ in draw.repeat(2):
        kind, index, turn = draw.choice(KINDS), draw.integer(0, 1), draw.integer(1, 2)
        for _ in draw.repeat(4):
            event = chunk_event(draw, len(events), time, kind)
            event["data"]["turn"], event["data"]["chunk"]["index"] = turn, index
            if kind == "tool-call-delta" and index:
                event["data"]["chunk"]["name"] = "read"
            events.append(event)
            time += draw.choice(GAPS[:4])
    return {"events": Spelled(events)}


def pack_request(draw: Draw) -> Members:
    """A batch, whose records, places or texts are asked for."""
    events = batch(draw)
    if events and draw.chance(25):
        place = draw.integer(0, len(events) - 1)
        seq = events[place]["seq"]  # an answer may name it
        events[place] = {"seq": seq, **altered(draw, events[place])}
    members: Members = {"events": Spelled(events)}
    if draw.chance(40):
        members["level"] = draw.choice(("layout", "text"))
    return members


def row(draw: Draw) -> Event:
    """A row as a store writes it."""
    kind = draw.choice(ROWS)
    texts = [draw.choice(TEXTS) if not draw.chance(8) else draw.choice(ODD_TEXTS) for _ in draw.repeat(3)]
    gaps = [draw.choice(GAPS) for _ in texts[1:]]
    data: Event = {"turn": 1, "step": 1, "index": draw.choice(NUMBERS), "dt": gaps}
    if kind == "tool-call-chunks":
        data["id"] = draw.choice(("c1", ""))
        if draw.chance(50):
            data["name"] = "read"
    data["args" if kind == "tool-call-chunks" else "texts"] = texts
    seq = draw.choice(STARTS) if draw.chance(40) else 3
    return {"type": kind, "seq0": seq, "time0": draw.choice((0, -5, LAST_SEQ - 9)), "data": data}


NO_ROWS: tuple[Any, ...] = (
    None,
    0,
    "x",
    True,
    [],
    {},
    {"type": "turn/end", "seq": 0},
    {"type": ["text-chunks"]},
)


def spoiled_row(draw: Draw) -> Any:
    """A row with a fault, or no row at all."""
    if draw.chance(6):
        return draw.choice(NO_ROWS)
    found = row(draw)
    for _ in range(1 if not draw.chance(25) else 2):
        found = spoil_row(draw, found)
    return found


def spoil_row(draw: Draw, found: Event) -> Event:
    """One fault in the envelope, in the data, or in a list."""
    way = draw.integer(0, 7)
    data = found.get("data")
    junk = draw.choice((*FINITE_NOT_SEQS, raw("-0"), raw("1.0"), LAST_SEQ, -LAST_SEQ))
    if way == 0:
        return {**found, draw.choice(("seq0", "time0", "data", "seq", "note")): junk}
    if way == 1:
        gone = draw.choice(("seq0", "time0", "data"))
        return {name: value for name, value in found.items() if name != gone}
    if not isinstance(data, dict) or not data:
        return found
    names = sorted(data)
    if way == 2:
        gone = draw.choice(names)
        return {**found, "data": {name: value for name, value in data.items() if name != gone}}
    if way == 3:
        return {
            **found,
            "data": {**data, draw.choice((*names, "name", "id", "args", "texts", "extra")): junk},
        }
    lists = [name for name in names if isinstance(data[name], list)]
    if not lists:
        return found
    name = draw.choice(lists)
    members = data[name]
    if way == 4:
        changed = [*members, *(members[:1] or [0])]
    elif way == 5:
        changed = members[1:]
    elif way == 6:
        changed = [*members[:-1], junk]
    else:
        changed = []
    return {**found, "data": {**data, name: changed}}


def unpack_request(draw: Draw) -> Members:
    """A row, sound or not."""
    way = draw.integer(0, 4)
    if way < 2:
        found = row(draw)
        if draw.chance(10):  # what reads like a row is one by its type alone
            front, _, end = found["type"].rpartition("-")
            near = (f"x{front}-{end}", f"{front}s-{end}", f"other-{end}", front, f"{front}-chunk")
            found["type"] = draw.choice(near)
        return {"record": Spelled(found)}
    return {"record": Spelled(altered(draw, row(draw)) if way == 2 else spoiled_row(draw))}


def long_batch(draw: Draw) -> Members:
    """Seldom about as many members as a row of SQLite may have, or a few that are as large as it may be."""
    if not draw.chance(15):
        return pack_request(draw)
    if draw.chance(50):
        number = draw.integer(1020, 1030)
        same = chunk_event(draw, 0, 0, "text-delta")
        return {"events": Spelled([{**same, "seq": seq} for seq in range(number)]), "level": "layout"}
    kind = draw.choice(KINDS[:2])
    text = draw.choice(("a", "é", "😀", "\n"))
    size = {"a": 1, "é": 2, "😀": 4, "\n": 2}[text]
    data = {"turn": 1, "step": 1, "chunk": {"type": kind, "index": 0, "text": text}}
    events = [
        {"type": "assistant/chunk", "seq": seq, "time": 10 * seq, "data": data}
        for seq in range(draw.integer(3, 6))
    ]
    rest = MOST_BYTES - len('{"turn":1,"step":1,"index":0,"dt":[10,10],"texts":["","",""]}')
    first = (rest + draw.integer(-3, 3)) // size
    repeats = [first - 2, 1, 1, *(draw.integer(0, 2) for _ in events[3:])]
    return {"events": events, "repeats": draw.choice((repeats, repeats[::-1])), "level": "layout"}


def long_row(draw: Draw) -> Members:
    """Seldom a row with about as many members as SQLite allows, or as large."""
    if not draw.chance(15):
        return unpack_request(draw)
    if draw.chance(50):
        number = draw.integer(1022, 1027)
        texts, repeats = ["a"] * number, [1] * number
    else:
        rest = MOST_BYTES - len('{"turn":1,"step":1,"index":0,"dt":[0,0],"texts":["","",""]}')
        texts, repeats = ["a", "b", "c"], [rest + draw.integer(-3, 3) - 2, 1, 1]
    data = {"turn": 1, "step": 1, "index": 0, "dt": [0] * (len(texts) - 1), "texts": texts}
    record = {"type": "text-chunks", "seq0": 0, "time0": 0, "data": data}
    return {"record": record, "repeats": repeats, "level": "layout"}
