"""Whole log files for a reader that goes all the way: header, old shapes, types, closers, admission.

Header, events and lines have their faults apart from each other, and seldom, so that the order of the steps
shows where two of them meet.
Plain files and files of frames hold the same logs.
"""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import (
    chunks,
    containers,
    interrupted,
    log_lines,
    logs,
    messages,
    old_shapes,
    sessions,
    stored,
)
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import LogDraft
from conformance.fuzzing.spelling import Members, encode, unmarked

ALIKE: tuple[tuple[str, ...], ...] = (
    ("s", "S", "s ", " s", "ſ", "ss", "s0", "session-1", "t"), ("é", "e\u0301", "e"),
    ("Å", "å", "\u212b", "A\u030a"), ("fi", "ﬁ"), ("😀", "\U0001f600x"),
)  # fmt: skip
"""Ids of which a careless reader takes one for another."""
UNKNOWN = (
    "zzz/x", "context/message", "turn/starts", "Turn/start", " turn/start", "turn/start ", "", "__proto__",
    "constructor", "user", "assistant/chunks", "team/x",
)  # fmt: skip
"""Types that no reader knows, whatever they look like."""
KNOWN = (
    "team/member",
    "team/message/queued",
    "todo/write",
    "llm/retry-started",
    "web/deepseek-search-llm-request",
)
CALL_IDS: tuple[Any, ...] = ("c1", "c2", "", None, 7, True, [], "A B")
"""Ids of calls, some of which a result cannot name."""
MARKS: tuple[Any, ...] = (True, True, True, False, None, 1, "true", {}, 0)


def stored_log(draw: Draw) -> list[Any]:
    """The events of a stored log: of today or with old shapes, whole or broken off, perhaps with a fault."""
    way = draw.integer(0, 14)
    if way < 3:
        return interrupted.cut_session(draw)
    if way < 5:
        return logs.valid_draft(draw, average=4).events
    if way == 5:
        return old_shapes.old_events(draw)
    if way == 6:
        return sessions.spoiled_seed(draw)
    if way == 7:
        return in_order(interrupted.lifecycle_log(draw))
    if way == 8:
        return sessions.seed_log(draw).events
    if way < 11:
        return open_calls(draw)
    return with_types(draw)


def in_order(events: list[Any]) -> list[Any]:
    """The events with the seqs of their places."""
    return [{**event, "seq": place} for place, event in enumerate(events)]


def with_types(draw: Draw) -> list[Any]:
    """A log with events of types that are seldom met, or that nobody knows, marked or not, here and there."""
    log = LogDraft()
    if not draw.chance(30):
        log.add("turn/start", messages.boundary("turn/start", 1, 0))
    kinds = [draw.choice(KNOWN if draw.chance(40) else UNKNOWN) for _ in range(2)]
    for _ in draw.repeat(2):
        if draw.chance(40):
            logs.add_user(draw, log)
            continue
        log.add(draw.choice(kinds), draw.choice(({}, None, {"ignorable": True})))
        if draw.chance(70):
            log.events[-1]["ignorable"] = draw.choice(MARKS)
        log.events[-1]["time"] = draw.choice((0, 7, 5000))
    if draw.chance(20):
        log.add("mode/set", {"mode": "x"})
    if draw.chance(50):
        log.add("turn/end", messages.boundary("turn/end", 1, 0))
    if draw.chance(15):
        log.add("session/end-seed", {})
    return log.events


def open_calls(draw: Draw) -> list[Any]:
    """A turn that broke off behind a message with calls, whose ids a result can name, or cannot."""
    log = LogDraft()
    log.add("turn/start", messages.boundary("turn/start", 1, 0))
    log.add("step/start", messages.boundary("step/start", 1, 1))
    for _ in draw.repeat(1):
        logs.add_user(draw, log)
    blocks = []
    for _ in range(draw.integer(1, 2)):
        block = dict(messages.call_block("c1"))
        if draw.chance(60):
            block["id"] = draw.choice(CALL_IDS)
        elif draw.chance(30):
            del block["id"]
        blocks.append(block)
    plain = messages.assistant(len(log.events), ())
    log.join("assistant/message", {**plain, "message": {**plain["message"], "content": blocks}})
    if draw.chance(40):
        log.add("tool/call", {**messages.call("c1"), "callId": blocks[0].get("id")})
    if draw.chance(30):
        log.join("tool/result", messages.result(len(log.events), draw.choice(("c1", "c2")), ("a",)))
    if draw.chance(20):
        log.add("turn/end", messages.boundary("turn/end", 1, 0))
    return log.events


def lines_of(draw: Draw, written_id: str = "s") -> list[str]:
    """Header and events as lines; seldom a run of chunks is one row, a seq is wrong, or a line is damaged."""
    events = stored_log(draw)
    lines = [log_lines.header_line(draw, written_id), *(log_lines.line_of(draw, event) for event in events)]
    if draw.chance(10):
        row = {**chunks.row(draw), "seq0": len(events)}
        lines.append(unmarked(encode(row)))
    if draw.chance(8):
        last = {
            "type": draw.choice(("turn/end", "todo/write")),
            "seq": len(events) + 1,
            "time": 0,
            "data": {},
        }
        lines.insert(draw.integer(1, len(lines)), encode(last))
    if draw.chance(5):
        lines.insert(draw.integer(1, len(lines)), draw.choice(stored.DAMAGE))
    return lines


def ids(draw: Draw) -> tuple[str, str]:
    """The id in the header, and the one that is asked for."""
    if not draw.chance(10):
        return "s", "s"
    alike = draw.choice(ALIKE)
    return draw.choice(alike), draw.choice(alike)


def load_request(draw: Draw) -> Members:
    """A plain file, which may end in the middle of a line."""
    written, asked = ids(draw)
    content = "".join(f"{line}\n" for line in lines_of(draw, written)).encode()
    if draw.chance(12):
        content = content[: draw.integer(0, len(content))]
    return {"hex": content.hex(), "compression": "none", "sessionId": asked}


def load_frames_request(draw: Draw) -> Members:
    """The same logs in a compressed file."""
    written, asked = ids(draw)
    content = containers.container(draw, lines_of(draw, written))
    return {"hex": content.hex(), "compression": "zstd", "sessionId": asked}


def scan_frames_request(draw: Draw) -> Members:
    """A compressed file whose lines are as those of a plain one."""
    return {"hex": containers.container(draw, stored.file_lines(draw)).hex(), "compression": "zstd"}
