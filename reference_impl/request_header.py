"""The request header: the configuration, system text and tools that the next request is made with.

Page: ``spec/request-header.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .event_log import require_event
from .projection import require_object
from .rejection import Rejection
from .values import equal_json

Header = dict[str, Any]

CONFIG = ("provider", "model", "reasoningEffort", "temperature", "maxTokens", "stop")
MARKERS = ("reasoningEffort", "maxTokens")


def request_header(events: Sequence[object]) -> Header | None:
    """RHDR-1: the newest header of a log in canonical form; None before the first (RHDR-2).

    RHDR-7: other types are passed over. Raises Rejection with ``at``, the index in ``events`` (LOG-1).
    """
    header = None
    for at, element in enumerate(events):
        try:
            event = require_event(element)
            kind = event.get("type")
            if kind == "request/header":
                data = require_object(event, "data", kind)
                header = canonical(require_object(data, "header", kind))
        except Rejection as refusal:
            refusal.at = at
            raise
    return header


def canonical(header: Header) -> Header:
    """RHDR-3: the config as it stands, and of the three other members those that say something."""
    found: Header = {"config": require_object(header, "config", "a header")}
    defaults = defaults_of(header)
    if any(defaults.get(marker) is True for marker in MARKERS):  # RHDR-4: kept whole
        found["adapterDefaults"] = defaults
    system = header.get("system", "")
    if not isinstance(system, str):
        raise Rejection("event-shapeless", "the system of a header must be a text")
    if system:  # RHDR-5
        found["system"] = system
    tools = header.get("tools", [])
    if not isinstance(tools, list):
        raise Rejection("event-shapeless", "the tools of a header must be a list")
    if tools:  # RHDR-6
        found["tools"] = tools
    return found


def defaults_of(header: Header) -> dict[str, Any]:
    """The adapterDefaults of a header; what is no object marks nothing."""
    defaults = header.get("adapterDefaults")
    return defaults if isinstance(defaults, dict) else {}


def same_header(left: Header, right: Header) -> bool:
    """RHDR-8 to RHDR-10: whether two canonical headers ask for the same."""
    configs = (require_object(left, "config", "a header"), require_object(right, "config", "a header"))
    if not all(same_member(*configs, name) for name in CONFIG):  # RHDR-8
        return False
    defaults = (defaults_of(left), defaults_of(right))
    if not all(same_member(*defaults, marker) for marker in MARKERS):  # RHDR-9
        return False
    return same_member(left, right, "system") and same_text(left.get("tools", []), right.get("tools", []))


def same_member(left: dict[str, Any], right: dict[str, Any], name: str) -> bool:
    """Equal by value, or absent on both sides; absent is not null."""
    return (name in left) == (name in right) and equal_json(left.get(name), right.get(name))


def same_text(left: object, right: object) -> bool:
    """RHDR-10: whether both are the same JSON text, so the order of names counts. No recursion."""
    pending: list[tuple[object, object]] = [(left, right)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if list(a) != list(b):
                return False
            pending.extend((a[name], b[name]) for name in a)
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            pending.extend(zip(a, b, strict=True))
        elif not equal_json(a, b):
            return False
    return True
