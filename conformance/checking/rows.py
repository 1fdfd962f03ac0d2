"""Packed rows of chunks, as the JSONL store has them: are they well formed, and which seqs do they cover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.checking.exact_json import MAX_SAFE, is_number, is_seq, is_whole

ROWS = {
    "text-chunks": ("texts", {"turn", "step", "index", "dt", "texts"}),
    "reasoning-chunks": ("texts", {"turn", "step", "index", "dt", "texts"}),
    "tool-call-chunks": ("args", {"turn", "step", "index", "id", "dt", "args"}),
}
"""The tags of rows, each with the member that holds its texts and the names that its data must have."""

KINDS = {
    "text-chunks": "text-delta",
    "reasoning-chunks": "reasoning-delta",
    "tool-call-chunks": "tool-call-delta",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A well formed row: so many chunks from ``seq0``, and the time of its last one."""

    seq0: int
    count: int
    last_time: int
    record: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RowFault:
    """What is wrong with a row."""

    condition: str
    what: str
    names: tuple[str, ...] = ()


def read_row(record: dict[str, Any], tag: str) -> Row | RowFault:
    """The row, or the first fault in the order in which a reader asks."""
    if record.keys() != {"type", "seq0", "time0", "data"}:
        return RowFault("chunk-envelope", "a packed row has exactly type, seq0, time0 and data")
    if not is_seq(record["seq0"]):
        return RowFault("chunk-seq0", "seq0 of a packed row is no seq", ("seq0",))
    if not is_whole(record["time0"]):
        return RowFault("chunk-time0", "time0 of a packed row is no whole number", ("time0",))
    data = record["data"]
    if not isinstance(data, dict):
        condition = "chunk-data-keys" if isinstance(data, list) else "chunk-data"
        return RowFault(condition, "the data of a packed row is no object", ("data",))
    texts_name, names = ROWS[tag]
    fault = _data_fault(data, tag, texts_name, names)
    if fault is not None:
        return fault
    seq0, time, count = int(record["seq0"]), int(record["time0"]), len(data[texts_name])
    if seq0 + count - 1 > MAX_SAFE:
        return RowFault("chunk-seq-overflow", "the seqs of a packed row go beyond 2^53-1", ("seq0",))
    for gap in data["dt"]:
        time += int(gap)
        if not -MAX_SAFE <= time <= MAX_SAFE:
            what = "the times of a packed row go beyond 2^53-1"
            return RowFault("chunk-time-overflow", what, ("data", "dt"))
    return Row(seq0, count, time, record)


def _data_fault(data: dict[str, Any], tag: str, texts_name: str, names: set[str]) -> RowFault | None:
    allowed = names | {"name"} if texts_name == "args" else names
    if not names <= data.keys() <= allowed:
        what = f"the data of a {tag} row has other members than it must have"
        return RowFault("chunk-data-keys", what, ("data",))
    if texts_name == "args" and not (isinstance(data["id"], str) and isinstance(data.get("name", ""), str)):
        return RowFault("chunk-tool-id", "id and name of a packed row must be texts", ("data", "id"))
    for name in ("turn", "step", "index"):
        if not is_number(data[name]):
            return RowFault("chunk-numbers", f"{name} of a packed row is no number", ("data", name))
    texts, gaps = data[texts_name], data["dt"]
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        what = f"{texts_name} of a packed row must be a list of texts with at least one"
        return RowFault("chunk-members", what, ("data", texts_name))
    if not isinstance(gaps, list) or not all(is_whole(gap) for gap in gaps):
        return RowFault("chunk-gaps", "dt of a packed row must be a list of whole numbers", ("data", "dt"))
    if len(gaps) != len(texts) - 1:
        what = f"a packed row with {len(texts)} texts has {len(gaps)} gaps, and needs one fewer than texts"
        return RowFault("chunk-gap-count", what, ("data", "dt"))
    return None


def members_of(row: Row) -> list[dict[str, Any]]:
    """The events of a row."""
    record = row.record
    data, tag = record["data"], record["type"]
    time, events = int(record["time0"]), []
    for index, text in enumerate(data[ROWS[tag][0]]):
        time += int(data["dt"][index - 1]) if index else 0
        chunk: dict[str, Any] = {"type": KINDS[tag], "index": data["index"]}
        if tag == "tool-call-chunks":
            chunk |= {name: data[name] for name in ("id", "name") if name in data}
            chunk["argumentsDelta"] = text
        else:
            chunk["text"] = text
        inner = {"turn": data["turn"], "step": data["step"], "chunk": chunk}
        events.append({"type": "assistant/chunk", "seq": row.seq0 + index, "time": time, "data": inner})
    return events
