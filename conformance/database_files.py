"""The database files of ``sqlite.open`` cases: how one is made, damaged, and held by somebody else.

``databases`` tells what the members of a case mean.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

HEADER_BYTES = 100
TORN_BYTES = 10
"""So much is missing at the end of a torn write-ahead log: less than one frame, so only the last is lost."""

HOLDER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=2)
database.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


def make(path: Path, wanted: dict[str, Any]) -> None:
    """Make the file that a case asks for, unless the adapter makes it."""
    if "hex" in wanted:
        path.write_bytes(bytes.fromhex(wanted["hex"]))
    elif "empty" in wanted:
        path.write_bytes(b"")
    elif "folder" in wanted:
        path.mkdir()
    elif "sql" in wanted:
        change(path, wanted["sql"], wanted.get("wal", False))


def change(path: Path, statements: list[str], wal: bool | str) -> None:
    """Run statements; with ``wal`` they are left behind, with ``"torn"`` the last of them in part only."""
    if not wal:
        run(path, statements)
        return
    left_behind(path, statements)
    if wal == "torn":
        log = Path(f"{path}-wal")
        log.write_bytes(log.read_bytes()[:-TORN_BYTES])


def run(path: Path, statements: list[str]) -> None:
    """Run statements on a database, and close it. Raises sqlite3.Error."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")
        for statement in statements:
            database.execute(statement)


def left_behind(path: Path, statements: list[str]) -> None:
    """A database, new or as it is there, whose statements stand in its write-ahead log only."""
    living = path.with_name("living.sqlite")
    if path.exists():
        shutil.copyfile(path, living)
    with closing(sqlite3.connect(living, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA wal_autocheckpoint = 0")
        for statement in statements:
            database.execute(statement)
        for ending in ("", "-wal"):
            shutil.copyfile(f"{living}{ending}", f"{path}{ending}")


def damage(path: Path, wanted: dict[str, Any]) -> None:
    """Do to the bytes of the file what a case asks for. Raises sqlite3.Error where it is no database."""
    if "overwritten" in wanted:
        begin, end = page_of(path, wanted["overwritten"])
        put(path, begin, b"\xff" * (end - begin))
    for patch in wanted.get("patches", []):
        put(path, patch["at"], bytes.fromhex(patch["bytes"]))
    if "cut" in wanted:
        path.write_bytes(path.read_bytes()[: wanted["cut"]])


def put(path: Path, at: int, new: bytes) -> None:
    """Other bytes in one place of a file."""
    content = bytearray(path.read_bytes())
    content[at : at + len(new)] = new
    path.write_bytes(content)


def page_of(path: Path, table: str) -> tuple[int, int]:
    """The bytes of the page with which a table begins; of the first page, those behind the header."""
    with closing(sqlite3.connect(path)) as database:
        (size,) = database.execute("PRAGMA page_size").fetchone()
        if table == "sqlite_schema":
            return HEADER_BYTES, size
        found = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
        if found is None:
            raise sqlite3.OperationalError(f"no such table: {table}")
        return (found[0] - 1) * size, found[0] * size


class Lock:
    """Somebody else who writes into a database until he is told to stop.

    A process of its own: the locks of a file belong to a process, so an adapter that lives in this one, with
    a SQLite of its own, would not see a lock of ours, and would drop it when it closes the file.
    """

    def __init__(self, path: Path) -> None:
        """Returns when the database is locked. Raises sqlite3.OperationalError where that cannot be had."""
        self.holder = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", HOLDER, str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert self.holder.stdout is not None
        if not self.holder.stdout.readline():
            self.release()
            raise sqlite3.OperationalError("it cannot be locked, so it may still be open")

    def release(self) -> None:
        """End it; nothing was written."""
        for pipe in (self.holder.stdin, self.holder.stdout):
            if pipe is not None:
                pipe.close()
        self.holder.wait()
