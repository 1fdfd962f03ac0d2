"""Shorthand for events: what an author writes, expanded to what an adapter is sent.

``{user: hi}`` is a whole ``user/message`` event with a seq, a time, an id, a source and a
marker. The set is small on purpose and listed in ``vectors/README.md``; an element with a
``type`` member is no shorthand and is sent exactly as written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Event = dict[str, Any]

LONGEST_RUN = 100_000
TIME_STEP = 10
"""Milliseconds from one event to the next where the author gives no time."""

MODEL_SOURCE = {"kind": "model", "provider": "example", "model": "example-1"}
MODIFIERS = frozenset(
    ("replace", "sources", "surfaceOp", "sourceEventSeqs", "seq", "time", "ignorable", "data", "message",
     "without")
)  # fmt: skip
RESULT_MODIFIERS = frozenset(("text", "block"))
DELTAS = {"chunk": "text-delta", "reasoning": "reasoning-delta", "arguments": "tool-call-delta"}
"""Shorthands of ``assistant/chunk``, each with the type of its chunk."""
BOUNDARIES = ("turn/start", "turn/end", "step/start", "step/end")


class ShorthandError(ValueError):
    """The element is neither an event nor one of the shorthands."""


def expand_events(elements: list[Any], base: int = 0) -> list[Any]:
    """Expand a list; the event at index i gets seq ``base + i`` unless the author says otherwise."""
    events: list[Any] = []
    for element in elements:
        for each in _run_of_chunks(element):
            events.append(expand_event(each, base + len(events)))
    return events


def _run_of_chunks(element: Any) -> list[Any]:
    """``{chunks: N}`` stands for N times ``{chunk: a}``; any other element for itself."""
    if not isinstance(element, dict) or "chunks" not in element or "type" in element:
        return [element]
    count = element["chunks"]
    if len(element) > 1 or type(count) is not int or not 1 <= count <= LONGEST_RUN:
        raise ShorthandError(f"chunks takes a number from 1 to {LONGEST_RUN}, and nothing stands beside it")
    return [{"chunk": "a"}] * count


def _row_of_chunks(record: Event) -> Event:
    """``{chunks: N}`` is the row that N times ``{chunk: a}`` are packed into."""
    if record.keys() != {"chunks"}:
        return record
    count = len(_run_of_chunks(record))
    data = {"turn": 1, "step": 1, "index": 0, "dt": [TIME_STEP] * (count - 1), "texts": ["a"] * count}
    return {"type": "text-chunks", "seq0": 0, "time0": 0, "data": data}


def in_each_answer(expect: Event, change: Callable[[Event], Event]) -> Event:
    """The ``expect`` of a case with a change made to its answer, or to each of its alternatives."""
    changed = change(expect)
    for kind in ("either", "any_of"):
        if isinstance(expect.get(kind), list):
            changed = {**changed, kind: [change(answer) for answer in expect[kind]]}
    return changed


def expand_event(element: Any, seq: int) -> Any:
    """Expand one element; anything that is no object, or has a ``type``, is left as it is."""
    if not isinstance(element, dict) or "type" in element:
        return element
    names = [name for name in element if name in _MAKERS]
    if len(names) != 1:
        known = ", ".join(_MAKERS)
        raise ShorthandError(f"an event needs a type, or exactly one of the shorthands {known}")
    name = names[0]
    check_types(element)
    allowed = MODIFIERS | RESULT_MODIFIERS if name == "result" else MODIFIERS
    if name in DELTAS:
        allowed |= {"delta"}
    unknown = sorted(element.keys() - allowed - {name})
    if unknown:
        raise ShorthandError(f"shorthand {name} knows no {', '.join(unknown)}")
    event = _MAKERS[name](element, seq)
    _modify(event, element)
    return event


TYPES: dict[str, tuple[type, str]] = {
    "replace": (list, "a list of two ends"),
    "data": (dict, "an object to lay over the data"),
    "message": (dict, "an object to lay over the message"),
    "block": (dict, "an object to lay over the block"),
    "delta": (dict, "an object to lay over the chunk"),
    "without": (list, "a list of member names"),
    "text": (object, "a text or a list of blocks"),
}


def check_types(element: Event) -> None:
    """Refuse a modifier whose value cannot modify anything."""
    for name, (kind, wanted) in TYPES.items():
        if name in element and not isinstance(element[name], kind):
            raise ShorthandError(f"{name} takes {wanted}, not {element[name]!r}")
    for name in element.get("without", ()):
        if not isinstance(name, str):
            raise ShorthandError(f"without takes member names, not {name!r}")


def expand_request(request: Event) -> Event:
    """Expand every event of a request, wherever its operation holds events."""
    expanded = dict(request)
    base = request.get("baseSeq", 0)
    if type(base) is not int:
        raise ShorthandError("baseSeq must be an integer")
    if isinstance(request.get("events"), list):
        expanded["events"] = expand_events(request["events"], base)
    if "event" in request:
        expanded["event"] = expand_event(request["event"], 0)
    if isinstance(request.get("record"), dict):
        expanded["record"] = _row_of_chunks(request["record"])
    if isinstance(request.get("steps"), list):
        seed = request.get("seed")
        pushed = len(seed) if isinstance(seed, list) else 0
        expanded["steps"] = _expand_steps(request["steps"], base, pushed)
    if isinstance(request.get("seed"), list):
        expanded["seed"] = expand_events(request["seed"])
    return expanded


def _expand_steps(steps: list[Any], base: int, pushed: int) -> list[Any]:
    """A step's event gets the seq of the place that it is pushed to, checked for, or put right at.

    ``pushed`` events are there already.
    """
    expanded = []
    for step in steps:
        if not isinstance(step, dict):
            raise ShorthandError("a step must be an object")
        new = dict(step)
        for name, place in (("push", pushed), ("validate", pushed), ("amend", pushed - 1)):
            if name in step:
                new[name] = expand_event(step[name], base + place)
        if "append" in step:
            new["append"] = _expand_append(step["append"], pushed)
        if step.keys() & {"push", "pushValidated", "append"}:
            pushed += 1
        expanded.append(new)
    return expanded


def _expand_append(element: Any, seq: int) -> Any:
    """What a live session is given: no seq and no time, for those are its own.

    The seq of the place among the steps still makes the ids of messages differ.
    """
    event = expand_event(element, seq)
    if isinstance(element, dict) and "type" not in element:
        return {name: value for name, value in event.items() if name not in ("seq", "time")}
    return event


def _text(value: Any) -> list[Any]:
    """A text becomes one text block; a list of blocks stays as it is."""
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def _event(kind: str, seq: int, data: Any) -> Event:
    return {"type": kind, "seq": seq, "time": seq * TIME_STEP, "data": data}


def _user(element: Event, seq: int) -> Event:
    data = {"id": f"m{seq}", "role": "user", "source": {"kind": "user"}, "content": _text(element["user"])}
    return _event("user/message", seq, data) | {"surfaceOp": "append"}


def _assistant(element: Event, seq: int) -> Event:
    message = {
        "id": f"m{seq}",
        "role": "assistant",
        "source": dict(MODEL_SOURCE),
        "content": _text(element["assistant"]),
    }
    return _event("assistant/message", seq, {"turn": 1, "step": 1, "message": message}) | {
        "surfaceOp": "append"
    }


def _calls(element: Event, seq: int) -> Event:
    calls = element["calls"]
    if not isinstance(calls, list):
        raise ShorthandError(f"calls takes a list of call ids, not {calls!r}")
    content = [{"type": "tool-call", "id": call, "name": "read", "arguments": "{}"} for call in calls]
    return _assistant({"assistant": content}, seq)


def _result(element: Event, seq: int) -> Event:
    call = element["result"]
    block = {"type": "tool-result", "toolCallId": call, "content": _text(element.get("text", "ok"))}
    message = {
        "id": f"m{seq}",
        "role": "user",
        "source": {"kind": "tool", "callId": call},
        "content": [block | {"isError": False} | element.get("block", {})],
    }
    return _event("tool/result", seq, {"turn": 1, "step": 1, "message": message}) | {"surfaceOp": "append"}


def _call(element: Event, seq: int) -> Event:
    call = {"turn": 1, "step": 1, "callId": element["call"], "name": "read", "arguments": "{}"}
    return _event("tool/call", seq, call)


def _chunk(form: str) -> Callable[[Event, int], Event]:
    def make(element: Event, seq: int) -> Event:
        own = (
            {"id": "c1", "argumentsDelta": element[form]} if form == "arguments" else {"text": element[form]}
        )
        chunk = {"type": DELTAS[form], "index": 0} | own | element.get("delta", {})
        return _event("assistant/chunk", seq, {"turn": 1, "step": 1, "chunk": chunk})

    return make


def _boundary(kind: str) -> Callable[[Event, int], Event]:
    def make(element: Event, seq: int) -> Event:
        number = element[kind]
        data: Event = {"turn": number} if kind.startswith("turn") else {"turn": 1, "step": number}
        if kind == "turn/end":
            data["reason"] = {"kind": "completed"}
        return _event(kind, seq, data)

    return make


def _other(element: Event, seq: int) -> Event:
    return _event(element["event"], seq, {})


_MAKERS: dict[str, Callable[[Event, int], Event]] = {
    "user": _user,
    "assistant": _assistant,
    "calls": _calls,
    "result": _result,
    "call": _call,
    **{form: _chunk(form) for form in DELTAS},
    **{kind: _boundary(kind) for kind in BOUNDARIES},
    "event": _other,
}


def _modify(event: Event, element: Event) -> None:
    """Apply the modifiers in a fixed order, so that a case reads the same whatever order it is written in."""
    if "data" in element:
        event["data"] = {**event["data"], **element["data"]}
    if "message" in element:
        holder = event if event["type"] == "user/message" else event["data"]
        member = "data" if event["type"] == "user/message" else "message"
        if not isinstance(holder.get(member), dict):
            raise ShorthandError(f"{event['type']} has no message to change")
        holder[member] = {**holder[member], **element["message"]}
    if "replace" in element:
        ends = element["replace"]
        if not isinstance(ends, list) or len(ends) != 2:
            raise ShorthandError("replace takes [start, end]")
        event["surfaceOp"] = {"op": "replace", "start": ends[0], "end": ends[1]}
    if "sources" in element:
        event["sourceEventSeqs"] = element["sources"]
    for name in ("surfaceOp", "sourceEventSeqs", "seq", "time", "ignorable"):
        if name in element:
            event[name] = element[name]
    for name in element.get("without", []):
        if name not in event:
            raise ShorthandError(f"without names {name}, which this event does not have")
        del event[name]
