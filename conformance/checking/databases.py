"""SQLite databases of the harness, schemas 14, 15, 17, 19 and 20: read only, and never locked."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from conformance.checking.advice import Adviser
from conformance.checking.collector import Collector
from conformance.checking.db_gates import refuse_for, schema_of
from conformance.checking.db_rows import Hole, NoDictionary, events_of
from conformance.checking.db_sessions import NOWHERE, is_readable, key_of, take_header
from conformance.checking.exact_json import TooDeep, show
from conformance.checking.loading import SCAN, Loading
from conformance.checking.model import FileReport, Finding
from conformance.checking.shapes import Event

LISTLESS = 14
"""The schema whose only readers refuse no type of events; they do not keep the mark ignorable either."""


@contextmanager
def connected(path: str) -> Iterator[sqlite3.Connection]:
    """A database to read; a copy of one that was not closed properly, for reading would change it."""
    beside = [Path(path + end) for end in ("-wal", "-journal")]
    with tempfile.TemporaryDirectory() as folder:
        if any(each.exists() and each.stat().st_size for each in beside):
            for each in (Path(path), *beside):
                if each.exists():
                    name = "copy" + each.name.removeprefix(Path(path).name)
                    shutil.copyfile(each, Path(folder) / name)
            address = f"file:{quote(str(Path(folder) / 'copy'))}"
        else:
            address = f"file:{quote(path)}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as database:
            database.row_factory = sqlite3.Row
            database.text_factory = lambda text: text.decode("utf-8", "replace")
            yield database


@dataclass(frozen=True, slots=True)
class Judged:
    """A session and its report; ``row`` is its row of ``sessions``, None where the file itself is at fault.

    ``closers`` are the events that a reader adds, where it loads the session.
    """

    report: FileReport
    schema: int = 0
    row: dict[str, Any] | None = None
    closers: list[Event] = field(default_factory=list)


def check_database(path: str) -> Iterator[FileReport]:
    """One report for each session; one for the file where that is what is wrong."""
    for judged in judge_database(path):
        yield judged.report


def judge_database(path: str) -> Iterator[Judged]:
    """The same with what a repair has to know."""
    report = FileReport(path, format="sqlite")
    try:
        with connected(path) as database:
            schema = schema_of(database, report)
            if schema is None:
                yield Judged(report)
                return
            sessions = database.execute("SELECT * FROM sessions ORDER BY id").fetchall()
            if not sessions:
                report.verdict, report.format = "accepted", f"sqlite-{schema}"
                yield Judged(report, schema)
            for row in sessions:
                yield _session(database, dict(row), schema, path)
    except (sqlite3.Error, UnicodeError, OverflowError) as error:
        report = FileReport(path, format="sqlite")
        refuse_for(report, error)
        yield Judged(report)


def _session(database: sqlite3.Connection, row: dict[str, Any], schema: int, path: str) -> Judged:
    key = key_of(row, schema)
    report = FileReport(path, format=f"sqlite-{schema}", session=str(key))
    collector = Collector()
    loading = Loading(collector, str(key), keep_ids=True)
    adviser = Adviser(collector, loading)
    if not is_readable(row, schema, collector):
        report.verdict, report.findings = "refused", collector.sorted()
        return Judged(report, schema, row)
    report.edition = f"v{row['version']}"
    take_header(row, schema, loading)
    if row["version"] != 0:
        collector.add(
            "format-newer" if row["version"] > 0 else "format-older", "error", "storage",
            f"the session has format v{row['version']}, and this reads v0",
            found=str(row["version"]), rank=SCAN - 1, story="foreign-edition",
        )  # fmt: skip
        report.verdict, report.findings = "refused", collector.sorted()
        return Judged(report, schema, row)
    rows = RowScan(loading, collector, schema)
    try:
        rows.take_all(database, row)
    except (NoDictionary, TooDeep):
        report.findings, report.events = collector.sorted(), rows.kept
        return Judged(report, schema, row)
    made = loading.closers(rows.kept)
    if not rows.refused:
        adviser.finish(made)
    report.events, report.nodes = rows.kept, len(loading.surface)
    report.messages = sum(node.projects for node in loading.surface.nodes())
    report.closers = None if made is None else len(made)
    report.dropped_lines = rows.dropped
    report.findings = collector.sorted()
    report.verdict = "refused" if collector.refused() else "accepted"
    if report.verdict == "accepted" and rows.issue is not None:
        report.torn_from = rows.issue.seq if schema >= 17 else rows.kept
    return Judged(report, schema, row, made or [])


class RowScan:
    """The scan of the rows of a session: the same rule as for lines, with rows in their place."""

    def __init__(self, loading: Loading, collector: Collector, schema: int) -> None:
        self.loading = loading
        loading.has_list = schema > LISTLESS
        self.collector = collector
        self.schema = schema
        self.kept = 0
        self.dropped = 0
        self.last_seq: int | None = None
        self.issue: Finding | None = None
        self.refused = False

    def take_all(self, database: sqlite3.Connection, session: dict[str, Any]) -> None:
        """All rows of a session, to their end. Raises NoDictionary and TooDeep, which are told already."""
        rows = database.execute("SELECT * FROM events WHERE session_id = ? ORDER BY seq", (session["id"],))
        try:
            for each in rows:
                self.take(dict(each))
        except NoDictionary:
            self.collector.add(
                "dictionary-missing", "error", "file",
                "rows are compressed with the dictionary of the harness, which is not part of this program",
                rank=SCAN + 3, seq=self.last_seq, hint="the rows before it are judged; the others are not",
            )  # fmt: skip
            raise
        except TooDeep as deep:
            self.collector.add(
                "too-large", "error", "file", f"{deep}, too many to be judged here", rank=SCAN + 3,
                seq=self.last_seq, hint="this is a limit of this program and no rule of the format",
            )  # fmt: skip
            raise
        self.finish()

    def take(self, row: dict[str, Any]) -> None:
        """The next row. Raises NoDictionary."""
        self.last_seq = row["seq"]
        found = events_of(row, self.schema)
        if isinstance(found, Hole):
            self.hole(found, row["seq"])
            return
        if self.issue is None and found[0]["seq"] != self.kept:
            self.fault("row-committed-gap", "the seq is not the next one", row["seq"], str(self.kept))
        if self.issue is None:
            for event in found:
                self.loading.take(event, self.kept, NOWHERE)
                self.kept += 1
            return
        self.dropped += 1
        if any(event["type"] == "turn/end" for event in found):
            self.refused = True
            self.issue.severity = "error"

    def hole(self, hole: Hole, seq: int) -> None:
        """A row that does not decode."""
        self.dropped += 1
        if hole.fatal:
            # The columns of all rows are asked before the first row is taken.
            self.collector.add(hole.condition, "error", "storage", hole.what, rank=SCAN - 1, seq=seq)
            self.refused = True
        elif self.issue is None:
            self.fault("row-committed-unparsable", f"{hole.what} ({hole.condition})", seq, None)

    def fault(self, condition: str, message: str, seq: int, expected: str | None) -> None:
        """The first row that cannot be kept."""
        if self.schema >= 17:
            condition = "row-committed-corrupt"
        found = show(seq) if expected is not None else None
        story = "lost-events" if expected is not None else None
        self.issue = self.collector.add(
            condition,
            "loss",
            "storage",
            message,
            rank=SCAN,
            seq=seq,
            found=found,
            expected=expected,
            story=story,
        )

    def finish(self) -> None:
        """What the first fault comes to."""
        if self.issue is not None:
            lost = f"a reader drops {self.dropped} {'row' if self.dropped == 1 else 'rows'}"
            self.issue.hint = (
                "a turn ends in or behind this row, so the session is refused" if self.refused
                else f"nothing behind it ends a turn, so {lost}"
            )  # fmt: skip
