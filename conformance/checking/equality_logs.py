"""Logs that nobody wrote, from a seed and a number: sound ones, and damaged ones of many kinds.

They are made from the recipes of ``fuzz``, and then hurt as disks, editors and other tools hurt a log.
"""

from __future__ import annotations

import json
from typing import Any

import zstandard

from conformance.fuzzing import interrupted, log_lines, logs, stored
from conformance.fuzzing.draw import Draw, Seeded
from conformance.fuzzing.recipes import RECIPES, wheel_of
from conformance.fuzzing.spelling import Spelled, encode, unmarked

HEADER = encode(log_lines.HEADER).encode()
OPERATIONS = frozenset(("fold", "messages", "transcript", "closers", "normalise", "request-header"))
WHEEL = wheel_of([recipe for recipe in RECIPES if recipe.op in OPERATIONS and recipe.capability == recipe.op])
ROW_TAGS = {"text-delta": "text-chunks", "reasoning-delta": "reasoning-chunks"}
ODD: tuple[bytes, ...] = (
    b"null", b"true", b"0", b"-1", b"1", b"1.5", b"1.0", b"-0", b"-0.0", b"-1e-400", b"1e400", b"1e10",
    b"5e-7", b"9007199254740992", b"1" * 320, b"1" * 305 + b"e9", b"01", b"1.", b"+1", b"NaN",
    b'""', b'"x"', b'"append"', b'"user/message"', b'"tool/result"', b'"\\ud800"', b'"\\ud83d\\ude00"',
    b'"\\x"', b'"\t"', b'"\xff"', b'"\xc3\xa9"', b"[]", b"[0]", b"[0,0]", b"{}", b'{"kind":"x"}',
    b'{"op":"replace","start":0,"end":1}', b"[" * 30 + b"]" * 30,
)  # fmt: skip
"""What is put in the place of a value."""
LINES: tuple[bytes, ...] = (
    b"", b" ", b"\r", b"{bad", b"null", b"[]", b"{}", b"-0", b"1e400", b"\x00\x00", b"\xff", b"{}{}",
    b"\xef\xbb\xbf{}", b"[" * 1500 + b"]" * 1500, b'{"a":' * 1200 + b"1" + b"}" * 1200,
    b'{"type":"turn/end"}', b'{"type":"turn/end","seq":1.0,"time":1e3,"data":null}',
)  # fmt: skip
"""What is put between two lines."""


def draw_log(seed: str, number: int) -> tuple[bytes, str]:
    """A log, and its compression: ``none`` or ``zstd``."""
    draw = Seeded(f"{seed}/{number}")
    data = _whole(draw)
    if draw.chance(60):
        data = _hurt(draw, data)
    if draw.chance(85) or not data:
        return data, "none"
    packed = _compressed(draw, data)
    # Nothing but its first bytes says that a log in memory is compressed.
    return (packed, "zstd") if packed[:4] == zstandard.FRAME_HEADER else (data, "none")


def _whole(draw: Draw) -> bytes:
    """A log as it was before anything happened to it; some of its events may be wrong already."""
    way = draw.integer(0, 99)
    if way < 20:
        return bytes.fromhex(stored.scan_request(draw)["hex"])
    if way < 55:
        members = draw.choice(WHEEL).make(draw)
        events = members["events"]
        events = events.value if isinstance(events, Spelled) else events
    elif way < 65:
        events = interrupted.cut_session(draw)
    else:
        draft = logs.LogDraft()
        for _ in draw.repeat(3):
            draw.choice(logs.LIFELIKE)(draw, draft)
        events = draft.events
    if isinstance(events, list) and draw.chance(35):
        events = _rows(events)
    lines = [unmarked(encode(event)).encode() for event in events] if isinstance(events, list) else []
    return b"".join(line + b"\n" for line in (HEADER, *lines))


def _rows(events: list[Any]) -> list[Any]:
    """The same log with each run of plain chunks as one row, as far as it takes such runs to be plain."""
    told: list[Any] = []
    for event in events:
        row = _row_of(event)
        last = told[-1] if told else None
        if row is not None and isinstance(last, dict) and _continues(last, row):
            last["data"]["dt"].append(row["time0"] - last["time0"] - sum(last["data"]["dt"]))
            last["data"]["texts"] += row["data"]["texts"]
        else:
            told.append(event if row is None else row)
    return told


def _row_of(event: Any) -> dict[str, Any] | None:
    try:
        (turn, step, chunk), seq, time = event["data"].values(), event["seq"], event["time"]
        kind, index, text = chunk.values()
        tag = ROW_TAGS[kind]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    if event.get("type") != "assistant/chunk" or len(event) != 4 or not isinstance(time, int):
        return None
    data = {"turn": turn, "step": step, "index": index, "dt": [], "texts": [text]}
    return {"type": tag, "seq0": seq, "time0": time, "data": data}


def _continues(last: dict[str, Any], row: dict[str, Any]) -> bool:
    if last.get("type") != row["type"] or "seq0" not in last:
        return False
    return bool(last["data"]["step"] == row["data"]["step"] and last["data"]["turn"] == row["data"]["turn"])


def _compressed(draw: Draw, data: bytes) -> bytes:
    """The log in some frames, which may be cut off, flipped or torn."""
    head, _, rest = data.partition(b"\n")
    at = draw.integer(0, len(rest))
    if draw.chance(70):
        at = rest.rfind(b"\n", 0, at) + 1
    compressor = zstandard.ZstdCompressor(write_checksum=draw.chance(50))
    parts = [part for part in (head + b"\n", rest[:at], rest[at:]) if part]
    packed = b"".join(compressor.compress(part) for part in parts)
    if draw.chance(30):
        packed = packed[: draw.integer(0, len(packed))]
    if draw.chance(15) and packed:
        place = draw.integer(0, len(packed) - 1)
        packed = packed[:place] + bytes([packed[place] ^ 1 << draw.integer(0, 7)]) + packed[place + 1 :]
    return packed


# -- damage -----------------------------------------------------------------------------


def _hurt(draw: Draw, data: bytes) -> bytes:
    """One to three damages, one after the other."""
    for _ in range(draw.integer(1, 3)):
        data = draw.choice(DAMAGES)(draw, data)
    return data


def _lines(draw: Draw, data: bytes) -> bytes:
    """A line gone, put in, repeated, swapped, or with the line end of another system."""
    lines = data.split(b"\n")
    at, way = draw.integer(min(1, len(lines) - 1), len(lines) - 1), draw.integer(0, 5)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(at, draw.choice(LINES))
    elif way == 2:
        lines[at:at] = lines[max(1, at - 2) : at]
    elif way == 3:
        lines[at:] = lines[at:][::-1]
    elif way == 4:
        lines[at:] = [line + b"\r" for line in lines[at:-1]] + lines[-1:]
    else:
        lines[at] += lines[at]
    return b"\n".join(lines)


def _bytes(draw: Draw, data: bytes) -> bytes:
    """Bytes changed, put in, or cut off."""
    at, way = draw.integer(0, len(data)), draw.integer(0, 3)
    if way == 0:
        return data[:at]
    if way == 1 and at < len(data):
        return data[:at] + bytes([data[at] ^ 1 << draw.integer(0, 7)]) + data[at + 1 :]
    piece = draw.choice((b"\xff", b"\x00", b"\n", b" ", b"\\ud800", b"-0", b"e99", b'"', b",", b"\xe2\x82"))
    return data[:at] + piece + data[at:]


def _values(draw: Draw, data: bytes) -> bytes:
    """A value, deep in one line, gone, or in the place of which another stands."""
    lines = data.split(b"\n")
    at = draw.integer(0, len(lines) - 1)
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return data
    lines[at] = _changed(draw, value)
    return b"\n".join(lines)


def _changed(draw: Draw, value: Any) -> bytes:
    if isinstance(value, dict) and value and draw.chance(90):
        name = draw.choice(list(value))
        parts = [b"%s:%s" % (_text(key), _text(item)) for key, item in value.items() if key != name]
        place = draw.integer(0, len(parts))
        if not draw.chance(15):
            parts.insert(place, b"%s:%s" % (_text(name), _changed(draw, value[name])))
        if draw.chance(12):
            extra = draw.choice(("x", "type", "seq", "trigger", "message", "ignorable", "surfaceOp", name))
            parts.insert(place, b"%s:%s" % (_text(extra), draw.choice(ODD)))
        return b"{" + b",".join(parts) + b"}"
    if isinstance(value, list) and value and draw.chance(80):
        place = draw.integer(0, len(value) - 1)
        items = [_text(item) for item in value]
        items[place] = _changed(draw, value[place])
        return b"[" + b",".join(items) + b"]"
    return draw.choice(ODD)


def _text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


DAMAGES = (_lines, _bytes, _values, _values)
