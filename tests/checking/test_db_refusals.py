"""What the corpus says of opening a database and of the row of a session, ``check`` says of the same file."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from test_check_databases import SCHEMAS, write

import conformance
from conformance.adapters.reference import HANDLERS
from conformance.adapters.reference_rows import row_of
from conformance.corpus import load_corpus
from conformance.databases import Database
from conformance.protocol import Request
from reference_impl.rejection import Rejection

MADE = {"empty", "sql", "hex", "prepared"}
"""The members of a case for which there is a file before it is opened."""
OPENING = [
    case
    for case in load_corpus()
    if case.topic.startswith("sqlite/open-")
    and MADE & case.request["database"].keys()
    and "locked" not in case.request["database"]  # check takes no lock, so it is not in anybody's way
]
ROWS = [
    case
    for case in load_corpus()
    if re.fullmatch(r"sqlite/session-\d+(-untyped)?", case.topic) and isinstance(case.request["row"], dict)
]


def schema_in(topic):
    return int(re.search(r"\d+", topic)[0])


def conditions_of(case):
    """The conditions that a case allows, None among them where it allows an answer."""
    written = case.expect_written
    told = written.get("either") or written.get("any_of") or [written]
    return [each.get("rejected", {}).get("condition") for each in told]


def condition_of(path):
    """What ``check`` refuses a file for; None if it accepts all of it."""
    refusals = [each.refusal for each in conformance.check(path).files if each.verdict != "accepted"]
    return refusals[0].condition if refusals else None


def condition_of_store(path, schema):
    """The same of the reference store of a schema, which may write: so it gets a copy."""
    folder = path.with_name("copy")
    shutil.copytree(path.parent, folder)
    try:
        HANDLERS["sqlite.open"]({"path": str(folder / path.name), "schema": schema})
    except Rejection as refusal:
        return refusal.condition
    return None


def made(case):
    """The database of a case, as the runner makes it."""
    body = json.dumps({"op": "sqlite.open", "database": case.request["database"]})[1:]
    database = Database(Request(0, body))
    if database.first_of_two:
        HANDLERS["sqlite.open"]({"path": str(database.path), "schema": schema_in(case.topic)})
        assert database.prepare() is None
    return database


@pytest.mark.parametrize("case", OPENING, ids=lambda case: case.id)
def test_a_database_is_refused_as_the_corpus_says(case):
    database = made(case)
    try:
        (expected,) = conditions_of(case)
        if expected == "db-schema-version" and (other := version_in(database.path)) in SCHEMAS:
            expected = condition_of_store(database.path, other)  # check is a reader of every schema
        assert condition_of(database.path) == expected
    finally:
        database.remove()


def version_in(path):
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute("PRAGMA user_version").fetchone()[0]


def put_row(path: Path, schema: int, row: dict[str, object]) -> None:
    """One row of sessions, whose cells may be of types that its table does not hold."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")
        (text,) = database.execute("SELECT sql FROM sqlite_schema WHERE name = 'sessions'").fetchone()
        database.execute("DROP TABLE sessions")
        columns = [name for name in row if name not in ("id", "session_key")]
        key = "id PRIMARY KEY" if schema < 19 else "id INTEGER PRIMARY KEY, session_key UNIQUE"
        database.execute(f"CREATE TABLE sessions ({key}, {', '.join(columns)})")
        database.execute(
            f"INSERT INTO sessions ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
            tuple(row.values()),
        )
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'sessions'", (text,))


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.id)
def test_the_row_of_a_session_is_read_as_the_corpus_says(tmp_path, case):
    path, schema = tmp_path / "sessions.db", schema_in(case.topic)
    write(path, schema, [])
    put_row(path, schema, row_of(case.request["row"]))
    expected = conditions_of(case)
    version = case.expect_written.get("result", {}).get("header", {}).get("version", 0)
    if version != 0:
        expected = ["format-newer" if version > 0 else "format-older"]  # which is asked of every log
    assert condition_of(path) in expected


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        ("created_at = -1", "meta-row-created-at"),
        ("created_at = 9007199254740992", "meta-row-column-type"),
        ("version = 9007199254740992", "meta-row-column-type"),
        ("cwd = 'work'", "header-cwd-relative"),
        ("cwd = ''", "header-cwd-relative"),
        ("origin = 'x'", "header-origin"),
        ("seed_length = -1", "header-seed-length"),
        ("delegation_depth = -1", "header-depth"),
        ("revision = -1", None),
        ("incarnation = ''", None),
    ],
)
@pytest.mark.parametrize("schema", [14, 15])
def test_an_early_schema_asks_less_of_a_row(tmp_path, schema, change, condition):
    """As the published store of schema 14 answers when it loads the session."""
    path = tmp_path / "sessions.db"
    write(path, schema, [])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"UPDATE sessions SET {change}")
    assert condition_of(path) == condition


@pytest.mark.parametrize(
    ("data", "name", "condition"),
    [
        (b"some text", "a.db", "db-not-a-database"),
        (b"some text\n", "a.jsonl", "jsonl-header-json"),
        (b"", "a.sqlite", None),
        (b"", "a.jsonl", "jsonl-empty"),
        (b'{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}\n', "a.db", None),
    ],
)
def test_a_name_tells_where_the_bytes_do_not(tmp_path, data, name, condition):
    (tmp_path / name).write_bytes(data)
    assert condition_of(tmp_path / name) == condition


def test_the_corpus_asks_enough():
    """Most cases are refusals, and few of them are passed over."""
    assert sum(None not in conditions_of(case) for case in OPENING) > 160
    assert sum(None not in conditions_of(case) for case in ROWS) > 90
