"""What a conforming reader would do to a log: cut a torn tail, add closers. Never in place."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import zstandard

from conformance.checking.catalogue import rule_of
from conformance.checking.frames import PIECE, Bytes, Frame, content_of
from conformance.checking.jsonl import JsonlCheck
from conformance.checking.model import FileReport, Finding
from conformance.checking.places import Stores, judge_place
from conformance.checking.scanning import Scan
from conformance.checking.shapes import Event
from conformance.checking.sources import SQLITE_MAGIC, is_compressed, opened
from conformance.errors import ConformanceError, ExitCode, UsageError


class NoRepairError(ConformanceError):
    """A reader refuses the log, so whoever made it readable would have to invent something.

    Or somebody writes to it, so that what was judged is no longer what is there.
    """

    exit_code = ExitCode.DIFFERS


@dataclass(slots=True)
class Plan:
    """What is to be done. ``keep`` bytes of the file stay as they are, the rest of its ``size`` goes.

    Behind them come ``recovered``, what a torn frame still gave as bytes of the log, and ``closers``.
    ``state`` tells the file as it was judged from what it becomes when somebody writes to it.
    """

    report: FileReport
    compressed: bool
    keep: int
    size: int
    state: tuple[int, ...]
    recovered: bytes = b""
    closers: list[Event] = field(default_factory=list)

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.keep < self.size or bool(self.closers)

    def steps(self) -> Iterator[str]:
        """The plan in words."""
        if self.keep < self.size:
            dropped = self.report.dropped_lines
            lines = f", {dropped} whole {'line' if dropped == 1 else 'lines'} among them" if dropped else ""
            yield f"cut {self.size - self.keep:,} bytes from byte {self.keep:,} on{lines}"
        if self.recovered:
            number = self.recovered.count(b"\n")
            yield f"write {number} {'line' if number == 1 else 'lines'} of the torn frame again"
        for event in self.closers:
            yield step_of(event)


def plan_repair(path: Path) -> Plan:
    """What a reader would do to a log. Raises NoRepairError, UsageError and OSError."""
    state = state_of(path)
    with opened(path) as source:
        if source.at(0, 16) == SQLITE_MAGIC:
            raise UsageError(f"{path}: this is a database")
        report = FileReport(str(path))
        compressed = is_compressed(source, str(path))
        scan = JsonlCheck().check(source, compressed, report)
        judge_place(report, Stores())
        refusal = report.refusal
        if refusal is not None:
            raise NoRepairError(
                f"{path}: {refusal_of(refusal)}. A reader refuses this log; to make it readable,"
                " events have to be invented or thrown away, and no tool should do that by itself"
            )
        keep = source.size if report.torn_from is None else report.torn_from
        recovered = recovered_of(source, scan, keep) if compressed and keep < source.size else b""
        require_unchanged(path, state)
        return Plan(report, compressed, keep, source.size, state, recovered, scan.closers or [])


def state_of(path: Path) -> tuple[int, ...]:
    """What changes of a file when it is written to, or another one comes into its place. Raises OSError."""
    found = path.stat()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def require_unchanged(path: Path, state: tuple[int, ...]) -> None:
    """A turn that its harness goes on with is not interrupted. Raises NoRepairError and OSError."""
    if state_of(path) != state:
        raise NoRepairError(
            f"{path}: the log changed while it was repaired, so somebody still writes to it;"
            " nothing was written"
        )


def refusal_of(refusal: Finding) -> str:
    """Why a reader refuses a log, in words."""
    line = "" if refusal.line is None else f", line {refusal.line}"
    return f"{rule_of(refusal.condition)} {refusal.condition}{line}: {refusal.message}"


def step_of(event: Event) -> str:
    """One closer of a plan, in words."""
    return f"add seq {event['seq']}: {event['type']}{_detail(event)}"


def recovered_of(source: Bytes, scan: Scan, start: int) -> bytes:
    """The whole lines that a torn frame still gives and a reader keeps."""
    wanted = scan.kept_to - scan.complete_size
    held = b""
    if wanted > 0:
        for piece in content_of(source, Frame(start, None)):
            held += piece
            if len(held) >= wanted:
                break
    return held[: max(0, wanted)]


def write_repair(plan: Plan, source: Path, target: Path) -> None:
    """Write the repaired log.

    Raises UsageError where the target is there already, NoRepairError where the log is no longer the one that
    the plan is for, and OSError.
    """
    try:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        raise UsageError(f"{target} is there already; a repair never writes over a file") from None
    try:
        with os.fdopen(descriptor, "wb") as file, source.open("rb") as old:
            _copy(old, file, plan.keep)
            added = plan.recovered + b"".join(line_of(event) for event in plan.closers)
            if added and plan.compressed:
                added = zstandard.ZstdCompressor(write_checksum=True).compress(added)
            file.write(added)
            file.flush()
            os.fsync(file.fileno())
        require_unchanged(source, plan.state)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _copy(old: BinaryIO, new: BinaryIO, count: int) -> None:
    while count > 0:
        piece = old.read(min(PIECE, count))
        if not piece:
            return  # it became shorter, which is seen when all is written
        new.write(piece)
        count -= len(piece)


def line_of(event: Event) -> bytes:
    """An event as a line of a log."""
    return json_of(event).encode() + b"\n"


def json_of(value: object) -> str:
    """A value as a writer leaves it. It is JSON, whatever was read."""
    return json.dumps(_number(value), ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def _number(value: object) -> object:
    """1.0 is written as 1, as every other writer does, and null for what no double can hold."""
    if isinstance(value, dict):
        return {name: _number(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_number(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _detail(event: Event) -> str:
    data = event["data"]
    if event["type"] == "tool/result":
        return f" of {data['message']['source']['callId']!r}, {data['error']['code']}"
    where = f" of turn {json_of(data['turn'])}"
    if event["type"] == "turn/end":
        return f"{where}, interrupted"
    return f"{where}, step {json_of(data['step'])}" if "step" in data else f"{where}, no step"
