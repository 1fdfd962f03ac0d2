"""Databases that the runner makes for ``sqlite.open``, and what it looks at when they were opened.

A case holds ``database``, and the adapter is sent ``path`` in its place:

    {}                        no file yet; the folder is there
    {empty: true}             a file without a byte
    {sql: [STATEMENT, …]}     a database that these statements make
    {hex: BYTES}              a file of these bytes
    {folder: true}            a folder in its place
    {prepared: [STATEMENT…]}  one that the adapter is asked to make first; then these statements are run

Beside ``sql`` or ``prepared`` there may be, done in this order:

    {wal: true}               the statements were left behind in a write-ahead log by a process that died
    {wal: torn}               the same, and the last of them was written in part only
    {overwritten: TABLE}      the page with which a table begins is all bytes FF (sqlite_schema: the first)
    {patches: [{at, bytes}]}  other bytes in these places
    {cut: N}                  only the first bytes are there
    {locked: true}            another process is writing into it until there is an answer

And beside any:

    {unchanged: true}         a refusal leaves every byte as it was
    {columns: true}           the answer tells the columns of the tables as well
    {pages: true}             the answer tells how large its pages are

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

from conformance import database_files, phases
from conformance.json_text import dump_ascii
from conformance.protocol import Answer, Request

Exchange = Callable[[Iterator[Request]], Iterator[tuple[int, Answer]]]

OPENING = '"op":"sqlite.open",'
OPENED = {"opened": True}


def exchange(transport: Exchange, requests: Iterator[Request]) -> Iterator[tuple[int, Answer]]:
    """Put requests to a transport; those that open a database get one, or two rounds if it is prepared."""
    waiting: dict[int, Database] = {}
    again: list[Request] = []
    unmade: list[tuple[int, Answer]] = []

    def outgoing() -> Iterator[Request]:
        for request in requests:
            if request.body.startswith(OPENING):
                try:
                    database = waiting[request.number] = Database(request)
                except (sqlite3.Error, OSError) as error:
                    told = f"the database that the case asks for cannot be made: {error}"
                    unmade.append((request.number, Answer("error", told)))
                    continue
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
            yield from unmade
            unmade.clear()
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
        self.lock: database_files.Lock | None = None
        try:
            database_files.make(self.path, self.wanted)
            if not self.first_of_two:
                self.finish()
        except (sqlite3.Error, OSError):
            self.remove()
            raise
        self.before = self.bytes()

    def request(self) -> Request:
        """The request as it is sent."""
        return Request(self.number, dump_ascii({**self.members, "path": str(self.path)})[1:])

    def prepare(self) -> Answer | None:
        """The database was made by the adapter, and is changed now; an answer if that cannot be done."""
        self.first_of_two = False
        try:
            database_files.change(self.path, self.wanted["prepared"], self.wanted.get("wal", False))
            self.finish()
        except sqlite3.Error as error:
            return Answer("crashed", f"the new database is not what a store makes: {error}")
        self.before = self.bytes()
        return None

    def finish(self) -> None:
        """What comes last: damage, and somebody who holds the file. Raises sqlite3.Error."""
        database_files.damage(self.path, self.wanted)
        if "locked" in self.wanted:
            self.lock = database_files.Lock(self.path)

    def bytes(self) -> dict[str, bytes]:
        """What is in the file and in those beside it, of which an empty one or shared memory is nothing."""
        return {
            name: content
            for name, content in phases.contents(self.home).items()
            if name == self.path.name or (content and not name.endswith("-shm"))
        }

    def judged(self, answer: Answer) -> Answer:
        """The answer, with what the runner has seen of the file."""
        if self.first_of_two and answer.kind in ("result", "rejected"):
            return Answer("crashed", f"a new database was not opened, but answered with {answer.value}")
        if answer == Answer("result", OPENED):
            try:
                found = contents(self.path, self.wanted)
                return Answer("result", {**OPENED, **found}, answer.stderr)
            except sqlite3.Error as error:
                return Answer("crashed", f"the database was opened, and is none now: {error}")
        if answer.kind == "rejected" and self.wanted.get("unchanged") and self.bytes() != self.before:
            return Answer(
                "crashed", "the database was refused, and its file or one beside it was changed all the same"
            )
        return answer

    def remove(self) -> None:
        """When its case has an answer, nobody holds the file any longer, and the folder goes."""
        if self.lock is not None:
            self.lock.release()
        shutil.rmtree(self.home, ignore_errors=True)


def contents(path: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    """What a database tells of itself, and what a case wants beside it. Raises sqlite3.Error."""
    with closing(sqlite3.connect(path)) as database:
        names = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        tables = [name for (name,) in names if not name.startswith("sqlite_")]
        found: dict[str, Any] = {
            "userVersion": database.execute("PRAGMA user_version").fetchone()[0],
            "applicationId": database.execute("PRAGMA application_id").fetchone()[0],
            "tables": tables,
        }
        if "pages" in wanted:
            found["pageSize"] = database.execute("PRAGMA page_size").fetchone()[0]
        if "columns" in wanted:
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
