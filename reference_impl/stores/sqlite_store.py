"""A SQLite store on disk: the contract of ``spec/backend.md``, kept through crashes.

Pages: ``spec/sqlite-rows.md``, ``spec/sqlite-scan.md``, ``spec/session-row.md``. One database for all
sessions. An append is one transaction, and is answered for when it is committed.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..backend import require_wanted
from ..chunk_rows import is_safe_integer
from ..rejection import Rejection
from ..session_row import OPTIONAL, check_types, header_of
from ..sqlite_open import CHECKED_FROM
from ..sqlite_rows import Row, UndecidableError, encode
from ..sqlite_scan import scan
from .sqlite_file import (
    NAME,
    WRITTEN,
    DatabaseError,
    NotWritableError,
    check_to_read,
    in_words,
    open_to_write,
    reading,
    require_sound,
    transaction,
)  # fmt: skip
from .store import Event, Header, Opened, Store, Stored

WHOLE_KEY_FROM = 19
"""The first schema whose sessions have a whole number as their key."""
COLUMNS = ("seq", "type", "time", "data", "source_event_seqs", "surface_op")
MEMBERS = {"type", "seq", "time", "data", "sourceEventSeqs", "surfaceOp", "ignorable"}


@dataclass
class StoredRows(Stored):
    """A log as it lies in its rows, those from ``torn_from`` on being torn; None if nothing is.

    ``key`` is what its rows are found by, and ``revision`` how often it was written to.
    """

    key: str | int
    revision: int
    torn_from: int | None


@dataclass
class Open(Opened):
    """A session that this instance may append to."""

    key: str | int
    revision: int


class Unstorable(Exception):  # noqa: N818 - a refusal
    """An event or a header has something for which a row has no place. It is not stored in part."""


class SqliteStore(Store[StoredRows, Open]):
    """A store in ``sessions.db``, of schema 15, 17 or 20. ``read_only`` reads 14 and 19 as well; None: any.

    Where its folder cannot be written to, a writer can read all the same, and refuses what would write.
    Raises StoreBusy, Rejection and DatabaseError.
    """

    def __init__(self, folder: Path, schema: int | None = 20, *, read_only: bool = False) -> None:
        if not read_only and schema not in WRITTEN:
            raise ValueError(f"schema {schema} is not written; {WRITTEN} are")
        super().__init__(folder, read_only=read_only)
        self.path = folder / NAME
        self.schema = schema
        self.database: sqlite3.Connection | None = None
        self.is_sound = False
        try:
            if schema is not None and not read_only:
                self.database = open_to_write(self.path, schema)
        except NotWritableError:
            with self.connection():
                pass  # which asks whether the database is the store's own
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Take what is in the write-ahead log into the database, and give the store free."""
        if self.database is not None:
            self.database.close()
            self.database = None
        super().close()

    # -- connections -----------------------------------------------------------------

    @contextmanager
    def connection(self) -> Iterator[tuple[sqlite3.Connection, int] | None]:
        """What to read through, and the schema; None where there is no database yet."""
        if self.database is not None and self.schema is not None:
            with in_words(self.path):
                yield self.database, self.schema
        elif not self.path.exists() or self.path.stat().st_size == 0:
            yield None
        else:
            with reading(self.path, alone=self.lock is not None) as database:
                yield database, check_to_read(database, self.path, self.schema)

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """One transaction. Raises DatabaseError where the database cannot be written to, and Unstorable."""
        if self.database is None or self.schema is None:
            raise DatabaseError(f"{self.path}: the database cannot be written to")
        try:
            with transaction(self.database, self.path, self.schema):
                yield self.database
        except UnicodeEncodeError:
            raise Unstorable(
                "a text outside of data has half a character, which no column can hold"
            ) from None

    # -- writing -----------------------------------------------------------------------

    def begin(self, header: Header, events: list[Event]) -> None:
        """The row of the session and its first events, together. BACK-5: the key allows no second one."""
        assert self.schema is not None
        rows = rows_of(self.schema, events)
        cells = cells_of(self.schema, header)
        with self.change() as database:
            names, places = ", ".join(cells), ", ".join("?" * len(cells))
            insert = f"INSERT INTO sessions ({names}) VALUES ({places})"  # noqa: S608 - names of columns
            number = database.execute(insert, tuple(cells.values())).lastrowid
            key = number if self.schema >= WHOLE_KEY_FROM and number is not None else header["id"]
            insert_rows(database, self.schema, key, rows)
        self.open[header["id"]] = Open(len(events), key, cells["revision"])

    def extend(self, session_id: str, opened: Open, events: list[Event]) -> None:
        """More rows, behind those that are there."""
        assert self.schema is not None
        rows = rows_of(self.schema, events)
        with self.change() as database:
            count_up(database, self.path, opened.key, opened.revision)
            insert_rows(database, self.schema, opened.key, rows)
        opened.count += len(events)
        opened.revision += 1

    def settle(self, session_id: str, stored: StoredRows, missing: list[Event]) -> None:
        """Delete the torn tail and write what is missing, in one transaction; or write nothing at all."""
        assert self.schema is not None
        revision = stored.revision
        if missing or stored.torn_from is not None:
            rows = rows_of(self.schema, missing)
            with self.change() as database:
                count_up(database, self.path, stored.key, stored.revision)
                if stored.torn_from is not None:
                    torn = (stored.key, stored.torn_from)
                    database.execute("DELETE FROM events WHERE session_id = ? AND seq >= ?", torn)
                insert_rows(database, self.schema, stored.key, rows)
            revision += 1
        self.open[session_id] = Open(len(stored.events) + len(missing), stored.key, revision)

    # -- reading -----------------------------------------------------------------------

    def holds(self, header: Header) -> bool:
        """Whether there is a row of this session."""
        return self.session(header["id"]) is not None

    def session(self, session_id: str) -> Row | None:
        """The row of a session."""
        with self.connection() as found:
            return None if found is None else session_row(*found, session_id)

    def read(self, session_id: str) -> StoredRows:
        """The log of a session, whole."""
        return self.read_part(session_id, 0)[1]

    def read_part(self, session_id: str, first: int) -> tuple[int, StoredRows]:
        """A log from the row on that holds the seq ``first``, and the seq of that row."""
        with self.connection() as found:
            if found is None:
                raise Rejection("session-not-found", f'session "{session_id}" not found')
            database, schema = found
            self.check_soundness(database)
            row = session_row(database, schema, session_id)
            if row is None:
                raise Rejection("session-not-found", f'session "{session_id}" not found')
            header = header_in(schema, row)
            key = row["id"]
            base, rows = event_rows(database, schema, key, first)
        try:
            scanned = scan(schema, rows, base)
        except UndecidableError:
            told = f'session "{session_id}" has a cell that only a reader with its dictionary can judge'
            raise UndecidableError(told) from None
        return base, StoredRows(header, scanned.events, key, row["revision"], scanned.torn_from)

    def check_soundness(self, database: sqlite3.Connection) -> None:
        """Once for each opening: what this instance writes itself cannot contradict itself."""
        if not self.is_sound:
            require_sound(database, self.path)
        self.is_sound = self.database is not None

    def list_headers(self, aborted: Exception | None = None) -> list[Header]:
        """BACK-20, BACK-25: every session whose row can be read, also one whose events are damaged."""
        require_wanted(aborted)
        with self.connection() as found:
            if found is None:
                return []
            database, schema = found
            headers = [listed(schema, row) for row in rows_in(database, "SELECT * FROM sessions", ())]
        return sorted((header for header in headers if header is not None), key=lambda header: header["id"])

    def revision(self, session_id: str, aborted: Exception | None = None) -> str | None:
        """BACK-18: the store, the session as it was begun here, and how often it was written to."""
        require_wanted(aborted)
        with self.connection() as found:
            row = None if found is None else session_row(*found, session_id)
            if found is None or row is None:
                return None
            (store,) = found[0].execute("SELECT store_id FROM persistence_state").fetchone()
        return f"{store}:{row['incarnation']}:{row['revision']}"


# -- rows of events ----------------------------------------------------------------


def rows_of(schema: int, events: list[Event]) -> list[Row]:
    """The rows of a batch. Raises Rejection, and Unstorable for what no row can hold."""
    for event in events:
        require_columns(event)
    return encode(schema, [without_false_mark(event) for event in events])


def require_columns(event: Event) -> None:
    """BACK-1: an event that would not come back as it was given is refused."""
    unknown = [name for name in event if name not in MEMBERS]
    if unknown:
        raise Unstorable(f"event {event['seq']} has members that no column can hold: {sorted(unknown)}")
    if "data" not in event:
        raise Unstorable(f"event {event['seq']} has no data")
    if not isinstance(event.get("type"), str):
        raise Unstorable(f"the type of event {event['seq']} is no text")
    if not isinstance(event.get("sourceEventSeqs", []), list):
        raise Unstorable(f"the sources of event {event['seq']} are no list")
    if not is_safe_integer(event.get("time")):
        raise Unstorable(f"the time of event {event['seq']} is no safe whole number")


def without_false_mark(event: Event) -> Event:
    """ROWS-14: a mark is 1 or null, so one that says anything but true is not kept, and says nothing."""
    if event.get("ignorable", True) is True:
        return event
    return {name: value for name, value in event.items() if name != "ignorable"}


def insert_rows(database: sqlite3.Connection, schema: int, key: str | int, rows: list[Row]) -> None:
    """Rows of a session. They have new seqs, which the key of the table makes sure of."""
    columns = (*COLUMNS, *flag_of(schema))
    places = ", ".join("?" * (len(columns) + 1))
    insert = f"INSERT INTO events (session_id, {', '.join(columns)}) VALUES ({places})"  # noqa: S608
    cells = itemgetter(*columns)
    database.executemany(insert, [(key, *cells(row)) for row in rows])


def event_rows(
    database: sqlite3.Connection, schema: int, key: str | int, first: int
) -> tuple[int, list[dict[str, Any]]]:
    """The rows of a session from the one on that stands at ``first`` or last before it, and its seq."""
    last = "SELECT max(seq) FROM events WHERE session_id = ? AND seq <= ?"
    (found,) = database.execute(last, (key, first)).fetchone()
    base = found if first > 0 and found is not None else 0
    columns = ", ".join((*COLUMNS, *flag_of(schema)))
    select = f"SELECT {columns} FROM events WHERE session_id = ? AND seq >= ? ORDER BY seq"  # noqa: S608
    rows = rows_in(database, select, (key, base if first > 0 else -(1 << 63)))
    if schema == 14:
        rows = [{**row, "ignorable": None} for row in rows]
    return base, rows


def flag_of(schema: int) -> tuple[str, ...]:
    """The last column of a schema."""
    if schema == 14:
        return ()
    return ("is_packed",) if schema == 19 else ("ignorable",)


def rows_in(database: sqlite3.Connection, select: str, cells: tuple[object, ...]) -> list[dict[str, Any]]:
    """The rows of a query by the names of their columns."""
    cursor = database.execute(select, cells)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor]


# -- rows of sessions --------------------------------------------------------------


def id_column(schema: int) -> str:
    return "session_key" if schema >= WHOLE_KEY_FROM else "id"


def session_row(database: sqlite3.Connection, schema: int, session_id: str) -> Row | None:
    """The row of one session. An id that no column can hold is nobody's."""
    select = f"SELECT * FROM sessions WHERE {id_column(schema)} = ?"  # noqa: S608 - one of two names
    try:
        rows = rows_in(database, select, (session_id,))
    except UnicodeEncodeError:
        return None
    return rows[0] if rows else None


def header_in(schema: int, row: Row) -> Header:
    """META-1 from schema 17 on. An earlier schema asks nothing of the cells, but reads the same columns."""
    if schema >= CHECKED_FROM:
        return header_of(schema, row)
    header = {"version": row["version"], "id": row["id"], "createdAt": row["created_at"]}
    return header | {name: row[column] for column, name in OPTIONAL.items() if row[column] is not None}


def listed(schema: int, row: Row) -> Header | None:
    """The header of a row; None if it cannot be read."""
    try:
        return header_in(schema, row)
    except Rejection:
        return None


def cells_of(schema: int, header: Header) -> dict[str, Any]:
    """The row of a new session. Raises Unstorable for what would not come back as it was given."""
    unknown = header.keys() - {"version", "id", "createdAt", *OPTIONAL.values()}
    if unknown:
        raise Unstorable(f"the header has members that no column can hold: {sorted(unknown)}")
    cells = {id_column(schema): header["id"], "version": header["version"], "created_at": header["createdAt"]}
    cells |= {column: header.get(name) for column, name in OPTIONAL.items()}
    cells |= {"incarnation": str(uuid.uuid4()), "revision": 1}
    if any(header.get(name, "") is None for name in OPTIONAL.values()):
        raise Unstorable("a member of the header is null, which a column cannot tell from absent")
    try:
        check_types(cells, id_column(schema))
    except Rejection as refusal:
        raise Unstorable(f"the header fits no row: {refusal.message}") from None
    return cells


def count_up(database: sqlite3.Connection, path: Path, key: str | int, revision: int) -> None:
    """One more write to a log that nobody else has written to since it was read."""
    update = "UPDATE sessions SET revision = revision + 1 WHERE id = ? AND revision = ?"
    if database.execute(update, (key, revision)).rowcount != 1:
        raise DatabaseError(f"{path}: somebody else wrote to the session")
