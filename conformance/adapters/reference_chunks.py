"""The reference, asked to pack chunk rows and to unpack them."""

from __future__ import annotations

from typing import Any

from conformance.adapters.members import Request, Result, member
from reference_impl import chunk_rows


def chunks_pack(request: Request) -> Result:
    """The records; or the place of each; or the texts of the rows, for SQLite of their data."""
    events = member(request, "events")
    if "repeats" in request:
        events = [with_long_text(*pair) for pair in zip(events, request["repeats"], strict=True)]
    jsonl = request["store"] == "jsonl"
    records = chunk_rows.pack_jsonl(events) if jsonl else chunk_rows.pack_sqlite(events)
    if request.get("level") is None:
        return {"records": records}
    as_they_are = {id(event) for event in events}
    if request["level"] == "layout":
        return {"layout": [place_of(record, id(record) in as_they_are) for record in records]}
    rows = [record for record in records if id(record) not in as_they_are]
    return {"lines": [chunk_rows.json_text(row if jsonl else row["data"]) for row in rows]}


def place_of(record: Any, as_it_is: bool) -> list[Any]:
    """The first seq of a record, and how many members it has; 0 for an event that stays as it is."""
    return [record["seq"], 0] if as_it_is else [record["seq0"], len(members_of(record))]


def with_long_text(event: Any, times: int) -> Any:
    """A chunk whose text stands so many times in it."""
    data = event["data"]
    name = "argumentsDelta" if data["chunk"]["type"] == "tool-call-delta" else "text"
    chunk = {**data["chunk"], name: data["chunk"][name] * times}
    return {**event, "data": {**data, "chunk": chunk}}


def members_of(row: Any) -> list[str]:
    """The texts of a row."""
    texts: list[str] = row["data"]["args" if row["type"] == "tool-call-chunks" else "texts"]
    return texts


def chunks_unpack(request: Request) -> Result:
    """The events, or how many they are."""
    record = member(request, "record")
    for index, times in enumerate(request.get("repeats", ())):
        members_of(record)[index] *= times
    jsonl = request["store"] == "jsonl"
    events = chunk_rows.unpack_jsonl(record) if jsonl else chunk_rows.unpack_sqlite(record)
    return {"layout": len(events)} if "level" in request else {"events": events}
