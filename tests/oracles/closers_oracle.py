"""Closers once more, without any state: each answer is looked up in the log by what stands behind what.

Written from the page and from nothing of the reference, so that a fault of one is no fault of both.
"""

from __future__ import annotations

from typing import Any

Event = dict[str, Any]


def ending(events: list[Event]) -> list[tuple[Any, ...]]:
    """The closers in short: ``("result", call, step, start or None)``, ``("step", N)``, ``("turn", N)``.

    A step or a call's id that is missing is told as ``missing``, so that it is not taken for null.
    """
    begins = last(events, ("turn/start", "turn/end"))
    if begins is None or events[begins]["type"] == "turn/end":
        return []
    steps = last(events, ("step/start", "step/end"), begins)
    step_ended = last(events, ("step/end",), begins)
    found: list[tuple[Any, ...]] = waiting(events, begins if step_ended is None else step_ended)
    if steps is not None and events[steps]["type"] == "step/start":
        step = events[steps]["data"].get("step", "missing")
        found += [] if step is None else [("step", step)]
    return [*found, ("turn", events[begins]["data"]["turn"])]


def last(events: list[Event], kinds: tuple[str, ...], behind: int = -1) -> int | None:
    """The index of the last event of these types behind another one."""
    places = [at for at, event in enumerate(events) if at > behind and event["type"] in kinds]
    return places[-1] if places else None


def waiting(events: list[Event], behind: int) -> list[tuple[Any, ...]]:
    """Calls that are asked for and not answered behind an index, by the first time since the last answer."""
    asked: dict[Any, list[tuple[int, int]]] = {}
    for at, event in enumerate(events):
        if at > behind and event["type"] == "assistant/message":
            for place, block in enumerate(event["data"]["message"]["content"]):
                if isinstance(block, dict) and block.get("type") == "tool-call":
                    asked.setdefault(block.get("id", "missing"), []).append((at, place))
    found = []
    for call, places in asked.items():
        answers = [
            at
            for at, event in enumerate(events)
            if event["type"] == "tool/result"
            and event["data"]["message"]["source"].get("callId", "missing") == call
        ]
        answered = max(answers, default=-1)
        since = [place for place in places if place[0] > answered]
        if since:
            begun = since[-1][0]
            starts = [
                event["seq"]
                for event in events[begun:]
                if event["type"] == "tool/call" and event["data"].get("callId", "missing") == call
            ]
            found.append(
                (since[0], call, events[begun]["data"].get("step", "missing"), starts[-1] if starts else None)
            )
    return [("result", *rest) for _, *rest in sorted(found, key=lambda each: each[0])]
