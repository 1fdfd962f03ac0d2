"""Which SQLite database a store of one schema opens, and what it leaves in a new one.

Page: ``spec/sqlite-open.md``. Schemas 14, 15, 17, 19 and 20 are known.
"""

from __future__ import annotations

import re
import sqlite3
import uuid

from .rejection import Rejection

APPLICATION_ID = 1146308688
CHECKED_FROM = 17
"""The first schema that compares the objects of a database with its own."""
LARGE_PAGES_FROM = 19
LARGE_PAGE = 1 << 16
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

PRIMARY = 0xFF
"""The part of an error code of SQLite that tells its kind."""

STATE = "persistence_state (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), store_id TEXT NOT NULL)"
SESSION = (
    "version INTEGER NOT NULL, created_at INTEGER NOT NULL, cwd TEXT, parent_session TEXT,"
    " seed_length INTEGER, origin TEXT, delegation_depth INTEGER, agent_preset TEXT,"
    " incarnation TEXT NOT NULL, revision INTEGER NOT NULL"
)
IGNORABLE = ", ignorable INTEGER CHECK (ignorable IS NULL OR ignorable IN (0, 1))"
LAST_COLUMN = {
    14: "",
    15: ", ignorable INTEGER",
    17: IGNORABLE,
    19: ", is_packed INTEGER NOT NULL CHECK (is_packed IN (0, 1))",
    20: IGNORABLE,
}


def tables_of(schema: int) -> list[str]:
    """OPEN-8: what each table of a schema is, behind CREATE TABLE and in front of STRICT."""
    text = schema < CHECKED_FROM
    whole_key = schema >= 19
    key = "id INTEGER PRIMARY KEY, session_key TEXT NOT NULL UNIQUE" if whole_key else "id TEXT PRIMARY KEY"
    events = (
        f"events (session_id {'INTEGER' if whole_key else 'TEXT'} NOT NULL REFERENCES sessions(id)"
        " ON DELETE CASCADE, seq INTEGER NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL,"
        f" data {'TEXT' if text else 'ANY'} NOT NULL, source_event_seqs {'TEXT' if text else 'ANY'},"
        f" surface_op TEXT{LAST_COLUMN[schema]}, PRIMARY KEY (session_id, seq))"
    )
    return [STATE, f"sessions ({key}, {SESSION})", events]


def open_database(path: str, schema: int) -> None:
    """OPEN-1: open a file, or make a new database in it; and close it again. Raises Rejection.

    All happens in one transaction, which a refusal rolls back (OPEN-2). It may write from its begin on,
    so that a file that is locked or cannot be written is refused before anything is asked (OPEN-10, OPEN-12).
    """
    try:
        database = sqlite3.connect(path, isolation_level=None, timeout=0)
    except sqlite3.DatabaseError as error:
        raise refusal_of(error) from None
    try:
        if schema >= LARGE_PAGES_FROM:  # OPEN-13
            database.execute(f"PRAGMA page_size = {LARGE_PAGE}")
        database.execute("BEGIN IMMEDIATE")
        check_identity(database, path, schema)
        if version_of(database) == 0 or schema < CHECKED_FROM:
            create(database, schema)
        check_objects(database, path, schema)
        check_store(database, path, schema)
        database.execute("COMMIT")
    except sqlite3.DatabaseError as error:
        raise refusal_of(error) from None
    finally:
        database.close()


def refusal_of(error: sqlite3.DatabaseError) -> Rejection:
    """OPEN-3, OPEN-10 to OPEN-12: what SQLite itself refuses is refused in its words.

    Any other error comes from a table of the identity that has not its columns (OPEN-9).
    """
    kind = getattr(error, "sqlite_errorcode", 0) & PRIMARY  # not every error has a code
    if kind == sqlite3.SQLITE_NOTADB:
        return Rejection("db-not-a-database", str(error))
    if kind == sqlite3.SQLITE_BUSY:
        return Rejection("db-locked", str(error))
    if kind == sqlite3.SQLITE_CORRUPT:
        return Rejection("db-malformed", str(error))
    if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        return Rejection("db-no-access", str(error))
    return Rejection("db-store-identity", str(error))


def number_of(database: sqlite3.Connection, query: str) -> int:
    """The one number that a query gives."""
    return int(database.execute(query).fetchone()[0])


def version_of(database: sqlite3.Connection) -> int:
    """The schema version that the header of a database tells; 0 if nobody set it."""
    return number_of(database, "PRAGMA user_version")


def check_identity(database: sqlite3.Connection, path: str, schema: int) -> None:
    """OPEN-4 to OPEN-6, in this order: no version at all, another version, another application."""
    version = version_of(database)
    application = number_of(database, "PRAGMA application_id")
    objects = number_of(database, "SELECT count(*) FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'")
    if version == 0:
        if application != 0 or objects > 0:
            raise Rejection(
                "db-unversioned",
                f'session database at "{path}" has an unversioned schema or application identity',
            )
        return
    if version != schema:
        raise Rejection(
            "db-schema-version",
            f'session database at "{path}" has schema version {version}, '
            f"incompatible with this build ({schema})",
        )
    if application != APPLICATION_ID:
        raise Rejection(
            "db-application-id",
            f'session database at "{path}" has application id {application}, expected {APPLICATION_ID}',
        )


def create(database: sqlite3.Connection, schema: int) -> None:
    """OPEN-1, OPEN-7: the tables that are missing, an identity unless there is one, and who made this."""
    for table in tables_of(schema):
        database.execute(f"CREATE TABLE IF NOT EXISTS {table} STRICT")
    identity = (str(uuid.uuid4()),)
    database.execute("INSERT OR IGNORE INTO persistence_state (singleton, store_id) VALUES (1, ?)", identity)
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute(f"PRAGMA user_version = {schema}")


def check_objects(database: sqlite3.Connection, path: str, schema: int) -> None:
    """OPEN-8: from schema 17 on the database holds the tables of its schema, and nothing else."""
    if schema < CHECKED_FROM:
        return
    query = "SELECT sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'"
    found = [folded(str(sql)) for (sql,) in database.execute(query)]
    if sorted(found) != sorted([f"CREATE TABLE {table} STRICT" for table in tables_of(schema)]):
        raise Rejection(
            "db-schema-objects", f'session database at "{path}" does not contain the required schema objects'
        )


def folded(sql: str) -> str:
    """OPEN-8: a statement with every run of white space as one blank."""
    return " ".join(sql.split())


def check_store(database: sqlite3.Connection, path: str, schema: int) -> None:
    """OPEN-9: a store has an identity; from schema 17 on it is a UUID.

    A table of schema 14 or 15 may hold cells of any type there (OPEN-7). Only the empty ones are refused.
    """
    row = database.execute("SELECT store_id FROM persistence_state WHERE singleton = 1").fetchone()
    store_id = None if row is None else row[0]
    if store_id in (None, "", b"") or (schema >= CHECKED_FROM and UUID.fullmatch(store_id) is None):
        raise Rejection("db-store-identity", f'session database at "{path}" has no valid store identity')
