"""Long logs to measure with: mostly chunks, one line each, as an agent with a talkative model leaves them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

SESSION, CWD = "bench", "/work"
CHUNKS = 70
"""Chunks of one message."""
MODEL = {"kind": "model", "provider": "p", "model": "m"}


class Writer:
    """Writes events with the seqs and times that they have coming."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.seq = 0
        self.size = 0

    def line(self, value: object) -> None:
        """One line."""
        self.size += self.file.write(json.dumps(value, separators=(",", ":")).encode() + b"\n")

    def event(self, kind: str, data: object, **marks: object) -> int:
        """One event; gives its seq."""
        time = 1_700_000_000_000 + 7 * self.seq
        self.line({"type": kind, "seq": self.seq, "time": time, "data": data, **marks})
        self.seq += 1
        return self.seq - 1


def write_log(path: Path, events: int, *, text: int = 30, fold_every: int = 20) -> int:
    """A log of at least so many events; gives how many it has.

    ``text`` is how many characters a chunk has. Every ``fold_every`` turns a compaction replaces the surface
    by one message, so that it stays small however long the log is.
    """
    with path.open("wb") as file:
        writer = Writer(file)
        header = {"type": "session", "version": 0, "id": SESSION, "createdAt": 1, "cwd": CWD}
        writer.line({**header, "delegationDepth": 0})
        surface: list[int] = []
        turn = 0
        while writer.seq < events:
            turn += 1
            surface += _turn(writer, turn, text)
            if turn % fold_every == 0:
                surface = [_compaction(writer, surface)]
        return writer.seq


def _turn(writer: Writer, turn: int, text: int) -> list[int]:
    writer.event("turn/start", {"turn": turn})
    content: list[Any] = [{"type": "text", "text": "Please go on with the task. "}]
    user = {"id": f"u{turn}", "role": "user", "content": content, "source": {"kind": "user"}}
    nodes = [writer.event("user/message", user, surfaceOp="append")]
    for step in (1, 2):
        place = {"turn": turn, "step": step}
        writer.event("step/start", place)
        chunks = []
        for number in range(CHUNKS):
            piece = f"{number} … ".ljust(text, "x")
            chunk = {"type": "text-delta", "index": 0, "text": piece}
            chunks.append(writer.event("assistant/chunk", {**place, "chunk": chunk}))
        content = [{"type": "text", "text": "x" * text * CHUNKS}]
        call = f"c{turn}"
        if step == 1:
            content.append({"type": "tool-call", "id": call, "name": "bash", "input": {"command": "ls"}})
        message = {"id": f"a{turn}.{step}", "role": "assistant", "content": content, "source": MODEL}
        cites = {"surfaceOp": "append", "sourceEventSeqs": chunks}
        nodes.append(writer.event("assistant/message", {**place, "message": message}, **cites))
        if step == 1:
            started = writer.event("tool/call", {**place, "callId": call, "name": "bash", "input": {}})
            nodes.append(_result(writer, place, call, started))
        writer.event("step/end", place)
    writer.event("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
    return nodes


def _result(writer: Writer, place: dict[str, int], call: str, started: int) -> int:
    block = {"type": "tool-result", "toolCallId": call, "isError": False, "content": []}
    source = {"kind": "tool", "callId": call}
    message = {"id": f"r-{call}", "role": "user", "source": source, "content": [block]}
    cites = {"surfaceOp": "append", "sourceEventSeqs": [started]}
    return writer.event("tool/result", {**place, "message": message}, **cites)


def _compaction(writer: Writer, surface: list[int]) -> int:
    start = writer.event("compaction/start", {})
    summary = writer.event("compaction/summary", {})
    content = [{"type": "text", "text": "What was done so far."}]
    message = {"id": f"s{start}", "role": "user", "content": content, "source": {"kind": "compaction"}}
    marker = {"op": "replace", "start": surface[0], "end": surface[-1]}
    node = writer.event("user/message", message, surfaceOp=marker, sourceEventSeqs=[start, summary, *surface])
    writer.event("compaction/end", {})
    return node
