"""Lines of a log as text: header lines near the right one, and what may stand around a value.

Events are spelled as writers do, with other scripts as they are, or with escapes for them.
"""

from __future__ import annotations

import json
from typing import Any

from conformance.fuzzing.draw import Draw
from conformance.fuzzing.spelling import again, encode, raw, unmarked

HEADER: dict[str, Any] = {"type": "session", "version": 0, "id": "s", "createdAt": 1000, "delegationDepth": 0}
COUNTS: tuple[Any, ...] = (
    1, 0, -1, None, "1", True, raw("-0"), raw("-0.0"), raw("1e3"), 1.5, raw("9007199254740991"),
    raw("9007199254740992"), raw("1e400"), [],
)  # fmt: skip
JUNK: tuple[Any, ...] = (None, False, 0, "", "x", True, [], {})
VERSIONS: tuple[Any, ...] = (
    raw("0.0"), 9, 1, -1, -9, None, "0", "1", True, False, [], raw("-0"), raw("0.5"), raw("1.5"), raw("-0.5"),
    raw("1e400"), raw("1e-400"),
)  # fmt: skip
CWDS: tuple[Any, ...] = ("/work", "/", None, "", [], ["/x"], "work", "./x", 7, {})
Changes = tuple[tuple[str, tuple[Any, ...]], ...]
NEEDED: Changes = (
    ("version", VERSIONS),
    ("createdAt", COUNTS),
    ("delegationDepth", COUNTS),
    ("id", ("s", "", None, 7, ["s"])),
    ("type", ("session", "sessions", "Session", None, ["session"])),
)
"""Members that every header has, with values that are right, the first of each, or nearly right."""
OTHERS: Changes = (
    ("cwd", CWDS),
    ("parentSession", ("p", "", None, 1)),
    ("seedLength", (0, 3, -1, None, raw("-0"))),
    ("origin", ("subagent", "user", None, "", "Subagent", ["subagent"])),
    ("agentPreset", ("plan", "", None, 0, [])),
    ("sandboxMode", JUNK),
    ("approvalPolicy", JUNK),
    ("note", JUNK),
)
"""The same for members that may be there, may no longer be there, or are known to nobody."""
NO_HEADERS = ("null", "[]", "7", '"session"', "{}", "{", "x", "", " ", "NaN", "[{}]")
NO_JSON = (
    "NaN", "Infinity", "-Infinity", "01", "1.", ".5", "+1", "0x1", "1e", "undefined", "tru", "[1,]", "",
)  # fmt: skip
"""What stands for a value in languages that are nearly JSON."""
BLANKS = (" ", "\t", "\r", " \r")
"""What may stand around a value of JSON."""
NO_BLANKS = (
    "\ufeff", "\ufeff", "\u00a0", "\u2028", "\u3000", "\x0b", "\x0c", "\x1c", "\x85", "\u200b", "\0",
    ",", "{}", "1",
)  # fmt: skip
"""What may not, though some of it is a blank elsewhere."""
SEPARATED = ("a\u2028b", "a\u2029", "\x85b", "a\x0bb", "a\x0cb", "a\rb", "a\x1cb", "a\nb", "\ufeff", "\ufffd")
"""Texts with what ends a line elsewhere."""

_as_it_is = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode


def line_of(draw: Draw, value: Any) -> str:
    """A value as one line; half a character can only be escaped."""
    if draw.chance(40):
        return unmarked(encode(value))
    return unmarked(_as_it_is(value)).encode("utf-8", "backslashreplace").decode()


def bordered(draw: Draw, line: str, *, sound: bool) -> str:
    """A line with something in front of it or behind it, which a reader passes over, or not."""
    border = draw.choice(BLANKS if sound else NO_BLANKS)
    return line + border if draw.chance(50) else border + line


def header_line(draw: Draw, written_id: str = "s", percent: int = 25) -> str:
    """The header, most often a sound one; so often one that differs from it."""
    header: dict[str, Any] = {**HEADER, "id": written_id}
    if draw.chance(40):
        header["cwd"] = CWDS[0] if not draw.chance(40) else draw.choice(CWDS)
    if not draw.chance(percent):
        return line_of(draw, header)
    way = draw.integer(0, 19)
    if way == 0:
        return draw.choice(NO_HEADERS)
    if way < 4:
        return bordered(draw, line_of(draw, header), sound=draw.chance(20))
    if way == 4:  # a part of a header, which is enough for a reader that asks for its version first
        header = {name: value for name, value in header.items() if draw.chance(50)}
        header["version"] = draw.choice(VERSIONS)
    elif way == 5:
        del header[draw.choice(tuple(header))]
    elif way == 6:
        name, values = a_change(draw)
        header = {again(name): draw.choice(values), **header}
    elif way == 7:
        header = dict(reversed(header.items()))
    else:
        change_member(draw, header)
    if draw.chance(20):
        change_member(draw, header)
    return line_of(draw, header)


def change_member(draw: Draw, header: dict[str, Any]) -> None:
    """Another value for a member, or one more."""
    name, values = a_change(draw)
    header[name] = values[0] if draw.chance(25) else draw.choice(values)


def a_change(draw: Draw) -> tuple[str, tuple[Any, ...]]:
    return draw.choice(OTHERS if draw.chance(50) else NEEDED)
