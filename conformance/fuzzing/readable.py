"""Requests as people write them: events in the shorthand of vector files, one to a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from conformance.shorthand import ShorthandError, expand_event

Event = dict[str, Any]
STEP_EVENTS = (("push", 0), ("validate", 0), ("amend", -1))


def condensed(request: Event) -> Event:
    """The same request with every event in shorthand that can be written so."""
    found = dict(request)
    base = request.get("baseSeq", 0)
    for name in ("events", "seed"):
        if isinstance(request.get(name), list):
            found[name] = [condense(event, base + place) for place, event in enumerate(request[name])]
    if isinstance(request.get("event"), dict):
        found["event"] = condense(request["event"], 0)
    if isinstance(request.get("steps"), list):
        found["steps"] = list(condensed_steps(request["steps"], base))
    return found


def condensed_steps(steps: list[Any], base: int) -> Iterator[Any]:
    """Steps, each event for the place that it is meant for."""
    pushed = 0
    for step in steps:
        new = dict(step)
        for name, off in STEP_EVENTS:
            if name in step:
                new[name] = condense(step[name], base + pushed + off)
        if "append" in step:
            new["append"] = condense_append(step["append"], pushed)
        pushed += bool({"push", "pushValidated", "append"} & step.keys())
        yield new


def condense_append(append: Event, seq: int) -> Event:
    """What a session is given, which has neither seq nor time."""
    short = condense({"seq": seq, "time": seq * 10, **append}, seq)
    return append if "type" in short else short


def condense(event: Any, seq: int) -> Any:
    """An event in shorthand; itself where no shorthand says exactly that."""
    if not isinstance(event, dict):
        return event
    for short in candidates(event):
        try:
            expanded = expand_event(short, seq)
        except (ShorthandError, TypeError, KeyError, AttributeError):
            continue
        complete = with_marker(short, expanded, event, seq)
        if complete is not None:
            return complete
    return event


def with_marker(short: Event, expanded: Event, event: Event, seq: int) -> Event | None:
    """The shorthand with the modifiers that it needs to be that event; None where none will do."""
    if expanded.get("data") != event.get("data", Ellipsis) or expanded["type"] != event.get("type"):
        return None
    more: Event = {}
    marker = event.get("surfaceOp")
    if isinstance(marker, dict) and marker.keys() == {"op", "start", "end"} and marker["op"] == "replace":
        more["replace"] = [marker["start"], marker["end"]]
    elif "surfaceOp" in event and event["surfaceOp"] != expanded.get("surfaceOp", Ellipsis):
        more["surfaceOp"] = event["surfaceOp"]
    if "sourceEventSeqs" in event:
        more["sources"] = event["sourceEventSeqs"]
    for name in ("seq", "time", "ignorable"):
        if name in event and event[name] != expanded.get(name, Ellipsis):
            more[name] = event[name]
    gone = [name for name in expanded if name not in event]
    if gone:
        more["without"] = gone
    try:
        same = expand_event({**short, **more}, seq)
    except (ShorthandError, TypeError, KeyError, AttributeError):
        return None
    return {**short, **more} if repr(sorted(same.items())) == repr(sorted(event.items())) else None


def candidates(event: Event) -> Iterator[Event]:
    """Shorthands that an event may be, without its marker."""
    kind, data = event.get("type"), event.get("data")
    if isinstance(kind, str) and kind.startswith(("turn/", "step/")) and isinstance(data, dict):
        yield {kind: data.get("turn" if kind.startswith("turn/") else "step")}
    if kind == "user/message" and isinstance(data, dict):
        yield {"user": texts_of(data.get("content"))}
        yield {"user": texts_of(data.get("content")), "message": {"id": data.get("id")}}
    if isinstance(data, dict):
        yield from message_candidates(kind, data)
    if isinstance(kind, str) and data == {}:
        yield {"event": kind}


def message_candidates(kind: Any, data: Event) -> Iterator[Event]:
    """The same for events whose data hold a message, a call or a chunk."""
    message = data.get("message")
    if kind == "tool/call":
        yield {"call": data.get("callId")}
    if kind == "assistant/chunk" and isinstance(data.get("chunk"), dict):
        yield {"chunk": data["chunk"].get("text")}
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return
    others = {name: data[name] for name in data if name != "message" and data[name] != 1}
    added: list[Event] = [{}, {"message": {"id": message.get("id")}}]
    for extra in added:
        more = {**extra, **({"data": others} if others else {})}
        if kind == "assistant/message":
            yield {"assistant": texts_of(message["content"]), **more}
        elif kind == "tool/result" and message["content"] and isinstance(message["content"][0], dict):
            block = message["content"][0]
            short = {"result": block.get("toolCallId"), "text": texts_of(block.get("content"))}
            yield {**short, **more}
            named = ("type", "toolCallId", "content", "isError")
            yield {**short, "block": {name: block[name] for name in block if name not in named[:3]}, **more}


def texts_of(content: Any) -> Any:
    """A text where the content is one text block, else the content."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        block = content[0]
        if block.keys() == {"type", "text"} and block["type"] == "text" and isinstance(block["text"], str):
            return block["text"]
    return content


class Dumper(yaml.SafeDumper):
    """Writes every value out, also where two are the same object."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def one_line_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    """A text with line ends in double quotes, where they are escapes."""
    style = '"' if "\n" in text or "\r" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


Dumper.add_representer(str, one_line_text)


def on_one_line(value: Any) -> str:
    """A value as one line of YAML."""
    return (
        yaml.dump(
            value,
            Dumper=Dumper,
            default_flow_style=True,
            width=float("inf"),
            allow_unicode=True,
            sort_keys=False,
        )
        .removesuffix("\n")
        .removesuffix("\n...")
    )


def lines_of(request: Event) -> Iterator[str]:
    """A request, each event or step on a line of its own."""
    for name, value in condensed(request).items():
        if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
            yield f"{name}:"
            yield from (f"  - {on_one_line(each)}" for each in value)
        else:
            yield f"{name}: {on_one_line(value)}"
