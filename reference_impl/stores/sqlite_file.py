"""The database file of a SQLite store: who may open it, one transaction, and reading it without a trace.

Page: ``spec/sqlite-open.md``. The journal is a write-ahead log that is flushed at every commit, so what
was committed is on the disk, and what was not is gone when the database is opened next.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from ..rejection import Rejection
from ..sqlite_open import (
    CHECKED_FROM,
    LARGE_PAGE,
    LARGE_PAGES_FROM,
    check_identity,
    check_objects,
    check_store,
    create,
    number_of,
    version_of,
)  # fmt: skip
from .durable import UnsettledError, sync_folder, without_writer

NAME = "sessions.db"
READ = (14, 15, 17, 19, 20)
WRITTEN = (15, 17, 20)
"""Schemas that a store can read, and those that it can write. 20 is written with text cells."""
TABLES = ("persistence_state", "sessions", "events")
LEFT_BEHIND = ("-wal", "-journal")
"""How the names of the files end in which a process that died may have left what the database lacks."""
NOT_WRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM)


class DatabaseError(OSError):
    """SQLite has given up, and says why. Nothing was changed."""


class NotWritableError(DatabaseError):
    """The database, or the folder that it lies in, cannot be written to."""


@contextmanager
def in_words(path: Path) -> Iterator[None]:
    """Tell what SQLite says as a refusal of this store. OPEN-3 has a condition; the rest has none."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest of it is a finer kind
        if code == sqlite3.SQLITE_NOTADB:
            raise Rejection("db-not-a-database", str(error)) from None
        kind = NotWritableError if code in NOT_WRITABLE else DatabaseError
        raise kind(f"{path}: {error}") from None
    except UnicodeDecodeError:  # of SQLite's message, which quotes the damaged schema
        raise DatabaseError(f"{path}: the schema of the database is damaged") from None


def text_of(cell: bytes) -> str:
    """A text as drivers give it: what is no UTF-8 in it is replaced."""
    return cell.decode(errors="replace")


# -- writing ---------------------------------------------------------------------


def open_to_write(path: Path, schema: int) -> sqlite3.Connection:
    """Open a database, or make it. Raises Rejection with the file as it was, DatabaseError, NotWritableError.

    What a writer that died has left behind is taken back or in by SQLite itself.
    """
    with in_words(path):
        database = sqlite3.connect(path, isolation_level=None, timeout=0)
        try:
            database.text_factory = text_of
            if schema >= LARGE_PAGES_FROM:  # OPEN-13
                database.execute(f"PRAGMA page_size = {LARGE_PAGE}")
            database.execute("BEGIN IMMEDIATE")
            check_identity(database, str(path), schema)
            if is_unfinished(database, schema):
                create(database, schema)
            check_objects(database, str(path), schema)
            check_store(database, str(path), schema)
            database.execute("COMMIT")
            database.execute("PRAGMA synchronous = FULL")
            database.execute("PRAGMA journal_mode = WAL")
            sync_folder(path.parent)
        except BaseException:
            database.close()
            raise
    return database


def is_unfinished(database: sqlite3.Connection, schema: int) -> bool:
    """OPEN-1, OPEN-7: a new database, or one of an early schema that lacks a table or its identity."""
    if version_of(database) == 0:
        return True
    if schema >= CHECKED_FROM:
        return False
    tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (?, ?, ?)"
    if database.execute(tables, TABLES).fetchone()[0] < len(TABLES):
        return True
    return number_of(database, "SELECT count(*) FROM persistence_state") == 0


@contextmanager
def transaction(database: sqlite3.Connection, path: Path, schema: int) -> Iterator[None]:
    """One change, whole and flushed when this ends, or rolled back and raised.

    The database is asked anew whether it is still the store's own. A file that has gone from its place
    takes nothing any more, however willing the disk is. Raises DatabaseError, Rejection, and
    UnsettledError where nobody knows what is on the disk.
    """
    number = number_in_place(path)
    try:
        with in_words(path):
            database.execute("BEGIN IMMEDIATE")
            check_identity(database, str(path), schema)
            check_objects(database, str(path), schema)
            yield
            database.execute("COMMIT")
    except BaseException:
        roll_back(database, path)
        raise
    if number_in_place(path) != number:
        raise UnsettledError(f"{path}: another file has come into the place of the database")


def roll_back(database: sqlite3.Connection, path: Path) -> None:
    """Undo a transaction, unless SQLite has done so."""
    try:
        if database.in_transaction:
            database.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise UnsettledError(f"{path}: a write failed and could not be rolled back: {error}") from None


def number_in_place(path: Path) -> int:
    """The number on the disk of the file that has this name. Raises OSError where there is none."""
    return path.stat().st_ino


# -- reading ---------------------------------------------------------------------


@contextmanager
def reading(path: Path, *, alone: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection that leaves no byte behind, beside a writer or without one. Raises DatabaseError.

    Beside a writer its files are joined. Without one the database is read as it lies there, or, where
    a process that died has left something to be taken in, from a copy. ``alone`` says that the caller
    has the lock of the writer and has not opened the database.
    """
    if alone:
        yield from unwritten(path)
        return
    with without_writer(path.parent) as free:
        if free or not beside(path, "-shm").exists():
            yield from unwritten(path)
        else:
            yield from connected(path, "mode=ro")


def unwritten(path: Path) -> Iterator[sqlite3.Connection]:
    """A database that nobody writes to."""
    left = [ending for ending in LEFT_BEHIND if beside(path, ending).exists()]
    if not any(beside(path, ending).stat().st_size for ending in left):
        yield from connected(path, "immutable=1")
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, path.name)
        for ending in ("", *left):
            shutil.copyfile(beside(path, ending), beside(copy, ending))
        yield from connected(copy, "mode=rw")


def connected(path: Path, how: str) -> Iterator[sqlite3.Connection]:
    with in_words(path), closing(sqlite3.connect(f"file:{quote(str(path))}?{how}", uri=True)) as database:
        database.text_factory = text_of
        yield database


def beside(path: Path, ending: str) -> Path:
    """A file that SQLite keeps next to a database."""
    return path.with_name(path.name + ending)


def check_to_read(database: sqlite3.Connection, path: Path, schema: int | None) -> int:
    """OPEN-4 to OPEN-9, with nothing made; None takes any schema that can be read. Gives the schema."""
    found = version_of(database)
    wanted = found if schema is None and found in READ else schema or READ[-1]
    check_identity(database, str(path), wanted)
    check_objects(database, str(path), wanted)
    check_store(database, str(path), wanted)
    return wanted


def require_sound(database: sqlite3.Connection, path: Path) -> None:
    """BACK-25: refuse a database whose pages contradict each other, before anything is read from it.

    A page has no checksum. Its faults show where a table and its index differ, and that is where rows
    would be lost without a word. Other bytes inside a cell are not seen. Raises DatabaseError.
    """
    (told,) = database.execute("PRAGMA integrity_check(1)").fetchone()
    if told != "ok":
        raise DatabaseError(f"{path}: the database is damaged: {told}")
