"""The log that a sweep damages: turns that ended, one that did not, and what each line and write holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import zstandard

Event = dict[str, Any]
HEADER: Event = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
MOST_EVENTS = 5000
"""Events of the largest log that is swept."""
CHUNK_TEXTS = ("a", "b", "c")


@dataclass(frozen=True)
class Record:
    """One line of the log, and the events that it stands for: one, or those of a row of packed chunks."""

    line: bytes
    events: list[Event]


@dataclass(frozen=True)
class Part:
    """What is kept whole or not at all: a line, or a frame. ``count`` events stand before its end."""

    start: int
    end: int
    count: int


@dataclass(frozen=True)
class GoodLog:
    """A whole log. ``writes`` holds the events of each append, ``parts`` what the format keeps whole.

    ``last_write`` is the byte where the last append begins; nothing before it may ever be lost.
    """

    compression: str
    data: bytes
    events: list[Event]
    parts: list[Part]
    last_write: int
    rows: dict[bytes, list[Event]] = field(default_factory=dict)


def batches(count: int, *, chunks: bool = True) -> Iterator[list[Event]]:
    """``count`` events as a store gets them: a batch per turn, five events each; the last turn is open.

    Every fourth turn has a run of chunks that a log may hold as a row.
    """
    seq, turn = 0, 0
    while seq < count:
        turn += 1
        kinds = [
            "turn/start",
            "session/title",
            "step/start",
            *(["chunk"] * 3 if chunks and turn % 4 == 0 else []),
        ]
        kinds += ["step/end", "turn/end"]
        last = seq + len(kinds) >= count
        kinds = kinds[: count - seq]
        if last and kinds[-1] == "turn/end":
            kinds[-2:] = ["session/title"] * len(kinds[-2:])
        batch = [event_of(kind, seq + place, turn, place) for place, kind in enumerate(kinds)]
        yield batch
        seq += len(batch)


def event_of(kind: str, seq: int, turn: int, place: int) -> Event:
    """One event of a turn."""
    if kind == "chunk":
        chunk = {"type": "text-delta", "index": 0, "text": CHUNK_TEXTS[(place - 3) % 3]}
        data: Event = {"turn": turn, "step": 1, "chunk": chunk}
        return {"type": "assistant/chunk", "seq": seq, "time": seq, "data": data}
    payloads: dict[str, Event] = {
        "turn/start": {"turn": turn},
        "turn/end": {"turn": turn, "reason": {"kind": "completed"}},
        "step/start": {"turn": turn, "step": 1},
        "step/end": {"turn": turn, "step": 1},
        "session/title": {"title": f"é{turn}"},
    }
    return {"type": kind, "seq": seq, "time": seq, "data": payloads[kind]}


def records_of(batch: list[Event]) -> Iterator[Record]:
    """The lines of a batch; a run of three chunks becomes a row."""
    place = 0
    while place < len(batch):
        run = batch[place : place + 3]
        if len(run) == 3 and all(event["type"] == "assistant/chunk" for event in run):
            yield Record(line_of(row_of(run)), run)
            place += 3
        else:
            yield Record(line_of(batch[place]), [batch[place]])
            place += 1


def row_of(run: list[Event]) -> Event:
    """The row of chunks that follow each other, by the page on chunk rows."""
    first = run[0]
    return {
        "type": "text-chunks",
        "seq0": first["seq"],
        "time0": first["time"],
        "data": {
            "turn": first["data"]["turn"],
            "step": 1,
            "index": 0,
            "dt": [1] * (len(run) - 1),
            "texts": [event["data"]["chunk"]["text"] for event in run],
        },
    }


def line_of(value: Event) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def build(count: int, compression: str) -> GoodLog:
    """A log of ``count`` events: its bytes, and where each of its parts ends."""
    data = b""
    parts: list[Part] = []
    events: list[Event] = []
    rows: dict[bytes, list[Event]] = {}

    def put(piece: bytes) -> None:
        nonlocal data
        parts.append(Part(len(data), len(data) + len(piece), len(events)))
        data += piece

    put(stored(line_of({"type": "session", **HEADER}), compression))
    last_write = len(data)
    for batch in batches(count):
        last_write = len(data)
        records = list(records_of(batch))
        for record in records:
            if len(record.events) > 1:
                rows[record.line[:-1]] = record.events
            if compression == "none":
                events += record.events
                put(record.line)
        if compression == "zstd":
            events += batch
            put(stored(b"".join(record.line for record in records), compression))
    return GoodLog(compression, data, events, parts, last_write, rows)


def stored(content: bytes, compression: str) -> bytes:
    if compression == "none":
        return content
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(content)
