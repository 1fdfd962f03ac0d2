"""Files as the JSONL store writes them, and damaged ones; ids and folders for their paths."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing import chunks, interrupted, logs
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.spelling import Members, Spelled, encode, odd, unmarked

HEADERS = (
    '{"type":"session","version":0,"id":"s","createdAt":1000,"delegationDepth":0}',
    '{"type":"session","version":0,"id":"s","createdAt":1000,"cwd":"/work","delegationDepth":1}',
    '{"type":"session","version":9,"id":"s","createdAt":1000,"delegationDepth":0}',
    '{"type":"session","version":0,"id":"s","createdAt":-1,"delegationDepth":0}',
    '{"type":"session","version":0,"id":"s","createdAt":-0,"delegationDepth":0}',
    '{"version":0,"id":"s","createdAt":1000,"delegationDepth":0}',
    "null", "[]", "{", "", "x",
)  # fmt: skip
DAMAGE = (
    "",
    "{",
    "null",
    "[]",
    "7",
    '"x"',
    "{}",
    '{"type":"turn/end"}',
    '{"seq":1}',
    " ",
    "\x00",
    "nul",
    '{"type":"a","seq":-1}',
)
WORDS = (
    "s",
    "session-1",
    "a b",
    "",
    "a/b",
    "..",
    "会",
    "%41",
    "a%",
    "C:\\x",
    "A",
    "x" * 90,
    "-",
    "a.b",
    "con",
)


def file_lines(draw: Draw) -> list[str]:
    """The lines of a file: a header, then events, rows and, now and then, damage."""
    lines = [HEADERS[0] if draw.chance(85) else draw.choice(HEADERS)]
    events: list[Any] = (
        logs.valid_draft(draw, average=4).events if draw.chance(60) else interrupted.cut_session(draw)
    )
    seq = 0
    for event in events:
        if draw.chance(8):
            lines.append(draw.choice(DAMAGE))
        if draw.chance(6):
            seq += draw.choice((1, 1, 5, -1 if seq else 1))
        lines.append(unmarked(encode({**event, "seq": seq})))
        seq += 1
        if draw.chance(10):
            row = chunks.row(draw) if draw.chance(60) else chunks.spoiled_row(draw)
            if isinstance(row, dict) and draw.chance(80):
                row = {**row, "seq0": seq}
            lines.append(unmarked(encode(row)))
            seq += len(chunk_texts(row))
    if draw.chance(30):
        lines.append(unmarked(encode({"type": "turn/end", "seq": seq, "time": 0, "data": {"turn": 1}})))
    return lines


def chunk_texts(row: Any) -> list[Any]:
    data = row.get("data") if isinstance(row, dict) else None
    texts = (data.get("texts") or data.get("args")) if isinstance(data, dict) else None
    return texts if isinstance(texts, list) else []


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


def path_request(draw: Draw) -> Members:
    """A session and a folder, whose file has a name of its own."""
    session = draw.choice(WORDS) + draw.choice(("", "", *WORDS))
    members: Members = {
        "session": Spelled(odd("\ud800") if draw.chance(4) else session),
        "compression": "none",
    }
    if draw.chance(70):
        members["cwd"] = draw.choice(("/", "")) + draw.choice(WORDS) + draw.choice(("", "/", *WORDS))
    if draw.chance(40):
        members["compression"] = "zstd"
    return members
