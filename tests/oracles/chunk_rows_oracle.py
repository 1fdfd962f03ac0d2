"""A second reading of chunk rows, made from the recorded results and kept apart from the reference.

What packs is asked of a JSON Schema, and runs are what ``groupby`` makes of keys that count along. The
longest row is found by halving, with the whole data written anew for each try. A record is read by a table
of questions. Slow, and meant to be so. The data is written by Python's own JSON, so numbers should be whole
ones, or fractions that JavaScript writes with the same digits.

``pack`` gives records; ``unpack`` gives ``("events", [..])`` or ``("rejected", condition)``.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from itertools import accumulate, groupby, pairwise
from typing import Any

from jsonschema import Draft202012Validator

LAST = int("1" * 53, 2)
"""2^53-1."""
ROOM = 2**20
FULL = 2**10
NAMES = {
    "text-delta": "text-chunks",
    "reasoning-delta": "reasoning-chunks",
    "tool-call-delta": "tool-call-chunks",
}
INDEX = {"index": {"type": "number"}}


def exactly(optional: dict[str, Any] | None = None, **members: Any) -> dict[str, Any]:
    """A schema of an object with these members and no others."""
    properties = {**members, **(optional or {})}
    return {
        "type": "object",
        "required": list(members),
        "properties": properties,
        "additionalProperties": False,
    }


def text() -> dict[str, Any]:
    return {"type": "string"}


WHOLE = {"type": "integer", "minimum": -LAST, "maximum": LAST}
SEQ = {"type": "integer", "minimum": 0, "maximum": LAST}
NUMBER = {"type": "number"}
CHUNKS = [
    exactly(type={"enum": ["text-delta", "reasoning-delta"]}, index=NUMBER, text=text()),
    exactly(
        {"name": text()}, type={"const": "tool-call-delta"}, index=NUMBER, id=text(), argumentsDelta=text()
    ),
]
PACKABLE = Draft202012Validator(
    exactly(
        type={"const": "assistant/chunk"},
        seq=SEQ,
        time=WHOLE,
        data=exactly(turn=NUMBER, step=NUMBER, chunk={"oneOf": CHUNKS}),
    )
)


def what_is_shared(event: Any) -> str:
    """All of an event but seq, time and text, as text, with members in one order and numbers as doubles."""
    shared = copy.deepcopy({"data": event["data"]})
    for name in ("text", "argumentsDelta"):
        shared["data"]["chunk"].pop(name, None)
    for holder, name in (
        (shared["data"], "turn"),
        (shared["data"], "step"),
        (shared["data"]["chunk"], "index"),
    ):
        holder[name] = float(holder[name]) + 0.0  # -0 becomes 0
    return json.dumps(shared, sort_keys=True)


def runs(events: list[Any]) -> Iterator[list[Any]]:
    """Runs, and other events each alone. Members of a run have the same distance of seq and place."""

    def key(pair: tuple[int, Any]) -> Any:
        place, event = pair
        if not PACKABLE.is_valid(event):
            return ("alone", place)
        return (what_is_shared(event), event["seq"] - place)

    for _, pairs in groupby(enumerate(events), key):
        run = [event for _, event in pairs]
        cuts = [
            place
            for place, (one, other) in enumerate(pairwise(run), 1)
            if len(run) > 1 and abs(other["time"] - one["time"]) > LAST
        ]
        for start, end in pairwise([0, *cuts, len(run)]):
            yield run[start:end]


def row(run: list[Any]) -> dict[str, Any]:
    """The row of a run."""
    data, chunk = run[0]["data"], run[0]["data"]["chunk"]
    texts = [
        next(e["data"]["chunk"][n] for n in ("text", "argumentsDelta") if n in e["data"]["chunk"])
        for e in run
    ]
    packed = {
        "turn": data["turn"],
        "step": data["step"],
        "index": chunk["index"],
        "dt": [other["time"] - one["time"] for one, other in pairwise(run)],
        **{name: chunk[name] for name in ("id", "name") if name in chunk},
        ("args" if "id" in chunk else "texts"): texts,
    }
    return {"type": NAMES[chunk["type"]], "seq0": run[0]["seq"], "time0": run[0]["time"], "data": packed}


TOKEN = re.compile(r'"(?:[^"\\]+|\\.)*"|e-0(?=\d)')
"""A text, or the place where Python puts a 0 into an exponent and JavaScript does not."""


def written(value: Any) -> bytes:
    """Compact JSON in UTF-8. A lone surrogate cannot be encoded; what replaces it looks like its escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = TOKEN.sub(lambda token: "e-" if token[0] == "e-0" else token[0], text)
    return text.encode("utf-8", "backslashreplace")


def fits(run: list[Any]) -> bool:
    return len(run) <= FULL and len(written(row(run)["data"])) <= ROOM


def pack(store: str, events: list[Any]) -> list[Any]:
    """The records of one batch."""
    records: list[Any] = []
    for run in runs(events):
        rest = list(run)
        while len(rest) >= 3:
            count = len(rest) if store == "jsonl" else most_that_fit(rest)
            if count >= 3:
                records.append(row(rest[:count]))
                rest = rest[count:]
            else:
                records.append(rest.pop(0))
        records += rest
    return records


def most_that_fit(run: list[Any]) -> int:
    """By halving between a number that fits (0 does) and one that does not."""
    low, high = 0, min(len(run), FULL) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(run[:middle]) else (low, middle)
    return low


def valid(schema: dict[str, Any]) -> Callable[[Any], bool]:
    return Draft202012Validator(schema).is_valid


def members(record: Any) -> Any:
    data = record["data"]
    return data["args"] if "args" in data else data["texts"]


def questions(store: str, tool: bool) -> list[tuple[str, Callable[[Any], bool]]]:
    """What is asked of a row, in order, each with the condition of a no."""
    low, high = (1, 2**60) if store == "jsonl" else (3, FULL)
    anything: dict[str, Any] = {}
    names = dict.fromkeys(("turn", "step", "index", "dt", *(["id", "args"] if tool else ["texts"])), anything)
    data = exactly({"name": anything} if tool else None, **names)
    own = {"properties": {"id": text(), "name": text()}}
    numbers = {"properties": dict.fromkeys(("turn", "step", "index"), NUMBER)}
    strings = {"type": "array", "items": text(), "minItems": low, "maxItems": high}
    asked: list[tuple[str, Callable[[Any], bool]]] = [
        ("chunk-envelope", valid(exactly(type=anything, seq0=anything, time0=anything, data=anything))),
        ("chunk-seq0", valid({"properties": {"seq0": SEQ}})),
        ("chunk-time0", valid({"properties": {"time0": WHOLE}})),
        ("chunk-data", valid({"properties": {"data": {"type": ["object", "array"]}}})),
        ("chunk-data-keys", valid({"properties": {"data": data}})),
        ("chunk-tool-id", valid({"properties": {"data": own}}) if tool else lambda record: True),
        ("chunk-numbers", valid({"properties": {"data": numbers}})),
        ("chunk-members", lambda record: valid(strings)(members(record))),
        ("chunk-gaps", lambda record: valid({"type": "array", "items": WHOLE})(record["data"]["dt"])),
        ("chunk-gap-count", lambda record: len(record["data"]["dt"]) + 1 == len(members(record))),
        ("chunk-size", lambda record: store == "jsonl" or len(written(record["data"])) <= ROOM),
        ("chunk-seq-overflow", lambda record: record["seq0"] + len(members(record)) <= LAST + 1),
        ("chunk-time-overflow", lambda record: all(-LAST <= time <= LAST for time in times(record))),
    ]
    return asked


def times(record: Any) -> list[int]:
    return [int(time) for time in accumulate(record["data"]["dt"], initial=record["time0"])]


def unpack(store: str, record: Any) -> tuple[str, Any]:
    """The events of a record, or the first question that it fails."""
    if not (isinstance(record, dict) and record.get("type") in list(NAMES.values())):
        return ("events", [record])
    kind = next(kind for kind, name in NAMES.items() if name == record["type"])
    tool = kind == "tool-call-delta"
    for condition, holds in questions(store, tool):
        if not holds(record):
            return ("rejected", condition)
    data = record["data"]
    shared = {"type": kind, **{name: data[name] for name in ("index", "id", "name") if name in data}}
    events = [
        {
            "type": "assistant/chunk",
            "seq": int(record["seq0"]) + place,
            "time": time,
            "data": {
                "turn": data["turn"],
                "step": data["step"],
                "chunk": {**shared, ("argumentsDelta" if tool else "text"): piece},
            },
        }
        for place, (piece, time) in enumerate(zip(members(record), times(record), strict=True))
    ]
    return ("events", events)
