"""WORKED EXAMPLE, not your port: fold, messages and project, written from the pages of the specification."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

IMPLEMENTATION = {"name": "worked example", "version": "1", "language": "Python"}
parse: Callable[[str], Any] = json.loads
ELIGIBLE = ("user/message", "assistant/message", "tool/result")


class Refusal(Exception):  # noqa: N818
    """The log is refused. ``condition`` is the ledger's name; ``at`` is set by whoever knows the index."""

    def __init__(self, condition: str, at: int | None = None) -> None:
        super().__init__(condition)
        self.condition = condition
        self.at = at


def refuse_if(broken: bool, condition: str) -> None:
    if broken:
        raise Refusal(condition)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)  # True is an int in Python


def is_seq(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 2**53 - 1 and value == int(value)


def as_double(value: Any) -> float:
    """Numbers are doubles, so that 2^53 and 2^53 + 1 are equal; an integer that is too long is infinite."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def same(left: Any, right: Any) -> bool:
    """Equal as JSON. A list of what is left to compare, and no recursion: logs nest up to 512 levels."""
    todo = [(left, right)]
    while todo:
        a, b = todo.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            todo += [(a[name], b[name]) for name in a]
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            todo += zip(a, b, strict=True)
        elif is_number(a) and is_number(b):
            if as_double(a) != as_double(b):
                return False
        elif type(a) is not type(b) or a != b:
            return False
    return True


def fold(events: list[Any]) -> dict[str, Any]:
    nodes: list[int] = []
    replacements: list[dict[str, Any]] = []
    for at, event in enumerate(events):
        try:
            stretch = check(event, at, nodes, events)
        except Refusal as refusal:
            refusal.at = at
            raise
        if stretch is None:  # log-only
            continue
        first, behind = stretch
        marker = event["surfaceOp"]
        if marker != "append":
            ends = {"start": int(marker["start"]), "end": int(marker["end"])}
            replacements.append({"seq": at, **ends, "shadowedSeqs": nodes[first:behind]})
        nodes[first:behind] = [at]
    return {"nodes": nodes, "replacements": replacements, "replaceGeneration": len(replacements)}


def check(event: Any, seq: int, nodes: list[int], events: list[Any]) -> tuple[int, int] | None:
    """The stretch of nodes that the event replaces, empty and at the tail for an append; None if log-only."""
    refuse_if(not isinstance(event, dict), "event-shapeless")
    refuse_if(not (is_number(event.get("seq")) and event["seq"] == seq), "seq-not-contiguous")
    kind = event.get("type")
    if kind not in ELIGIBLE:
        refuse_if("surfaceOp" in event, "surface-op-forbidden")
        refuse_if("sourceEventSeqs" in event, "sources-forbidden")
        return None
    refuse_if("surfaceOp" not in event, "surface-op-missing")
    marker = event["surfaceOp"]
    first = behind = len(nodes)
    if marker != "append":
        refuse_if(not isinstance(marker, dict), "surface-op-invalid")
        exact = marker.keys() == {"op", "start", "end"} and marker["op"] == "replace"
        refuse_if(not (exact and is_seq(marker["start"]) and is_seq(marker["end"])), "replace-op-invalid")
        refuse_if(marker["start"] not in nodes, "replace-start-absent")
        refuse_if(marker["end"] not in nodes, "replace-end-absent")
        first, behind = nodes.index(marker["start"]), nodes.index(marker["end"]) + 1
        refuse_if(first >= behind, "replace-reversed")
    cited = check_sources(event, kind, seq)
    refuse_if(not cited.issuperset(nodes[first:behind]), "sources-incomplete")
    if kind == "tool/result" and marker != "append":
        refuse_if(behind - first != 1, "tool-result-span")
        target = events[nodes[first]]
        refuse_if(target["type"] != "tool/result", "tool-result-target")
        refuse_if(not same(without_content(target), without_content(event)), "tool-result-changed")
    return first, behind


def check_sources(event: dict[str, Any], kind: str, seq: int) -> set[int]:
    """Each check over the whole list before the next begins."""
    if "sourceEventSeqs" not in event:
        return set()
    sources = event["sourceEventSeqs"]
    refuse_if(not isinstance(sources, list), "sources-not-array")
    refuse_if(not sources and kind != "assistant/message", "sources-empty")
    refuse_if(not all(is_seq(source) for source in sources), "source-not-seq")
    refuse_if(len(set(sources)) != len(sources), "sources-duplicate")
    refuse_if(any(source >= seq for source in sources), "source-not-earlier")
    return {int(source) for source in sources}


def without_content(event: dict[str, Any]) -> dict[str, Any]:
    """The data of a tool result with its first block only, and with null for that block's content."""
    data = inner(event, "data")
    message = inner(data, "message")
    content = message.get("content")
    refuse_if(not isinstance(content, list), "event-shapeless")
    first = content[0] if content else {}
    refuse_if(not isinstance(first, dict), "event-shapeless")
    return {**data, "message": {**message, "content": [{**first, "content": None}]}}


def inner(holder: dict[str, Any], name: str) -> Any:
    value = holder.get(name)
    refuse_if(not isinstance(value, dict), "event-shapeless")
    return value


def project(event: Any) -> dict[str, Any]:
    refuse_if(not isinstance(event, dict), "event-shapeless")
    kind = event.get("type")
    if kind not in ELIGIBLE:
        return {"message": None}
    data = inner(event, "data")
    if kind == "user/message":
        return {"message": data}
    message = inner(data, "message")
    if kind == "assistant/message":
        refuse_if(not isinstance(message.get("content"), list), "event-shapeless")
        if not message["content"]:
            return {"message": None}
    return {"message": message}


def messages(events: list[Any]) -> dict[str, Any]:
    found = []
    for seq in fold(events)["nodes"]:
        try:
            found.append(project(events[seq])["message"])
        except Refusal as refusal:
            refusal.at = seq
            raise
    return {"messages": [message for message in found if message is not None]}


OPERATIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "fold": fold,
    "messages": messages,
    "project": project,
}
