"""Shorthand in what is expected: events, closers and records, in a result and in each alternative."""

from __future__ import annotations

from typing import Any

from conformance.shorthand import DELTAS, Event, ShorthandError, expand_event, expand_events, in_each_answer
from conformance.shorthand_closers import expand_closer


def expand_expect(operation: str, request: Event, expect: Event) -> Event:
    """The ``expect`` of a case, expanded; ``request`` is the expanded request. Steps stay as they are.

    Raises ShorthandError.
    """
    return in_each_answer(expect, lambda answer: _expand_answer(operation, request, answer))


def _expand_answer(operation: str, request: Event, answer: Event) -> Event:
    """One answer. Members that no shorthand is for, and answers that are no results, stay."""
    result = answer.get("result")
    if not isinstance(result, dict):
        return answer
    expanded = dict(result)
    if isinstance(result.get("closers"), list):
        expanded["closers"] = [expand_closer(element) for element in result["closers"]]
    if operation == "chunks.pack" and isinstance(result.get("records"), list):
        expanded["records"] = [_verbatim(request.get("events"), record) for record in result["records"]]
    if isinstance(result.get("events"), list):
        unpacks = operation == "chunks.unpack"
        events = result["events"]
        expanded["events"] = _unpacked(request.get("record"), events) if unpacks else expand_events(events)
    return {**answer, "result": expanded}


def _unpacked(record: Any, events: list[Any]) -> list[Any]:
    """Chunks count from the seq of their row; what is no chunk is any value that was passed through."""
    first = record.get("seq0") if isinstance(record, dict) else None
    return [
        expand_event(event, first + index)
        if type(first) is int and isinstance(event, dict) and event.keys() & DELTAS.keys()
        else event
        for index, event in enumerate(events)
    ]


def _verbatim(events: Any, record: Any) -> Any:
    """``{verbatim: I}`` is the event at index I of the request."""
    if not isinstance(record, dict) or record.keys() != {"verbatim"}:
        return record
    index = record["verbatim"]
    if not isinstance(events, list) or type(index) is not int or not 0 <= index < len(events):
        raise ShorthandError(f"verbatim takes the index of an event of the request, not {index!r}")
    return events[index]
