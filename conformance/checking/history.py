"""The history of a surface, for a person who wants to know how it came to be what it is."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from conformance.checking import quick
from conformance.checking.collector import Collector, Place
from conformance.checking.databases import RowScan, connected
from conformance.checking.db_gates import schema_of
from conformance.checking.db_rows import NoDictionary
from conformance.checking.db_sessions import key_of
from conformance.checking.exact_json import TooDeep, is_seq
from conformance.checking.frames import FrameFault, content_of, expands, frames_of
from conformance.checking.lines import Lines, Overlong
from conformance.checking.loading import Loading
from conformance.checking.model import FileReport
from conformance.checking.scanning import Scan
from conformance.checking.shapes import Event, member
from conformance.checking.sources import blocks_of, is_compressed, is_database, opened
from conformance.checking.surface import Node
from conformance.errors import UsageError
from conformance.limits import LARGEST_CONTENT, LONGEST_LINE

PREVIEW = 60


@dataclass(frozen=True, slots=True)
class Shown:
    """An event as it is listed."""

    seq: int
    kind: str
    line: int
    preview: str
    appends: bool


@dataclass(frozen=True, slots=True)
class Replaced:
    """A replace: its own seq, the ends that it names, and the nodes that it took away, in surface order."""

    seq: int
    start: int
    end: int
    shadowed: list[int]


class Reached(Exception):  # noqa: N818 - a signal inside this module
    """The last event that is asked for has been read."""


@dataclass(slots=True)
class History:
    """What is known behind the last event that was read."""

    nodes: list[int] = field(default_factory=list)
    messages: int = 0
    events: int = 0
    joined: dict[int, Shown] = field(default_factory=dict)
    replaced: list[Replaced] = field(default_factory=list)
    citing: list[tuple[int, str]] = field(default_factory=list)
    cited: list[int] | None = None
    asked: str | None = None
    findings: Collector = field(default_factory=Collector)

    def ended(self, loading: Loading, events: int) -> History:
        """The same, with what the surface has come to."""
        self.nodes = [node.seq for node in loading.surface.nodes()]
        self.messages = sum(node.projects for node in loading.surface.nodes())
        self.events = events
        return self

    def shadowed_by(self) -> dict[int, int]:
        """By the seq of a node that is gone, the seq of what took it away."""
        return {seq: each.seq for each in self.replaced for seq in each.shadowed}


class Recorder:
    """Watches a log as it is loaded, and keeps what can be told of it."""

    def __init__(self, history: History, last: int | None, cites: int | None) -> None:
        self.history = history
        self.last = last
        self.cites = cites

    def counted(self, seq: int) -> None:
        """An event of which nothing is told."""

    def event(self, event: Event, seq: int, place: Place) -> None:
        """Any event."""
        if self.last is not None and seq > self.last:
            raise Reached
        if self.cites is not None:
            sources = event.get("sourceEventSeqs")
            seqs = [int(each) for each in sources if is_seq(each)] if isinstance(sources, list) else []
            if seq == self.cites:
                self.history.cited, self.history.asked = seqs, str(event.get("type"))
            elif self.cites in seqs:
                self.history.citing.append((seq, str(event.get("type"))))

    def joined(self, node: Node, event: Event, stretch: list[Node], place: Place) -> None:
        """An event that becomes a node."""
        appends = event.get("surfaceOp") == "append"
        self.history.joined[node.seq] = Shown(node.seq, node.kind, place.line, preview_of(event), appends)
        if stretch:
            ends = (stretch[0].seq, stretch[-1].seq)
            self.history.replaced.append(Replaced(node.seq, *ends, [each.seq for each in stretch]))

    def turn_starts(self, turn: int, seq: int, place: Place) -> None: ...

    def turn_ends(self, turn: int, seq: int, place: Place) -> None: ...

    def step_starts(self, turn: int, step: int, seq: int, place: Place) -> None: ...

    def step_ends(self, turn: int, step: int, seq: int, place: Place) -> None: ...

    def call_starts(self, call: str, turn: int, step: int, seq: int, place: Place) -> None: ...

    def assistant_appends(
        self, node: Node, cited: list[int] | None, turn: int, step: int, place: Place
    ) -> None: ...

    def result_appends(
        self, node: Node, cited: list[int] | None, turn: int, step: int, place: Place
    ) -> None: ...


def read_history(
    path: Path, last: int | None = None, cites: int | None = None, session: str | None = None
) -> History:
    """The history of a log up to and with an event, or to its end; of a database, that of one session.

    Raises UsageError and OSError.
    """
    if is_database(path):
        return of_database(path, last, cites, session)
    if session is not None:
        raise UsageError(f"{path}: this is no database, so it has no session to choose")
    history = History()
    scan = Scan(history.findings, exact=True)
    scan.loading.watcher = Recorder(history, last, cites)

    def take(lines: list[bytes], _suspect: bool) -> None:
        for text in lines:
            if scan.stopped:
                return
            if scan.header is None:
                scan.take(text)
            else:
                quick.take_untyped(scan, text)

    cutter = Lines(take, LONGEST_LINE)
    with opened(path) as source:
        try:
            if is_compressed(source, str(path)):
                for frame in frames_of(source):
                    if frame.end is None and not expands(source, frame, LARGEST_CONTENT):
                        break
                    for piece in content_of(source, frame):
                        cutter.take(piece)
                        if cutter.size > LARGEST_CONTENT:
                            raise Overlong(f"the frames expand to more than {LARGEST_CONTENT:,} bytes")
            else:
                for block in blocks_of(source, None):
                    cutter.take(block)
        except Reached:
            pass
        except FrameFault as fault:
            raise UsageError(f"{path}: {fault.message}; session-conformance check tells more") from None
        except (Overlong, TooDeep, zstandard.ZstdError) as error:
            raise UsageError(f"{path}: {error}; session-conformance check tells more") from None
    if scan.header is None or scan.stopped:
        raise UsageError(f"{path}: the log has no usable header; session-conformance check tells more")
    return history.ended(scan.loading, scan.kept)


def of_database(path: Path, last: int | None, cites: int | None, session: str | None) -> History:
    """The history of the one session of a database, or of the one that is named. Raises UsageError."""
    history = History()
    try:
        with connected(str(path)) as database:
            row, schema = _session_row(database, path, session)
            loading = Loading(history.findings, str(key_of(row, schema)), keep_ids=True)
            loading.watcher = Recorder(history, last, cites)
            rows = RowScan(loading, history.findings, schema)
            with suppress(Reached, NoDictionary, TooDeep):
                rows.take_all(database, row)
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        raise UsageError(f"{path}: SQLite says: {error}; session-conformance check tells more") from None
    return history.ended(loading, rows.kept)


def _session_row(database: sqlite3.Connection, path: Path, session: str | None) -> tuple[dict[str, Any], int]:
    report = FileReport(str(path))
    schema = schema_of(database, report)
    if schema is None:
        why = report.refusal.message if report.refusal else "the database is empty"
        raise UsageError(f"{path}: {why}; session-conformance check tells more")
    rows = [dict(row) for row in database.execute("SELECT * FROM sessions ORDER BY id")]
    found = [row for row in rows if session is None or key_of(row, schema) == session]
    if len(found) == 1:
        return found[0], schema
    names = ", ".join(str(key_of(row, schema)) for row in rows[:20]) + (" …" if len(rows) > 20 else "")
    if session is not None:
        raise UsageError(
            f"{path}: there is no session {session!r} in this database; it has {names or 'none'}"
        )
    raise UsageError(f"{path}: give --session ID; this database has {names or 'no session'}")


def preview_of(event: Event) -> str:
    """The beginning of what a message says, and which tools it calls or answers."""
    data = event.get("data")
    message = data if event.get("type") == "user/message" else member(data, "message")
    told: list[str] = []
    content: Any = member(message, "content")
    for block in content if isinstance(content, list) else []:
        kind = member(block, "type")
        if kind == "tool-call":
            told.append(f"[call {member(block, 'id')} {member(block, 'name')}]")
        elif kind == "tool-result":
            inner = member(block, "content")
            first = member(inner[0], "text") if isinstance(inner, list) and inner else ""
            told.append(f"[result of {member(block, 'toolCallId')}] {first or ''}")
        elif isinstance(member(block, "text"), str):
            told.append(member(block, "text"))
        else:
            told.append(f"[{kind}]")
    text = " ".join(told).replace("\n", " ") or "(empty)"
    return text if len(text) <= PREVIEW else f"{text[: PREVIEW - 1]}…"
