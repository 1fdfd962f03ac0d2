"""What a conforming reader would do to the sessions of a database, in a new database.

A reader repairs the session that it loads: it deletes the rows of a torn tail, adds the closers, and counts
the revision on by one. A session that it refuses stays as it is.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.checking.databases import Judged, connected, judge_database
from conformance.checking.repair import NoRepairError, json_of, refusal_of, step_of
from conformance.checking.seqs import encode_one
from conformance.checking.shapes import Event
from conformance.errors import ExitCode, UsageError


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """What is to be done to one session.

    Rows from the seq ``cut`` on are deleted, ``rows`` of them, and ``closers`` added. ``left`` says why
    nothing is done to it, where a reader would not load it.
    """

    row: dict[str, Any]
    name: str
    cut: int | None = None
    rows: int = 0
    closers: list[Event] = field(default_factory=list)
    left: str | None = None
    code: ExitCode = ExitCode.CONFORMS

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return self.cut is not None or bool(self.closers)


@dataclass(frozen=True, slots=True)
class DatabasePlan:
    """What is to be done to a database."""

    path: Path
    schema: int
    sessions: list[SessionPlan]

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return any(each.changes for each in self.sessions)

    @property
    def exit_code(self) -> ExitCode:
        """0, or why a session is left as it is: a reader refuses it (1), or it cannot be judged here (3)."""
        return max((each.code for each in self.sessions), key=ORDER.index, default=ExitCode.CONFORMS)

    def steps(self) -> Iterator[tuple[str, str]]:
        """The plan in words: which session, and what is done to it."""
        for each in self.sessions:
            if each.cut is not None:
                rows = f"{each.rows} {'row' if each.rows == 1 else 'rows'}"
                yield f"session {each.name}: ", f"delete {rows} from seq {each.cut} on"
            for event in each.closers:
                yield f"session {each.name}: ", step_of(event)

    def refused(self) -> Iterator[str]:
        """The sessions that stay as they are although a reader cannot load them, in words."""
        for each in self.sessions:
            if each.left is not None:
                yield f"session {each.name} stays as it is: {each.left}"


ORDER = (ExitCode.CONFORMS, ExitCode.ADAPTER, ExitCode.DIFFERS)


def plan_database(path: Path, only: Collection[str] = ()) -> DatabasePlan:
    """What a reader would do to all sessions of a database, or to those that are named.

    Raises NoRepairError where it does not open the database, UsageError for a session that is not there.
    """
    judged = list(judge_database(str(path)))
    for each in judged:
        if each.row is None and each.report.refusal is not None:
            raise NoRepairError(
                f"{path}: {refusal_of(each.report.refusal)}. A reader does not open this database"
            )
    names = {each.report.session for each in judged}
    for name in only:
        if name not in names:
            raise UsageError(f"{path}: there is no session {name!r} in this database")
    with connected(str(path)) as database:
        plans = [
            _session(each, database)
            for each in judged
            if each.row is not None and (not only or each.report.session in only)
        ]
    return DatabasePlan(path, judged[0].schema, plans)


def _session(judged: Judged, database: sqlite3.Connection) -> SessionPlan:
    report, row = judged.report, judged.row
    assert row is not None
    name = repr(report.session)
    if report.verdict != "accepted":
        refusal = report.refusal
        why = "it cannot be judged" if refusal is None else refusal_of(refusal)
        code = ExitCode.DIFFERS if report.verdict == "refused" else ExitCode.ADAPTER
        return SessionPlan(row, name, left=why, code=code)
    rows = 0
    if report.torn_from is not None:
        (rows,) = database.execute(
            "SELECT COUNT(*) FROM events WHERE session_id = ? AND seq >= ?", (row["id"], report.torn_from)
        ).fetchone()
    return SessionPlan(row, name, report.torn_from, rows, judged.closers)


def write_database(plan: DatabasePlan, target: Path) -> None:
    """Write the repaired database.

    Raises UsageError where the target is there already, NoRepairError where a session that is to be
    repaired is no longer what the plan is for, and OSError.
    """
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except FileExistsError:
        raise UsageError(f"{target} is there already; a repair never writes over a file") from None
    try:
        with connected(str(plan.path)) as old, closing(sqlite3.connect(target)) as new:
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")  # so that the file alone is the whole database
            with new:
                for each in plan.sessions:
                    if each.changes:
                        _require_unchanged(each, plan.path, new)
                        _apply(each, plan.schema, new)
            told = new.execute("PRAGMA integrity_check").fetchone()[0]
            if told != "ok":
                raise NoRepairError(
                    f"{plan.path}: the database changed while it was copied, or is damaged: {told}"
                )
    except sqlite3.Error as error:
        target.unlink(missing_ok=True)
        raise NoRepairError(f"{target}: SQLite says: {error}") from None
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _require_unchanged(plan: SessionPlan, path: Path, database: sqlite3.Connection) -> None:
    """A turn that its harness goes on with is not interrupted: whoever writes counts the revision on."""
    found = database.execute("SELECT revision FROM sessions WHERE id = ?", (plan.row["id"],)).fetchone()
    if found is None or found[0] != plan.row["revision"]:
        raise NoRepairError(
            f"{path}: the session {plan.name} changed while it was repaired, so somebody still writes to it;"
            " nothing was written"
        )


def _apply(plan: SessionPlan, schema: int, database: sqlite3.Connection) -> None:
    owner = plan.row["id"]
    if plan.cut is not None:
        database.execute("DELETE FROM events WHERE session_id = ? AND seq >= ?", (owner, plan.cut))
    for event in plan.closers:
        columns = {"session_id": owner, **columns_of(event, schema)}
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        database.execute(f"INSERT INTO events ({names}) VALUES ({marks})", tuple(columns.values()))  # noqa: S608
    database.execute("UPDATE sessions SET revision = revision + 1 WHERE id = ?", (owner,))


def columns_of(event: Event, schema: int) -> dict[str, Any]:
    """The columns of a closer. Its data stay text, which every schema reads; it cites one event or none."""
    cited = event.get("sourceEventSeqs")
    sources: str | bytes | None = None
    if cited is not None:
        sources = json_of(cited) if schema < 17 else encode_one(cited[0], schema)
    columns = {
        "seq": event["seq"],
        "type": event["type"],
        "time": int(event["time"]),
        "data": json_of(event["data"]),
        "source_event_seqs": sources,
        "surface_op": json_of(event["surfaceOp"]) if "surfaceOp" in event else None,
    }
    return columns | ({"is_packed": 0} if schema == 19 else {})
