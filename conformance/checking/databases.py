"""SQLite databases of the harness, schemas 14, 15, 17, 19 and 20: read only, and never locked."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from conformance.checking.advice import Adviser
from conformance.checking.collector import Collector, Place
from conformance.checking.db_rows import Hole, NoDictionary, events_of
from conformance.checking.exact_json import TooDeep, show
from conformance.checking.loading import HEADER, SCAN, Loading
from conformance.checking.model import FileReport, Finding
from conformance.checking.shapes import Event

SCHEMAS = (14, 15, 17, 19, 20)
APPLICATION = 0x44534850
NOWHERE = Place(0, -1, b"")
HEADER_COLUMNS = {
    "cwd": "cwd", "parent_session": "parentSession", "seed_length": "seedLength", "origin": "origin",
    "delegation_depth": "delegationDepth", "agent_preset": "agentPreset",
}  # fmt: skip
COLUMNS = ("seq", "type", "time", "data", "source_event_seqs", "surface_op")


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
        story = "damaged" if "malformed" in str(error) or "not a database" in str(error) else None
        condition = "db-not-a-database" if "not a database" in str(error) else "db-unreadable"
        message = f"SQLite says: {error}"
        yield Judged(_refuse(FileReport(path, format="sqlite"), condition, message, story=story))


def _refuse(report: FileReport, condition: str, message: str, **told: Any) -> FileReport:
    finding = Finding(condition, "error", "storage", message, **told)
    report.verdict = "refused"
    report.findings.append(finding)
    return report


def schema_of(database: sqlite3.Connection, report: FileReport) -> int | None:
    """The schema of a database that may be read on; else the report tells why not."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (application,) = database.execute("PRAGMA application_id").fetchone()
    objects = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if version == 0:
        if application != 0 or objects:
            message = "the database has an unversioned schema"
            _refuse(report, "db-unversioned", message, found="user_version 0")
        else:
            report.verdict = "accepted"
        return None
    report.format = f"sqlite-{version}" if version > 0 else "sqlite"
    if version not in SCHEMAS:
        _refuse(
            report, "db-schema-version", f"the database has schema {version}", story="foreign-edition",
            found=str(version), expected="14, 15, 17, 19 or 20", hint="each build opens its own schema only",
        )  # fmt: skip
        return None
    if application != APPLICATION:
        message = "the database belongs to another application"
        _refuse(report, "db-application-id", message, found=str(application), expected=str(APPLICATION))
        return None
    for table, wanted in _wanted(int(version)).items():
        there = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
        if not wanted <= there:
            message = f"the table {table} lacks {', '.join(sorted(wanted - there))}"
            _refuse(report, "db-schema-objects", message)
            return None
    store = database.execute("SELECT store_id FROM persistence_state").fetchone()
    if version >= 17 and (store is None or not _is_uuid(store[0])):
        _refuse(report, "db-store-identity", "the database has no valid store identity")
        return None
    return int(version)


def _wanted(schema: int) -> dict[str, set[str]]:
    sessions = {"id", "version", "created_at", "incarnation", "revision", *HEADER_COLUMNS}
    events = {"session_id", *COLUMNS}
    if schema >= 19:
        sessions.add("session_key")
    if schema == 19:
        events.add("is_packed")
    elif schema >= 15:
        events.add("ignorable")
    return {"persistence_state": {"store_id"}, "sessions": sessions, "events": events}


def _is_uuid(text: object) -> bool:
    try:
        return isinstance(text, str) and str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False


def _session(database: sqlite3.Connection, row: dict[str, Any], schema: int, path: str) -> Judged:
    key = key_of(row, schema)
    report = FileReport(path, format=f"sqlite-{schema}", session=str(key))
    collector = Collector()
    loading = Loading(collector, str(key), keep_ids=True)
    adviser = Adviser(collector, loading)
    if not isinstance(row["version"], int) or not isinstance(key, str):
        _refuse(report, "meta-row-column-type", "version is no integer, or the id no text")
        return Judged(report, schema, row)
    report.edition = f"v{row['version']}"
    if row["version"] != 0:
        condition = "format-newer" if row["version"] > 0 else "format-older"
        message = f"the session has format v{row['version']}, and this reads v0"
        _refuse(report, condition, message, story="foreign-edition", found=str(row["version"]))
        return Judged(report, schema, row)
    _meta(row, schema, collector)
    loading.header(header_of(row, schema), NOWHERE)
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


def key_of(row: dict[str, Any], schema: int) -> Any:
    """The id of a session."""
    return row["session_key"] if schema >= 19 else row["id"]


def header_of(row: dict[str, Any], schema: int) -> Event:
    """The header that a row of ``sessions`` stands for."""
    header = {"version": row["version"], "id": key_of(row, schema), "createdAt": row["created_at"]}
    return header | {name: row[column] for column, name in HEADER_COLUMNS.items() if row[column] is not None}


def _meta(row: dict[str, Any], schema: int, collector: Collector) -> None:
    """What is asked of a row of sessions."""
    for name in ("created_at", "seed_length", "delegation_depth", "revision"):
        if not isinstance(row[name], int | None) or (
            row[name] is None and name in ("created_at", "revision")
        ):
            collector.add("meta-row-column-type", "error", "storage", f"{name} is no integer", rank=HEADER)
            return
    faults = [
        ("meta-row-created-at", row["created_at"] < 0, "created_at is negative"),
        ("meta-row-origin", row["origin"] not in (None, "subagent"), 'origin is not "subagent" or null'),
        ("meta-row-incarnation", schema >= 17 and not _is_uuid(row["incarnation"]), "incarnation is no UUID"),
        ("meta-row-seed-length", (row["seed_length"] or 0) < 0, "seed_length is negative"),
        ("meta-row-depth", (row["delegation_depth"] or 0) < 0, "delegation_depth is negative"),
        ("meta-row-revision", row["revision"] < 0, "revision is negative"),
    ]
    for condition, wrong, message in faults:
        if wrong:
            collector.add(condition, "error", "storage", message, rank=HEADER)


class RowScan:
    """The scan of the rows of a session: the same rule as for lines, with rows in their place."""

    def __init__(self, loading: Loading, collector: Collector, schema: int) -> None:
        self.loading = loading
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
