"""Files as the JSONL store writes them, and damaged ones."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import chunks, interrupted, log_lines, logs
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.spelling import Members, again, encode, raw, unmarked

DAMAGE = (
    "",
    "{",
    "null",
    "[]",
    "7",
    '"x"',
    "{}",
    '{"type":"turn/end"}',
    '{"type":"turn\\/end"}',
    '{"seq":1}',
    " ",
    "\x00",
    "nul",
    '{"type":"a","seq":-1}',
    '{"text":"\\"type\\":\\"turn/end\\""',
)
"""Lines that are none, or that hold no event with the right seq."""
FAULTS = 12
"""In so many of a hundred places a file that has faults has one."""


def file_lines(draw: Draw) -> list[str]:
    """The lines of a file: a header, then events and rows; in most files some are wrong."""
    lines = [log_lines.header_line(draw, percent=35)]
    events: list[Any] = (
        logs.valid_draft(draw, average=4).events if draw.chance(60) else interrupted.cut_session(draw)
    )
    percent = FAULTS if draw.chance(60) else 0
    seq = 0
    for event in events:
        if draw.chance(15):
            line, members = row_line(draw, seq, faulty=draw.chance(4 * percent))
            lines.append(line)
            seq += members
        if draw.chance(percent):
            line, seq = faulty_line(draw, event, seq)
            lines.append(line)
        else:
            lines.append(sound_line(draw, event, seq))
        seq += 1
    if draw.chance(60 if percent else 20):
        lines.append(unmarked(encode({"type": "turn/end", "seq": seq, "time": 0, "data": {"turn": 1}})))
    return lines


def sound_line(draw: Draw, event: Any, seq: int) -> str:
    """An event that a scan takes, whatever it holds beside its seq, and however that is spelled."""
    event = {**event, "seq": seq}
    way = draw.integer(0, 39)
    if way == 1:
        event["seq"] = raw(draw.choice((f"{seq}.0", f"{seq}e0", f"{seq}0e-1", f"{seq}.0" if seq else "-0")))
    elif way == 2:
        event["note"] = draw.choice(log_lines.SEPARATED)
    elif way == 3:
        event["type"] = draw.choice((None, 7, "", "zzz/x"))
    elif way == 4:
        return log_lines.bordered(draw, log_lines.line_of(draw, event), sound=True)
    elif way == 5:
        return log_lines.line_of(draw, {again("seq"): seq + 1, **event})
    return log_lines.line_of(draw, event)


def faulty_line(draw: Draw, event: Any, seq: int) -> tuple[str, int]:
    """A line that a scan does not take, in place of the one with this seq; and the seq that it is told."""
    way = draw.integer(0, 5)
    if way == 0:
        return draw.choice(DAMAGE), seq
    if way == 1:
        told = seq + draw.choice((1, 5, -1 if seq else 1))
        return sound_line(draw, event, told), told
    if way == 2:
        line = log_lines.line_of(draw, {**event, "seq": seq})
        return log_lines.bordered(draw, line, sound=False), seq
    if way == 3:
        return log_lines.line_of(
            draw, {**event, "seq": seq, "note": raw(draw.choice(log_lines.NO_JSON))}
        ), seq
    near = (str(seq), seq == 1, seq == 1, raw(f"{seq}.5"), None, [seq], -seq - 1, raw("1e400"))
    return log_lines.line_of(draw, {**event, "seq": draw.choice(near)}), seq


def row_line(draw: Draw, seq: int, *, faulty: bool) -> tuple[str, int]:
    """A row of chunks, and how many it has.

    A faulty one breaks a rule of rows, has gaps that are too large, too many or too few, overlaps what is
    there, or comes too early.
    """
    way = draw.integer(0, 3) if faulty else -1
    if way == 0:
        spoiled = chunks.spoiled_row(draw)
        if isinstance(spoiled, dict) and draw.chance(80):
            spoiled = {**spoiled, "seq0": seq}
        return log_lines.line_of(draw, spoiled), 0
    row = chunks.row(draw)
    data = row["data"]
    name = "args" if "args" in data else "texts"
    texts = [*data[name], "a", "b"]
    gaps = chunks.GAPS if way == 1 else (0, 10, -5)
    number = len(texts) - (1 if way != 2 else draw.choice((0, 2)))
    times = [draw.choice(gaps) for _ in range(number)]
    first = seq if way < 3 else max(seq + draw.choice((-1, -1, -2, 1)), 0)
    row = {**row, "seq0": first, "data": {**data, "dt": times, name: texts}}
    if way != 1:
        row["time0"] = 0
    return log_lines.line_of(draw, row), len(texts)


def scan_request(draw: Draw) -> Members:
    """A file, whole or cut off somewhere, with line ends of one kind or another."""
    text = (draw.choice(("\r\n", "\n\n")) if draw.chance(6) else "\n").join(file_lines(draw))
    content = text.encode()
    if not draw.chance(30):
        content += b"\n"
    if draw.chance(15):
        content = content[: draw.integer(0, len(content))]
    if draw.chance(8) and content:
        place = draw.integer(0, len(content) - 1)
        content = content[:place] + bytes([draw.integer(0, 255)]) + content[place + 1 :]
    return {"hex": content.hex(), "compression": "none"}
