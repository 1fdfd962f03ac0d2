"""Databases that the runner makes for ``sqlite.open``, and what it looks at when they were opened.

A case holds ``database``, and the adapter is sent ``path`` in its place:

    {}                        no file yet; the folder is there
    {empty: true}             a file without a byte
    {sql: [STATEMENT, …]}     a database that these statements make
    {hex: BYTES}              a file of these bytes
    {prepared: [STATEMENT…]}  one that the adapter is asked to make first; then these statements are run
    {wal: true, sql: […]}     the same as sql, left behind in its write-ahead log by a process that died
    {patches: [{at, bytes}]}  beside sql: other bytes in these places
    {unchanged: true}         beside any: a refusal leaves every byte as it was
    {columns: true}           beside any: the answer tells the columns of the tables as well

To an answer that the database was opened is added what is in it then: ``userVersion``, ``applicationId`` and
the names of its ``tables``. A refusal that changes a byte where it must not is a crash: it is not clean.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from conformance.json_text import dump_ascii
from conformance.protocol import Answer, Request

Exchange = Callable[[Iterator[Request]], Iterator[tuple[int, Answer]]]

OPENING = '"op":"sqlite.open",'
OPENED = {"opened": True}


def exchange(transport: Exchange, requests: Iterator[Request]) -> Iterator[tuple[int, Answer]]:
    """Put requests to a transport; those that open a database get one, or two rounds if it is prepared."""
    waiting: dict[int, Database] = {}
    again: list[Request] = []

    def outgoing() -> Iterator[Request]:
        for request in requests:
            if request.body.startswith(OPENING):
                database = waiting[request.number] = Database(request)
                request = database.request()
            yield request

    asked: Iterator[Request] = outgoing()
    try:
        while True:
            for number, answer in transport(asked):
                database = waiting.get(number)
                if database is None:
                    yield number, answer
                    continue
                if database.first_of_two and answer == Answer("result", OPENED):
                    wrong = database.prepare()
                    if wrong is None:
                        again.append(database.request())
                        continue
                    answer = wrong
                yield number, database.judged(answer)
                waiting.pop(number).remove()
            if not again:
                return
            asked, again = iter(again), []
    finally:  # also of a run that is cut off
        for database in waiting.values():
            database.remove()


class Database:
    """One database in a folder of its own."""

    def __init__(self, request: Request) -> None:
        self.members: dict[str, Any] = json.loads(f"{{{request.body}")
        self.number = request.number
        self.home = Path(tempfile.mkdtemp(prefix="session-conformance-"))
        self.wanted: dict[str, Any] = self.members.pop("database")
        self.first_of_two = "prepared" in self.wanted
        self.path = self.home / "store.sqlite"
        make(self.path, self.wanted)
        self.before = self.bytes()

    def request(self) -> Request:
        """The request as it is sent."""
        return Request(self.number, dump_ascii({**self.members, "path": str(self.path)})[1:])

    def prepare(self) -> Answer | None:
        """The database was made by the adapter, and is changed now; an answer if that cannot be done."""
        self.first_of_two = False
        try:
            run(self.path, self.wanted["prepared"])
        except sqlite3.Error as error:
            return Answer("crashed", f"the new database is not what a store makes: {error}")
        self.before = self.bytes()
        return None

    def bytes(self) -> bytes | None:
        """What is in the file; None where there is none."""
        return self.path.read_bytes() if self.path.exists() else None

    def judged(self, answer: Answer) -> Answer:
        """The answer, with what the runner has seen of the file."""
        if self.first_of_two and answer.kind in ("result", "rejected"):
            return Answer("crashed", f"a new database was not opened, but answered with {answer.value}")
        if answer == Answer("result", OPENED):
            try:
                found = contents(self.path, columns=self.wanted.get("columns", False))
                return Answer("result", {**OPENED, **found}, answer.stderr)
            except sqlite3.Error as error:
                return Answer("crashed", f"the database was opened, and is none now: {error}")
        if answer.kind == "rejected" and self.wanted.get("unchanged") and self.bytes() != self.before:
            return Answer("crashed", "the database was refused, and its file was changed all the same")
        return answer

    def remove(self) -> None:
        """The folder goes when its case has an answer."""
        shutil.rmtree(self.home, ignore_errors=True)


def make(path: Path, wanted: dict[str, Any]) -> None:
    """Make the file that a case asks for."""
    if "hex" in wanted:
        path.write_bytes(bytes.fromhex(wanted["hex"]))
    elif "empty" in wanted:
        path.write_bytes(b"")
    elif "wal" in wanted:
        left_behind(path, wanted["sql"])
    elif "sql" in wanted:
        run(path, wanted["sql"])
    for patch in wanted.get("patches", []):
        content, new = bytearray(path.read_bytes()), bytes.fromhex(patch["bytes"])
        content[patch["at"] : patch["at"] + len(new)] = new
        path.write_bytes(content)


def run(path: Path, statements: list[str]) -> None:
    """Run statements on a database, and close it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")
        for statement in statements:
            database.execute(statement)


def left_behind(path: Path, statements: list[str]) -> None:
    """A database whose statements stand in its write-ahead log only."""
    living = path.with_name("living.sqlite")
    with closing(sqlite3.connect(living, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        for statement in statements:
            database.execute(statement)
        for ending in ("", "-wal"):
            shutil.copyfile(f"{living}{ending}", f"{path}{ending}")


def contents(path: Path, *, columns: bool) -> dict[str, Any]:
    """What a database tells of itself. Raises sqlite3.Error."""
    with closing(sqlite3.connect(path)) as database:
        names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        tables = [name for (name,) in names if not name.startswith("sqlite_")]
        found: dict[str, Any] = {
            "userVersion": database.execute("PRAGMA user_version").fetchone()[0],
            "applicationId": database.execute("PRAGMA application_id").fetchone()[0],
            "tables": tables,
        }
        if columns:
            found["columns"] = {table: columns_of(database, table) for table in tables}
        return found


def columns_of(database: sqlite3.Connection, table: str) -> list[str]:
    """Each column with its type, ``NOT NULL``, and its place in the key; ``STRICT`` if the table is."""
    found = [
        f"{name} {kind}{' NOT NULL' if not_null else ''}{f' KEY {key}' if key else ''}"
        for _, name, kind, not_null, _, key in database.execute(f'PRAGMA table_info("{table}")')
    ]
    (strict,) = database.execute("SELECT strict FROM pragma_table_list WHERE name = ?", (table,)).fetchone()
    return [*found, "STRICT"] if strict else found
