"""Request headers in logs, and pairs of them that are the same or are not."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing.alterations import JUNK
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import LogDraft, add_noise, add_user
from conformance.fuzzing.spelling import Members, Spelled, again, odd, raw

Header = dict[str, Any]
CONFIG: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("provider", ("example", "", "Example")),
    ("model", ("example-1", "example-2", "")),
    ("reasoningEffort", ("high", "low", "", None, "unheard-of")),
    ("temperature", (0, raw("-0"), 1, raw("1.0"), 0.5, None)),
    ("maxTokens", (100, raw("100.0"), 200, None)),
    ("stop", ([], ["a"], ["a", "b"], ["b", "a"], None)),
    ("other", (1, 2)),
)
DEFAULTS: tuple[Any, ...] = (
    {"maxTokens": True}, {"reasoningEffort": True}, {}, {"maxTokens": False}, {"maxTokens": True, "extra": 1},
    {"maxTokens": 1}, {"other": True}, {"reasoningEffort": True, "maxTokens": True}, {"maxTokens": None},
    {"reasoningEffort": True, "maxTokens": False}, {"other": 1, "maxTokens": True}, None, [], "x",
)  # fmt: skip
RECORDS = tuple(each for each in DEFAULTS if isinstance(each, dict))
SYSTEMS: tuple[Any, ...] = ("be brief", "", "be long", " ", "0", odd("\ud800"), "�", "be brief ")
TOOLS: tuple[Any, ...] = (
    [], [{"name": "a", "n": 1}], [{"n": 1, "name": "a"}], [{"name": "a", "n": raw("1.0")}], [{"name": "b"}],
    [{"name": "a"}, {"name": "b"}], [{"name": "b"}, {"name": "a"}], [{"name": "a", "n": raw("-0")}], ["a"],
    [{again("name"): "x", "name": "a"}], [{"name": "a", "in": {"x": 1, "y": 2}}],
    [{"name": "a", "in": {"y": 2, "x": 1}}],
)  # fmt: skip


def header(draw: Draw) -> Header:
    """A header with some of its members."""
    config = {name: usual(draw, values) for name, values in CONFIG if name in CONFIG[0][0] or draw.chance(45)}
    found: Header = {"config": config}
    if draw.chance(40):
        found["adapterDefaults"] = draw.choice(DEFAULTS)
    if draw.chance(50):
        found["system"] = draw.choice(SYSTEMS)
    if draw.chance(50):
        found["tools"] = draw.choice(TOOLS)
    if draw.chance(15):
        found["note"] = 1
    return found


def sound_header(draw: Draw) -> Header:
    """A header in which nothing is wrong."""
    found = header(draw)
    found["config"] |= {"provider": "example", "model": "example-1"}
    if "adapterDefaults" in found:
        found["adapterDefaults"] = draw.choice(({}, {"maxTokens": True}, {"reasoningEffort": True}))
    return found


def usual(draw: Draw, values: tuple[Any, ...]) -> Any:
    """The first of several values, most of the time."""
    return draw.choice(values) if draw.chance(40) else values[0]


def header_log(draw: Draw, *, untyped: bool = False) -> Members:
    """A log with some headers in it."""
    log = LogDraft()
    for _ in draw.repeat(3):
        way = draw.integer(0, 5)
        if way < 3:
            data = {"header": header(draw), "reason": draw.choice(("start", "change"))}
            if untyped and draw.chance(40):
                data = spoiled(draw, data)
            log.add("request/header", data)
            if untyped and draw.chance(15):
                name = draw.choice(("seq", "ignorable"))
                log.events[-1][name] = log.next_seq + 3 if name == "seq" else True
        elif way == 3:
            log.add(
                draw.choice(("request/context", "request/headers", "turn/start")), {"header": header(draw)}
            )
        elif way == 4:
            add_user(draw, log)
        else:
            add_noise(draw, log)
    events: list[Any] = log.events
    if untyped and draw.chance(10):
        events = [*events, draw.choice((None, "request/header", 0, []))]
    return {"events": Spelled(events)}


def spoiled(draw: Draw, data: Any) -> Any:
    """The data of a header with something that cannot be read."""
    way = draw.integer(0, 2)
    if way == 0:
        return draw.choice(JUNK)
    if way == 1:
        return {**data, "header": draw.choice(JUNK)}
    name = draw.choice(("config", "system", "tools", "adapterDefaults"))
    return {**data, "header": {**data["header"], name: draw.choice(JUNK)}}


def header_pair(draw: Draw) -> Members:
    """Two canonical headers of which one is the other with a change, or none."""
    left = canonical(draw)
    right = left
    for _ in range(draw.integer(0, 2)):
        right = changed(draw, right)
    return {"left": Spelled(left), "right": Spelled(right)}


def canonical(draw: Draw) -> Header:
    """A header in the form in which it is folded."""
    found = header(draw)
    found.pop("note", None)
    if not isinstance(found.get("adapterDefaults", {}), dict):
        del found["adapterDefaults"]
    return found


def changed(draw: Draw, found: Header) -> Header:
    """A copy with another member somewhere, or without one."""
    way = draw.integer(0, 3)
    if way == 0:
        name, values = draw.choice(CONFIG)
        config = {key: value for key, value in found["config"].items() if key != name}
        return {**found, "config": {**config, name: draw.choice(values)} if draw.chance(70) else config}
    name, values = draw.choice((("system", SYSTEMS), ("tools", TOOLS), ("adapterDefaults", RECORDS)))
    rest = {key: value for key, value in found.items() if key != name}
    return {**rest, name: draw.choice(values)} if draw.chance(70) else rest
