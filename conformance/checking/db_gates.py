"""The gates of a database: whether a store of its own schema would open it. Nothing of it is changed.

Rules: OPEN-3 to OPEN-12. Nobody is asked for a lock (OPEN-10), for what is read here is not written to.
"""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path
from typing import Any

from conformance.checking.model import FileReport, Finding

SCHEMAS = (14, 15, 17, 19, 20)
COMPARED_FROM = 17
"""The first schema whose stores compare the objects of a database with their own."""
APPLICATION = 0x44534850
WRITABLE = 2
"""The newest file format that SQLite writes, and the byte of the header that tells which one it has to."""
WRITE_FORMAT_AT = 18

OPENING = {
    sqlite3.SQLITE_CORRUPT: "db-malformed",
    sqlite3.SQLITE_CANTOPEN: "db-no-access",
    sqlite3.SQLITE_ERROR: "db-store-identity",  # of a table that has not its columns
}
"""What a reader calls it when SQLite gives up before the database is open."""

STATE = "persistence_state (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), store_id TEXT NOT NULL)"
HEADER = (
    "version INTEGER NOT NULL, created_at INTEGER NOT NULL, cwd TEXT, parent_session TEXT,"
    " seed_length INTEGER, origin TEXT, delegation_depth INTEGER, agent_preset TEXT,"
    " incarnation TEXT NOT NULL, revision INTEGER NOT NULL"
)
MARK = "ignorable INTEGER CHECK (ignorable IS NULL OR ignorable IN (0, 1)), "
LAST = {
    14: "",
    15: "ignorable INTEGER, ",
    17: MARK,
    19: "is_packed INTEGER NOT NULL CHECK (is_packed IN (0, 1)), ",
    20: MARK,
}
READ = {"session_id", "seq", "type", "time", "data", "source_event_seqs", "surface_op"}
"""The columns that every schema reads of a row of events."""


def tables_of(schema: int) -> dict[str, str]:
    """By the name of each table of a schema, what stands behind CREATE TABLE (OPEN-8)."""
    key, owner, cell = "id TEXT PRIMARY KEY", "TEXT", "TEXT" if schema < COMPARED_FROM else "ANY"
    if schema >= 19:
        key, owner = "id INTEGER PRIMARY KEY, session_key TEXT NOT NULL UNIQUE", "INTEGER"
    events = (
        f"events (session_id {owner} NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
        " seq INTEGER NOT NULL,"
        f" type TEXT NOT NULL, time INTEGER NOT NULL, data {cell} NOT NULL, source_event_seqs {cell},"
        f" surface_op TEXT, {LAST[schema]}PRIMARY KEY (session_id, seq))"
    )
    return {
        "persistence_state": f"{STATE} STRICT",
        "sessions": f"sessions ({key}, {HEADER}) STRICT",
        "events": f"{events} STRICT",
    }


def refuse(report: FileReport, condition: str, message: str, **told: Any) -> None:
    """One reason for which nothing of a file, or of a session, is read."""
    report.verdict = "refused"
    report.findings.append(Finding(condition, "error", "storage", message, **told))


def refuse_for(report: FileReport, error: Exception, *, opening: bool = False) -> None:
    """The same for what SQLite says while a database is opened, or behind that."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest of it is a finer kind
    if isinstance(error, UnicodeError):  # of SQLite's message, which quotes the damaged schema
        code = sqlite3.SQLITE_CORRUPT
    condition = "db-unreadable"
    if code == sqlite3.SQLITE_NOTADB:
        condition = "db-not-a-database"
    elif opening and code in OPENING:
        condition = OPENING[code]
    damaged = code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
    refuse(report, condition, f"SQLite says: {error}", story="damaged" if damaged else None)


def schema_of(database: sqlite3.Connection, report: FileReport) -> int | None:
    """The schema of a database that may be read on; else the report tells why not.

    Where a store of schema 14 or 15 would make a table that is missing, there is an empty one for as long
    as the connection lasts.
    """
    try:
        return _schema(database, report)
    except (sqlite3.Error, UnicodeError) as error:
        refuse_for(report, error, opening=True)
    return None


def _schema(database: sqlite3.Connection, report: FileReport) -> int | None:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    (application,) = database.execute("PRAGMA application_id").fetchone()
    objects = dict(
        database.execute("SELECT name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'").fetchall()
    )
    if version == 0:
        if application != 0 or objects:
            message = "the database has an unversioned schema"
            refuse(report, "db-unversioned", message, found="user_version 0")
        else:
            report.verdict = "accepted"
        return None
    report.format = f"sqlite-{version}" if version > 0 else "sqlite"
    if version not in SCHEMAS:
        refuse(
            report, "db-schema-version", f"the database has schema {version}", story="foreign-edition",
            found=str(version), expected="14, 15, 17, 19 or 20", hint="each build opens its own schema only",
        )  # fmt: skip
        return None
    if application != APPLICATION:
        message = "the database belongs to another application"
        refuse(report, "db-application-id", message, found=str(application), expected=str(APPLICATION))
        return None
    schema = int(version)
    passed = _as_compared if schema >= COMPARED_FROM else _as_completed
    return schema if passed(database, schema, objects, report) else None


def _as_compared(
    database: sqlite3.Connection, schema: int, objects: dict[str, str], report: FileReport
) -> bool:
    """OPEN-8, OPEN-9 of schema 17 and later."""
    wanted = {name: f"CREATE TABLE {text}" for name, text in tables_of(schema).items()}
    found = {name: " ".join(str(text).split()) for name, text in objects.items()}
    for name in sorted(wanted.keys() | found.keys()):
        if found.get(name) != wanted.get(name):
            message = (
                f"the database lacks the table {name}" if name not in found
                else f"the database has {name}, which is no table of schema {schema}" if name not in wanted
                else f"the table {name} is not that of schema {schema}"
            )  # fmt: skip
            refuse(
                report, "db-schema-objects", message, found=found.get(name), expected=wanted.get(name),
                hint="a store compares the objects of a database with its own, and opens no other",
            )  # fmt: skip
            return False
    row = database.execute("SELECT store_id FROM persistence_state WHERE singleton = 1").fetchone()
    if row is None or not is_uuid(row[0]):
        refuse(report, "db-store-identity", "the database has no UUID as the identity of its store")
        return False
    return True


def _as_completed(
    database: sqlite3.Connection, schema: int, objects: dict[str, str], report: FileReport
) -> bool:
    """OPEN-7, OPEN-9, OPEN-12 of schemas 14 and 15, which write when they open, and make what is missing."""
    (path,) = database.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()
    with Path(path).open("rb") as file:
        head = file.read(WRITE_FORMAT_AT + 1)
    if head[WRITE_FORMAT_AT] > WRITABLE:
        message = f"a store of schema {schema} writes when it opens, and this file is read-only to SQLite"
        refuse(report, "db-no-access", message, found=f"write format {head[WRITE_FORMAT_AT]}")
        return False
    for name, text in tables_of(schema).items():
        if name not in objects:
            database.execute(f"CREATE TEMP TABLE {text}")
    there = {row[1] for row in database.execute("PRAGMA table_info(events)")}
    missing = (READ | ({"ignorable"} if schema == 15 else set())) - there
    if missing:
        message = f"the table events lacks {', '.join(sorted(missing))}, so no session can be read"
        refuse(report, "db-unreadable", message)
        return False
    row = database.execute("SELECT store_id FROM persistence_state WHERE singleton = 1").fetchone()
    if row is not None and row[0] in (None, "", b""):
        refuse(report, "db-store-identity", "the identity of the store is empty")
        return False
    return True


def is_uuid(text: object) -> bool:
    """A UUID in its usual form of 36 characters, of small letters or capital ones."""
    try:
        return isinstance(text, str) and str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
