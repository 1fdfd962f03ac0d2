"""The JSONL store, read: from the bytes of a log file to its header, its events and its torn tail.

Page: ``spec/jsonl.md``. A scan goes through the bytes once, in pieces, and keeps nothing beside what
it returns and one line. It asks nothing about types, ids or the surface.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from .chunk_rows import unpack_jsonl
from .rejection import Rejection
from .stored_json import read_json
from .values import is_number, is_seq, show

FORMAT_VERSION = 0
LINE_FEED = b"\n"
PIECE = 1 << 16
RETIRED = ("sandboxMode", "approvalPolicy")
KNOWN = (
    "version", "id", "createdAt", "cwd", "parentSession", "seedLength",
    "origin", "delegationDepth", "agentPreset",
)  # fmt: skip

Header = dict[str, object]


class Source(Protocol):
    """Bytes that can be read from anywhere; fewer than asked come at their end only."""

    def read(self, offset: int, count: int) -> bytes: ...


@dataclass(frozen=True)
class Bytes:
    """A source in memory."""

    data: bytes

    def read(self, offset: int, count: int) -> bytes:
        return self.data[offset : offset + count]


@dataclass
class Scan:
    """What a scan gives. ``torn_from`` is the byte from which a repair cuts the file; None for nothing."""

    header: Header
    events: list[object]
    torn_from: int | None


def scan(data: bytes) -> Scan:
    """A whole file at once."""
    return scan_source(Bytes(data), Scanner())


def scan_source(source: Source, scanner: Scanner) -> Scan:
    """A file from its first byte to its last.

    JSNL-11, JSNL-14, BACK-24: what stands behind the last kept line is torn off: a last line without its line
    feed, and lines from a fault on. JSNL-18: in pieces, so that memory does not grow with the file.
    """
    while piece := source.read(scanner.size, PIECE):
        scanner.write(piece)
    header = scanner.finish()
    return Scan(header, scanner.events, scanner.kept if scanner.kept < scanner.size else None)


@dataclass
class Scanner:
    """Takes the bytes of a log piece by piece.

    ``size`` counts the bytes so far, ``kept`` those up to the end of the last line that was kept,
    ``line`` the event lines. ``issue`` is the first fault found in them, while it may still be a torn tail.
    """

    header: Header | None = None
    events: list[object] = field(default_factory=list)
    size: int = 0
    kept: int = 0
    line: int = 0
    issue: Rejection | None = None
    fragments: list[bytes] = field(default_factory=list)

    def write(self, piece: bytes) -> None:
        """JSNL-1: lines end at line feeds and nowhere else, whatever stands before them."""
        start = 0
        end = piece.find(LINE_FEED)
        while end >= 0:
            self.hold(piece[start:end])
            line = b"".join(self.fragments)
            self.fragments = []
            self.take(line, self.size + end + 1)
            start = end + 1
            end = piece.find(LINE_FEED, start)
        self.hold(piece[start:])
        self.size += len(piece)

    def hold(self, fragment: bytes) -> None:
        """Keep a part of a line until its end is there."""
        self.fragments.append(fragment)

    def finish(self) -> Header:
        """The header. JSNL-2: a file without a line feed has none."""
        if self.header is None:
            raise Rejection("jsonl-empty", "empty or header-less session log")
        return self.header

    def take(self, line: bytes, end: int) -> None:
        """One whole line, without its line feed, which ends before byte ``end``.

        JSNL-14, BACK-25: a fault is no refusal yet, for what begins with it may be the tail of an unfinished
        write. JSNL-15: the first fault refuses the log once a turn/end is found in its own line or in
        any line behind it that can be read. JSNL-16: a line is kept whole or not at all.
        """
        if self.header is None:
            self.header = read_header(line)
            self.kept = end
            return
        self.line += 1
        found = read_line(line)
        if self.issue is None:
            self.issue = self.fault_of(found)
            if self.issue is None:
                self.events.extend(found)
                self.kept = end
                return
        if holds_turn_end(found):
            raise self.issue

    def fault_of(self, found: list[object]) -> Rejection | None:
        """JSNL-12, JSNL-13: a line can be read, and its first event goes on counting from the last one.

        The events of a row count up by themselves.
        """
        if not found:
            return Rejection(
                "jsonl-line",
                f"corrupt session log: unparsable committed event at line {self.line}",
                self.line,
            )
        expected = len(self.events)
        if has_seq(found[0], expected):
            return None
        return Rejection(
            "jsonl-gap",
            f"corrupt session log: seq gap in committed region at line {self.line}"
            f" (expected {expected}, got {shown(found[0], 'seq')})",
            self.line,
        )


def read_line(line: bytes) -> list[object]:
    """JSNL-16: the events of one line, a row of packed chunks expanded; none if it cannot be read.

    JSNL-9: bytes that are no UTF-8 are read as U+FFFD. JSNL-17: nothing else is asked of an event.
    """
    try:
        return unpack_jsonl(read_json(line.decode(errors="replace")))
    except (ValueError, Rejection):
        return []


def has_seq(event: object, expected: int) -> bool:
    """JSNL-13: a text is no number, and what is no object has no seq."""
    seq = event.get("seq") if isinstance(event, dict) else None
    return is_number(seq) and seq == expected


def shown(found: object, name: str) -> str:
    """A member as messages print it; of a list or an object only that it is one."""
    if not isinstance(found, dict) or name not in found:
        return "undefined"
    return "a list or an object" if isinstance(found[name], dict | list) else show(found[name])


def holds_turn_end(found: list[object]) -> bool:
    """JSNL-15: whatever its seq is, and whatever else it holds."""
    return any(isinstance(event, dict) and event.get("type") == "turn/end" for event in found)


# -- the header line ---------------------------------------------------------------


def read_header(line: bytes) -> Header:
    """JSNL-3, JSNL-6, JSNL-7: is it JSON, of this version, of the right shape, without retired members.

    JSNL-8: of the members those that are known are kept, as they are.
    """
    try:
        found = read_json(line.decode(errors="replace"))
    except ValueError:
        raise Rejection("jsonl-header-json", "corrupt session log: header line is not valid JSON") from None
    check_version(found)
    if not isinstance(found, dict) or not has_header_shape(found):
        raise Rejection("jsonl-header-shape", "corrupt session log: first line is not a session header")
    if any(name in found for name in RETIRED):
        raise Rejection("jsonl-header-retired", "session header uses retired policy baseline fields")
    return {name: found[name] for name in KNOWN if name in found}


def check_version(found: object) -> None:
    """JSNL-4, JSNL-5: another version is told as such before anything else is asked of the header."""
    version = found.get("version") if isinstance(found, dict) else None
    if not isinstance(version, int | float) or isinstance(version, bool) or version == FORMAT_VERSION:
        return
    if version > FORMAT_VERSION:
        raise Rejection("format-newer", shown_version(found, newer=True))
    raise Rejection("format-older", shown_version(found, newer=False))


def shown_version(found: object, *, newer: bool) -> str:
    """The message about another version."""
    which = f'session "{shown(found, "id")}" uses log format v{shown(found, "version")}'
    if newer:
        told = "but this harness reads only v0: the log was written by a newer harness"
        return f"{which}, {told} — upgrade the harness to open it"
    return f"{which}, older than the supported v0, and this build ships no upgrade path for it"


def has_header_shape(found: Header) -> bool:
    """JSNL-6: what the scan asks of a header. JSNL-8: cwd, parentSession and seedLength may be anything."""
    return (
        found.get("type") == "session"
        and is_number(found.get("version"))
        and isinstance(found.get("id"), str)
        and is_count(found.get("createdAt"))
        and is_count(found.get("delegationDepth"))
        and found.get("origin", "subagent") == "subagent"
        and isinstance(found.get("agentPreset", "absent"), str)
    )


def is_count(value: object) -> bool:
    """A seq (VAL-2) that is not written as -0."""
    return is_seq(value) and not is_minus_zero(value)


def is_minus_zero(value: object) -> bool:
    """-0, which a parser gives as a double."""
    return isinstance(value, float) and math.copysign(1.0, value) == -1.0
