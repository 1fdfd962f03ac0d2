"""Whole log files for a reader that goes all the way: header, old shapes, types, closers, admission.

A log has at most one fault of a kind that a later step looks for, so that the order of the steps shows.
Plain files and files of frames hold the same logs.
"""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import chunks, interrupted, logs, messages, old_shapes, sessions, stored
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import LogDraft
from conformance.fuzzing.spelling import Members, encode, raw, unmarked
from conformance.zstd_frames import STORED, frame_of, frame_of_blocks

HEADER: dict[str, Any] = {"type": "session", "version": 0, "id": "s", "createdAt": 1000, "delegationDepth": 0}
OTHER_IDS = ("S", "s ", "t", "ſ", "s\u0301", "", "ss", "s0")
"""Ids that a careless reader takes for ``s``, or for one that nobody asked for."""
HEADER_CHANGES: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("cwd", ("/work", "/", None, "", [], ["/x"], "work", "./x", 7, {})),
    ("parentSession", ("p", "", None, 1)),
    ("seedLength", (0, 3, -1, None, raw("-0"))),
    ("delegationDepth", (1, 2, -1, None, "0")),
    ("origin", ("subagent", "user", None)),
    ("agentPreset", ("plan", "", None)),
    ("version", (9, -1, "0", None, raw("0.0"), raw("-0"))),
    ("createdAt", (0, -1, None, raw("1e3"))),
    ("type", ("sessions", None)),
    ("sandboxMode", ("x",)),
    ("note", (1,)),
)
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
MARKS: tuple[Any, ...] = (True, True, True, False, None, 1, "true", {}, 0)


def header_line(draw: Draw) -> str:
    """The header, most often a sound one, with a member changed otherwise."""
    if draw.chance(2):
        return draw.choice(stored.HEADERS)
    header = dict(HEADER)
    if draw.chance(25):
        name, values = draw.choice(HEADER_CHANGES)
        header[name] = values[0] if draw.chance(50) else draw.choice(values)
    return unmarked(encode(header))


def stored_log(draw: Draw) -> list[Any]:
    """The events of a stored log: of today or with old shapes, whole or broken off, perhaps with a fault."""
    way = draw.integer(0, 11)
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
    return with_types(draw)


def in_order(events: list[Any]) -> list[Any]:
    """The events with the seqs of their places."""
    return [{**event, "seq": place} for place, event in enumerate(events)]


def with_types(draw: Draw) -> list[Any]:
    """A log with events of types that are seldom met, or that nobody knows, marked or not, here and there."""
    log = LogDraft()
    if not draw.chance(30):
        log.add("turn/start", messages.boundary("turn/start", 1, 0))
    for _ in draw.repeat(2):
        if draw.chance(60):
            logs.add_user(draw, log)
            continue
        log.add(
            draw.choice(KNOWN if draw.chance(40) else UNKNOWN), draw.choice(({}, None, {"ignorable": True}))
        )
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


def lines_of(draw: Draw) -> list[str]:
    """Header and events as lines; seldom a run of chunks is one row, a seq is wrong, or a line is damaged."""
    events = stored_log(draw)
    lines = [header_line(draw), *(unmarked(encode(event)) for event in events)]
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


def session_id(draw: Draw) -> str:
    """The id that is asked for; a request never asks for the empty one."""
    return "s" if not draw.chance(5) else draw.choice(OTHER_IDS) or "s"


def load_request(draw: Draw) -> Members:
    """A plain file, which may end in the middle of a line."""
    content = "".join(f"{line}\n" for line in lines_of(draw)).encode()
    if draw.chance(12):
        content = content[: draw.integer(0, len(content))]
    return {"hex": content.hex(), "compression": "none", "sessionId": session_id(draw)}


# -- frames --------------------------------------------------------------------------


def container(draw: Draw, lines: list[str]) -> bytes:
    """A file of frames: the header in one, the rest in as many as it pleases; now and then with one fault."""
    contents = [f"{lines[0]}\n"]
    for line in lines[1:]:
        if len(contents) == 1 or draw.chance(40):
            contents.append("")
        contents[-1] += f"{line}\n"
    way = draw.integer(0, 19)
    if way == 0:
        contents = ["".join(contents)]
    elif way == 1:
        place = draw.integer(0, len(contents) - 1)
        contents[place] = contents[place][:-1]
    elif way == 2:
        contents.insert(draw.integer(0, len(contents)), draw.choice(("", "\n", " ")))
    frames = [written(draw, content.encode()) for content in contents]
    if 3 <= way < 7:
        place = draw.integer(0, len(frames) - 1)
        frames[place] = spoilt_frame(draw, frames[place])
    elif way == 7:
        frames.insert(draw.integer(0, len(frames)), draw.choice(NO_FRAMES))
    whole = b"".join(frames)
    if 8 <= way < 12:  # a torn end
        whole = whole[: len(whole) - min(len(whole), draw.integer(1, len(frames[-1]) + 3))]
    return whole


NO_FRAMES = (
    bytes.fromhex("502a4d1804000000deadbeef"), b"\x28", b"\x28\xb5\x2f", b"\x28\xb5\x2f\xfd", b"{}\n", b"\0",
    frame_of(b"x")[:-2], bytes.fromhex("28b52ffd08"),
)  # fmt: skip
"""Bytes that are no whole frame of a log: a skippable one, beginnings, a text."""


def written(draw: Draw, content: bytes) -> bytes:
    """One frame, in blocks of some size, with a checksum or without; seldom with a repeated blank."""
    if draw.chance(8) and content.endswith(b"\n"):
        blanks = draw.integer(2, 60)
        blocks = [(content[:-1], STORED), (b" ", blanks), (b"\n", STORED)]
        return frame_of_blocks(blocks, len(content) + blanks)
    block = draw.choice((None, 1, 7, 50)) if draw.chance(20) else None
    return frame_of(content, "right" if not draw.chance(20) else "absent", block)


def spoilt_frame(draw: Draw, frame: bytes) -> bytes:
    """A frame with another byte: of its checksum, its descriptor, a block header, or anywhere."""
    places = (len(frame) - 1, 4, 5, 13, 14, 15)
    place = draw.choice(places) if draw.chance(70) else draw.integer(0, len(frame) - 1)
    place = min(place, len(frame) - 1)
    bit = draw.choice((1, 2, 4, 6, 8, 16, 32, 64, 128, 255))
    return frame[:place] + bytes([frame[place] ^ bit]) + frame[place + 1 :]


def load_frames_request(draw: Draw) -> Members:
    """The same logs in a compressed file."""
    content = container(draw, lines_of(draw))
    return {"hex": content.hex(), "compression": "zstd", "sessionId": session_id(draw)}


def scan_frames_request(draw: Draw) -> Members:
    """A compressed file whose lines are as those of a plain one."""
    return {"hex": container(draw, stored.file_lines(draw)).hex(), "compression": "zstd"}
