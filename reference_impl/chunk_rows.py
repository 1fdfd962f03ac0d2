"""Chunk rows: how a run of ``assistant/chunk`` events is packed into one row, and expanded again.

Page: ``spec/chunk-rows.md``. JSONL and SQLite pack the same events into the same rows. SQLite alone
bounds a row, by members and by the UTF-8 bytes of its data, and holds a row to these bounds on reading.
An event and a row are plain JSON values; a run is a list of events, each of which continues the one before.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from .rejection import Rejection
from .values import equal_json, is_number, is_seq, to_double

Event = dict[str, Any]
Row = dict[str, Any]

LEAST_MEMBERS = 3
"""A shorter run stays as it is."""
MOST_MEMBERS = 1024
MOST_BYTES = 1_048_576
"""The two bounds of SQLite: members of a row, and UTF-8 bytes of the JSON text of its data."""

ROW_OF_KIND = {
    "text-delta": "text-chunks",
    "reasoning-delta": "reasoning-chunks",
    "tool-call-delta": "tool-call-chunks",
}
KIND_OF_ROW = {row: kind for kind, row in ROW_OF_KIND.items()}
TOOL_CALL = "tool-call-delta"
TOOL_ROW = "tool-call-chunks"
LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Of a pair nothing is left in a text of Python, which counts it as one character."""


def is_safe_integer(value: object) -> bool:
    """A whole number from -(2^53-1) to 2^53-1, however it is spelled."""
    return is_number(value) and is_seq(abs(value))  # type: ignore[arg-type]


# -- what packs ------------------------------------------------------------------


def kind_of(event: object) -> str | None:
    """CHNK-1, CHNK-2: the type of the chunk in an event that can be packed; None for any other event."""
    if not isinstance(event, dict) or event.get("type") != "assistant/chunk":
        return None
    if event.keys() != {"type", "seq", "time", "data"}:
        return None
    if not is_seq(event["seq"]) or not is_safe_integer(event["time"]):
        return None
    data = event["data"]
    if not isinstance(data, dict) or data.keys() != {"turn", "step", "chunk"}:
        return None
    if not is_number(data["turn"]) or not is_number(data["step"]):
        return None
    return kind_of_chunk(data["chunk"])


def kind_of_chunk(chunk: object) -> str | None:
    """CHNK-2: text and reasoning have an index and a text, tool calls an id, arguments and perhaps a name."""
    if not isinstance(chunk, dict) or not is_number(chunk.get("index")):
        return None
    kind = chunk.get("type")
    if kind == "text-delta" or kind == "reasoning-delta":
        texts = ["text"]
    elif kind == TOOL_CALL:
        texts = ["id", "argumentsDelta"]
        if "name" in chunk:
            texts.append("name")
    else:
        return None
    if chunk.keys() != {"type", "index", *texts}:
        return None
    for name in texts:
        if not isinstance(chunk[name], str):
            return None
    return str(kind)


def continues(previous: Event, event: Event) -> bool:
    """CHNK-3, CHNK-4: whether an event goes on with the run that ends in ``previous``."""
    kind = kind_of(event)
    if kind is None or kind != kind_of(previous):
        return False
    if event["seq"] != previous["seq"] + 1:
        return False
    if not is_safe_integer(gap_between(previous, event)):
        return False
    before, after = previous["data"], event["data"]
    if not equal_json(after["turn"], before["turn"]) or not equal_json(after["step"], before["step"]):
        return False
    old, new = before["chunk"], after["chunk"]
    if not equal_json(new["index"], old["index"]):
        return False
    if new.get("id") != old.get("id"):
        return False
    return bool(new.get("name") == old.get("name"))  # a name is a text, so None is an absent one


def gap_between(previous: Event, event: Event) -> int:
    """CHNK-6: milliseconds from one event to the next; negative where the clock was set back."""
    return int(event["time"]) - int(previous["time"])


def runs_of(events: list[Event]) -> list[list[Event]]:
    """CHNK-3: a batch cut into runs, in order. An event that cannot be packed is a run of its own."""
    runs: list[list[Event]] = []
    for event in events:
        if runs and continues(runs[-1][-1], event):
            runs[-1].append(event)
        else:
            runs.append([event])
    return runs


# -- packing ---------------------------------------------------------------------


def payload_of(event: Event) -> str:
    """The text that is a member's own: ``argumentsDelta`` of a tool call, ``text`` of the others."""
    chunk = event["data"]["chunk"]
    name = "argumentsDelta" if chunk["type"] == TOOL_CALL else "text"
    return str(chunk[name])


def row_of(run: list[Event]) -> Row:
    """CHNK-6: the row of a run. CHNK-11: its members stand in the order in which they are written."""
    first = run[0]
    chunk = first["data"]["chunk"]
    gaps = [gap_between(run[index], run[index + 1]) for index in range(len(run) - 1)]
    data = {
        "turn": first["data"]["turn"],
        "step": first["data"]["step"],
        "index": chunk["index"],
        "dt": gaps,
    }
    if "id" in chunk:
        data["id"] = chunk["id"]
    if "name" in chunk:
        data["name"] = chunk["name"]
    data["args" if chunk["type"] == TOOL_CALL else "texts"] = [payload_of(event) for event in run]
    return {
        "type": ROW_OF_KIND[chunk["type"]],
        "seq0": int(first["seq"]),
        "time0": int(first["time"]),
        "data": data,
    }


def pack_jsonl(events: list[Event]) -> list[Any]:
    """CHNK-5, CHNK-7: rows for runs of three members or more, all other events as they are, in order.

    ``events`` is one batch. CHNK-10: a row of JSONL has no bounds.
    """
    records: list[Any] = []
    for run in runs_of(events):
        if len(run) >= LEAST_MEMBERS:
            records.append(row_of(run))
        else:
            records.extend(run)
    return records


def pack_sqlite(events: list[Event]) -> list[Any]:
    """CHNK-8, CHNK-9: as JSONL, with each run cut from its front into rows within the bounds.

    Where not even three members fit, one event stays as it is and the next one is tried.
    """
    records: list[Any] = []
    for run in runs_of(events):
        start = 0
        while len(run) - start >= LEAST_MEMBERS:
            count = members_within_bounds(run, start)
            if count >= LEAST_MEMBERS:
                records.append(row_of(run[start : start + count]))
                start += count
            else:
                records.append(run[start])
                start += 1
        records.extend(run[start:])
    return records


def members_within_bounds(run: list[Event], start: int) -> int:
    """CHNK-8, CHNK-9: how many members from ``start`` make the longest row within the bounds; at least 1.

    The size grows with each member by its text, its gap, and a comma in front of either; the first gap
    has no comma.
    """
    size = utf8_bytes(json_text(row_of(run[start : start + 1])["data"]))
    count = 1
    while count < MOST_MEMBERS and start + count < len(run):
        event = run[start + count]
        size += 1 + utf8_bytes(json_text(payload_of(event)))
        size += utf8_bytes(json_text(gap_between(run[start + count - 1], event)))
        if count > 1:
            size += 1
        if size > MOST_BYTES:
            break
        count += 1
    return count


# -- the text of a row -----------------------------------------------------------


def json_text(value: Any) -> str:
    """CHNK-11: compact JSON text of a row or a part of it: objects, lists, texts and numbers."""
    if isinstance(value, dict):
        members = [f"{json_text(name)}:{json_text(member)}" for name, member in value.items()]
        return "{" + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + ",".join([json_text(element) for element in value]) + "]"
    if isinstance(value, str):
        return string_text(value)
    return number_text(value)


def string_text(text: str) -> str:
    """CHNK-11: only the quote, the backslash, controls below blank and lone surrogates are escaped."""
    return LONE_SURROGATE.sub(escaped, json.dumps(text, ensure_ascii=False))


def escaped(found: re.Match[str]) -> str:
    """CHNK-11: a lone surrogate as its escape, in small letters."""
    return f"\\u{ord(found[0]):04x}"


def number_text(number: int | float) -> str:
    """CHNK-11: the shortest digits that name this double, with an exponent from 1e21 and below 1e-6.

    -0 is written as 0, and a number beyond all doubles as null.
    """
    double = to_double(number)
    if abs(double) == float("inf"):
        return "null"
    if double == 0:
        return "0"
    sign, numerals, exponent = Decimal(repr(double)).normalize().as_tuple()
    digits = "".join([str(numeral) for numeral in numerals])
    point = len(digits) + int(exponent)  # so many digits stand in front of the point
    minus = "-" if sign else ""
    if len(digits) <= point <= 21:
        return minus + digits + "0" * (point - len(digits))
    if 0 < point < len(digits):
        return f"{minus}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{minus}{digits[0]}{fraction}e{point - 1:+d}"


def utf8_bytes(text: str) -> int:
    """Length in UTF-8 of a text without lone surrogates, such as ``json_text`` gives."""
    return len(text.encode())


# -- reading ---------------------------------------------------------------------


def malformed(condition: str, words: str, row: Row) -> Rejection:
    """A refusal of a row; it is about the whole row, so it has no ``at``."""
    return Rejection(condition, f"malformed {row['type']} storage row: {words}")


def unpack_jsonl(record: Any) -> list[Any]:
    """CHNK-12, CHNK-13: the events of a record of JSONL, in which a row may have any number of members."""
    return unpack(record, least=1, bounded=False)


def unpack_sqlite(record: Any) -> list[Any]:
    """CHNK-13 for a packed row of SQLite, which has three members at least, and bounds.

    That a column calls something packed which is no row is for the store to judge; here it is passed on.
    """
    return unpack(record, least=LEAST_MEMBERS, bounded=True)


def unpack(record: Any, least: int, bounded: bool) -> list[Any]:
    """CHNK-12: what is no row is one event, whatever it is. CHNK-13: a row is all of its events."""
    if not isinstance(record, dict) or record.get("type") not in list(KIND_OF_ROW):
        return [record]
    check_shape(record)
    check_lists(record, least, bounded)
    check_ends(record, bounded)
    return expand(record)


def members_of(row: Row) -> Any:
    """The texts of a row: ``args`` of a tool call, ``texts`` of the others."""
    return row["data"]["args" if row["type"] == TOOL_ROW else "texts"]


def check_shape(row: Row) -> None:
    """CHNK-14 to CHNK-20, in this order: the envelope and the fixed members of the data."""
    if row.keys() != {"type", "seq0", "time0", "data"}:
        raise malformed("chunk-envelope", "envelope must be exactly {type, seq0, time0, data}", row)
    if not is_seq(row["seq0"]):
        raise malformed("chunk-seq0", "seq0 must be a non-negative safe integer", row)
    if not is_safe_integer(row["time0"]):
        raise malformed("chunk-time0", "time0 must be a safe integer", row)
    data = row["data"]
    if not isinstance(data, dict | list):
        raise malformed("chunk-data", "data must be an object", row)
    names = set(data) if isinstance(data, dict) else None
    if row["type"] == TOOL_ROW:
        check_tool_call(row, names)
    elif names != {"turn", "step", "index", "dt", "texts"}:
        raise malformed("chunk-data-keys", "data must be exactly {turn, step, index, dt, texts}", row)
    for name in ("turn", "step", "index"):
        if not is_number(row["data"][name]):
            raise malformed("chunk-numbers", "turn/step/index must be numbers", row)


def check_tool_call(row: Row, names: set[str] | None) -> None:
    """CHNK-18, CHNK-19 for a tool call: its names, of which one is optional, and who is called."""
    data = row["data"]
    if names is None or names - {"name"} != {"turn", "step", "index", "id", "dt", "args"}:
        raise malformed(
            "chunk-data-keys", "data must be exactly {turn, step, index, id, name?, dt, args}", row
        )
    if not isinstance(data["id"], str) or ("name" in data and not isinstance(data["name"], str)):
        raise malformed("chunk-tool-id", "id (and name when present) must be strings", row)


def check_lists(row: Row, least: int, bounded: bool) -> None:
    """CHNK-21 to CHNK-23: the texts and how many they are, the gaps, and how many these are."""
    texts = members_of(row)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise malformed("chunk-members", "texts or args must be an array of strings", row)
    if len(texts) < least or (bounded and len(texts) > MOST_MEMBERS):
        raise malformed("chunk-members", f"{len(texts)} members are not a number that the store allows", row)
    gaps = row["data"]["dt"]
    if not isinstance(gaps, list) or not all(is_safe_integer(gap) for gap in gaps):
        raise malformed("chunk-gaps", "dt must be an array of safe integers", row)
    if len(gaps) != len(texts) - 1:
        raise malformed("chunk-gap-count", f"dt length {len(gaps)} does not match {len(texts)} members", row)


def check_ends(row: Row, bounded: bool) -> None:
    """CHNK-24 to CHNK-26: the size of the data, the last seq, and every time on the way."""
    if bounded and utf8_bytes(json_text(row["data"])) > MOST_BYTES:
        raise malformed("chunk-size", f"data exceeds {MOST_BYTES} UTF-8 bytes", row)
    if not is_seq(int(row["seq0"]) + len(members_of(row)) - 1):
        raise malformed("chunk-seq-overflow", "member seqs must stay safe integers", row)
    time = int(row["time0"])
    for gap in row["data"]["dt"]:
        time += int(gap)
        if not is_safe_integer(time):
            raise malformed("chunk-time-overflow", "member times must stay safe integers", row)


def expand(row: Row) -> list[Event]:
    """CHNK-13: the events of a checked row. Seqs count up by one, times by the gaps."""
    data = row["data"]
    time = int(row["time0"])
    events: list[Event] = []
    for index, text in enumerate(members_of(row)):
        if index > 0:
            time += int(data["dt"][index - 1])
        chunk = {"type": KIND_OF_ROW[row["type"]], "index": data["index"]}
        if row["type"] == TOOL_ROW:
            chunk["id"] = data["id"]
            if "name" in data:
                chunk["name"] = data["name"]
            chunk["argumentsDelta"] = text
        else:
            chunk["text"] = text
        events.append(
            {
                "type": "assistant/chunk",
                "seq": int(row["seq0"]) + index,
                "time": time,
                "data": {"turn": data["turn"], "step": data["step"], "chunk": chunk},
            }
        )
    return events
