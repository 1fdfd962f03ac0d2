"""Shorthand in cases about a storage backend: batches in requests, logs in expectations.

The seq of an element in a batch is the number of events that are appended to that session between its
last ``create`` and this step, and in a log that is expected it is the index; ``first: N`` beside the
events says otherwise.
"""

from __future__ import annotations

from typing import Any

from conformance.shorthand import Event, ShorthandError, expand_events


def expand_batches(steps: list[Any]) -> list[Any]:
    """The steps of a request with the events of every ``append`` and ``live`` expanded."""
    appended: dict[str, int] = {}
    expanded = []
    for step in steps:
        new = dict(step) if isinstance(step, dict) else step
        if isinstance(new, dict) and isinstance(new.get("create"), dict):
            appended.pop(str(new["create"].get("id")), None)
        for name in ("append", "live"):
            batch = new.get(name) if isinstance(new, dict) else None
            if isinstance(batch, dict) and isinstance(batch.get("events"), list):
                owner = str(batch.get("id"))
                events = _expanded(batch, appended.get(owner, 0) if name == "append" else 0)
                new[name] = events
                if name == "append":
                    appended[owner] = appended.get(owner, 0) + len(events["events"])
        expanded.append(new)
    return expanded


def expand_logs(expect: Any) -> None:
    """Expand the events in the results of an expectation, where they stand."""
    for step in expect.get("steps", ()) if isinstance(expect, dict) else ():
        for alternative in step.get("any_of", [step]):
            result = alternative.get("result")
            if isinstance(result, dict) and isinstance(result.get("events"), list):
                expanded = _expanded(result, 0)
                result.clear()
                result.update(expanded)


def _expanded(holder: Event, first: int) -> Event:
    holder = dict(holder)
    first = holder.pop("first", first)
    if type(first) is not int:
        raise ShorthandError("first must be an integer")
    return {**holder, "events": expand_events(holder["events"], first)}
