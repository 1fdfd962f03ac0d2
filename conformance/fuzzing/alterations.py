"""One small change somewhere inside a JSON value: what a careless reader would not notice.

Every member and element is as likely as any other, however deep it lies, so that each place where a rule
may look is reached. What is put there is near to what was there, or fits another rule.
"""

from __future__ import annotations

from typing import Any

from conformance.fuzzing.draw import Draw
from conformance.fuzzing.spelling import odd, raw

Path = tuple[str | int, ...]

NUMBERS: tuple[Any, ...] = (0, 1, 2, -1, 0.5, True, None, "1", raw("1.0"), raw("-0"), 2**53 - 1)
TRUTHS: tuple[Any, ...] = (True, False, None, 1, 0, "true", "")
NAMES: tuple[Any, ...] = ("", "x", None, 0, 1, ["x"], {}, "a ", "A")
NEAR: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("turn", "step", "seq", "time", "start", "end", "status"), NUMBERS),
    "providerRetryAfterMs": NUMBERS,
    **dict.fromkeys(("isError", "ignorable", "maxTokens"), TRUTHS),
    **dict.fromkeys(("id", "callId", "toolCallId", "requestId", "code", "model", "provider"), NAMES),
    **dict.fromkeys(("index", "seq0", "time0"), NUMBERS),
    "name": NAMES,
    "kind": (
        "", "user", "tool", "model", "completed", "interrupted", "aborted", "disposed", "error", "Completed",
        None, 0, ["user"],
    ),
    "type": ("tool-result", "tool-call", "text", "", None, "Tool-Result", 0),
    "role": ("user", "assistant", "User", "", None, ["user"]),
    "content": ([], "", None, {}, {"length": 0}, [{}], [None], [[]]),
    "source": (None, {}, {"kind": "user"}, {"kind": "tool", "callId": "c1"}, "user", []),
    "reason": (None, {}, "x", [], {"kind": ""}, {"kind": "zzz"}, "fallback", "Fallback", ["fallback"]),
    "message": (None, {}, "", "x", [], 0),
    "error": (None, {}, "x"),
    "op": ("append", "replace", "insert", "", None, "Replace"),
    "surfaceOp": (None, "append", "replace", {}, {"op": "append"}, []),
    "trigger": (None, {}, {"kind": ""}, {"kind": "user", "x": 1}, "user", {"kind": 1}),
    "provenance": (None, {}, [], "x", {"kind": "tool"}, {"provider": "p"}),
    "reasoningEffort": ("extreme", "", None, 1, "high"),
    "adapterDefaults": ([], {}, None, {"maxTokens": False}, {"other": True}, {"reasoningEffort": None}, "x"),
}  # fmt: skip
"""Values that are nearly right, or right where something else would be wrong, by the name of the member."""
JUNK: tuple[Any, ...] = (
    None, "", "x", 0, 1, -1, 0.5, True, False, [], {}, [None], {"kind": "x"}, odd("\ud800"),
)  # fmt: skip
EXTRA = (
    "note", "kind", "id", "role", "message", "error", "reason", "code", "content", "source", "step",
)  # fmt: skip
"""Names of a member more: that nobody knows, or that means something elsewhere."""


def altered(draw: Draw, value: Any) -> Any:
    """A copy with a change at one place inside, or of the whole where there is no inside.

    Seldom it is what it was: a value that was near already, or a name that was there.
    """
    places = places_in(value)
    if not places:
        return draw.choice(JUNK)
    return changed_at(draw, value, draw.choice(places))


def places_in(value: Any) -> list[Path]:
    """Where members and elements are; outer ones come first."""
    places: list[Path] = []
    pending: list[tuple[Path, Any]] = [((), value)]
    for path, each in pending:
        keys = each if isinstance(each, dict) else range(len(each)) if isinstance(each, list) else ()
        inner = [((*path, key), each[key]) for key in keys]
        places += [place for place, _ in inner]
        pending += inner
    return places


def changed_at(draw: Draw, value: Any, path: Path) -> Any:
    """The same on the way to a place; nothing that is given is changed."""
    key, *rest = path
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[key] = changed_at(draw, value[key], tuple(rest))
        return copy
    way = draw.integer(0, 9)
    if way < 2:
        del copy[key]
    elif way < 4:
        add_beside(draw, copy, value[key])
    elif way == 4:
        copy[key] = None
    elif way == 5 and isinstance(copy, dict) and isinstance(copy[key], dict):
        copy |= copy.pop(key)  # what is one level too high
    else:
        near = NEAR.get(key, ()) if isinstance(key, str) else ()
        copy[key] = draw.choice(near if near and way < 9 else JUNK)
    return copy


def add_beside(draw: Draw, copy: Any, there: Any) -> None:
    """A member or an element more."""
    if isinstance(copy, list):
        copy.append(draw.choice((there, None, "x", {})))
        return
    name = draw.choice(EXTRA)
    if name not in copy:
        copy[name] = draw.choice((*NEAR.get(name, ()), *JUNK)) if draw.chance(60) else None
