"""Databases for ``sqlite.open``: new ones, changed ones, those of somebody else, broken ones.

What a store writes into its tables is its own affair, so its databases are made by itself and changed then.
"""

from __future__ import annotations

from typing import Any

from conformance.fuzzing.draw import Draw
from conformance.fuzzing.spelling import Members

APPLICATION = 1146308688
CHECKED_FROM = 17
"""The first schema that looks at the objects of a database, and leaves all that it refuses as it was."""
VERSIONS = (0, 1, 13, 14, 15, 16, 17, 18, 19, 20, 21, -1, 2**31 - 1, -(2**31))
APPLICATIONS = (0, APPLICATION, 7, -1, APPLICATION + 1, -APPLICATION)
OBJECTS = (
    "CREATE TABLE t (x)",
    "CREATE VIEW v AS SELECT 1 AS x",
    "CREATE TABLE sessions (x)",
    "CREATE TABLE sqlitex (x)",
)
UUID = "11111111-2222-4333-8444-555555555555"
STORE_IDS = ("", "x", UUID, UUID.upper(), f"{UUID}0", UUID[:-1], f" {UUID}", UUID.replace("-", ""))
"""Of a store: none, no UUID, UUIDs, and such as are nearly one."""
STATE = "CREATE TABLE persistence_state (singleton INTEGER PRIMARY KEY{}, store_id TEXT NOT NULL){}"
HARMLESS = (
    "CREATE TABLE t (x)",
    "CREATE INDEX i ON events (type)",
    "CREATE VIEW v AS SELECT 1 AS x",
    "CREATE TRIGGER r AFTER INSERT ON events BEGIN SELECT 1; END",
    "ALTER TABLE events ADD COLUMN more TEXT",
    "ALTER TABLE sessions RENAME COLUMN revision TO rev",
    "DROP TABLE events",
    "DROP TABLE sessions",
)
"""Changes that no store is troubled by before schema 17, and that every one refuses from there on."""


# A table of schema 14 or 15 takes cells of any type, so its identity need not be a text.
LOOSE = "CREATE TABLE persistence_state (singleton INTEGER PRIMARY KEY, store_id)"
CELLS = ("NULL", "x''", "''", "5", "0", "x'3131'", f"'{UUID}'", "1.5")
BREAKS: tuple[dict[str, Any], ...] = (
    {"cut": 10}, {"cut": 100}, {"cut": 1000}, {"overwritten": "sqlite_schema"},
    {"overwritten": "persistence_state"}, {"patches": [{"at": 18, "bytes": "03"}]},
)  # fmt: skip
"""What a disk, or a program of the future, may make of a database."""


def fresh(draw: Draw) -> dict[str, Any]:
    """No file, an empty one, or a file that is no database."""
    way = draw.integer(0, 4)
    if way == 0:
        return {}
    if way == 1:
        return {"empty": True}
    if way == 2:
        return {"sql": []}
    beginning = draw.choice((b"", b"SQLite format 3\0", b"SQLite format 4\0", b"x", b"\0" * 100))
    content = beginning + bytes([draw.integer(0, 255)]) * draw.integer(1, 120)
    return {"hex": content.hex(), "unchanged": True}


def of_others(draw: Draw, schema: int) -> dict[str, Any]:
    """A database that the store has not made: objects, a version, an application id."""
    statements = [draw.choice(OBJECTS)] if not draw.chance(40) else []
    version = schema if draw.chance(30) else draw.choice(VERSIONS)
    application = APPLICATION if draw.chance(50) else draw.choice(APPLICATIONS)
    if schema < CHECKED_FROM and version == schema and application == APPLICATION:
        statements = []  # whatever else is in there, this store would add to it
    statements += [f"PRAGMA user_version = {version}", f"PRAGMA application_id = {application}"]
    if draw.chance(20):
        return {"sql": [draw.choice(OBJECTS)], "unchanged": True}
    if draw.chance(15):
        return {"wal": True, "sql": ["CREATE TABLE t (x)", *statements[-2:]]}
    return {"sql": statements, "unchanged": True}


def own(draw: Draw, schema: int) -> dict[str, Any]:
    """A database that the store has made, with at most one change."""
    way = draw.integer(0, 5)
    statements: list[str] = []
    if way == 1:
        statements = [draw.choice(HARMLESS)]
    elif way == 2:
        store_id = draw.choice(STORE_IDS)
        statements = [f"UPDATE persistence_state SET store_id = '{store_id}'"]  # noqa: S608 - one of ours
    elif way == 3:
        statements = ["DELETE FROM persistence_state"]
    elif way == 4:
        statements = [
            draw.choice(("PRAGMA user_version = ", "PRAGMA application_id = "))
            + str(draw.choice((*VERSIONS, *APPLICATIONS)))
        ]
    elif way == 5 and schema < CHECKED_FROM:
        identity = f"INSERT INTO persistence_state VALUES (1, {draw.choice(CELLS)})"  # noqa: S608 - ours
        statements = ["DROP TABLE persistence_state", LOOSE, identity]
    elif way == 5:
        table = STATE.format(*draw.choice(((" CHECK (singleton = 1)", ""), ("", " STRICT"), ("", ""))))
        statements = [
            "DROP TABLE persistence_state",
            table,
            f"INSERT INTO persistence_state VALUES (1, '{UUID}')",  # noqa: S608 - as above
        ]
    found: dict[str, Any] = {"prepared": statements}
    return {**found, "unchanged": True} if schema >= CHECKED_FROM else found


def withheld(draw: Draw) -> dict[str, Any]:
    """A database that is broken, that somebody is writing into, or that is a folder."""
    way = draw.integer(0, 6)
    if way < 4:
        return {"prepared": [], **draw.choice(BREAKS), "unchanged": True}
    if way == 4:
        return {"folder": True}
    statements = [f"PRAGMA user_version = {draw.choice(VERSIONS)}"] if draw.chance(40) else []
    if way == 5:
        return {"prepared": statements, "locked": True, "unchanged": True}
    statements = ["CREATE TABLE t (x)", *(statements or ["DROP TABLE t"])]
    return {"sql": statements, "locked": True, "unchanged": True}


def with_pages(draw: Draw) -> dict[str, Any]:
    """A database whose pages are asked for: a new one, or one's own with pages of whatever size."""
    size = draw.choice((512, 4096, 65536))
    changed = ["PRAGMA journal_mode = DELETE", f"PRAGMA page_size = {size}", "VACUUM"]
    return {**draw.choice(({}, {"empty": True}, {"prepared": changed})), "pages": True}


def open_request(draw: Draw, schema: int) -> Members:
    """A database to open."""
    way = draw.integer(0, 7)
    if way == 0:
        database = fresh(draw)
    elif way == 6:
        database = withheld(draw)
    elif way == 7:
        database = with_pages(draw)
    elif way < 3:
        database = of_others(draw, schema)
    else:
        database = own(draw, schema)
    return {"database": {**database, "columns": True} if draw.chance(10) else database}
