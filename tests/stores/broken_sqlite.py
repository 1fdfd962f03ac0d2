"""SQLite stores that keep the contract as long as nothing happens to them, each with one fault."""

from __future__ import annotations

import contextlib
import sqlite3
import time

from reference_impl.stores import sqlite_store
from reference_impl.stores.sqlite_store import SqliteStore, count_up, insert_rows, rows_of


class Schema15(SqliteStore):
    """What the stores below have in common: the writer of a trial opens them without a schema."""

    def __init__(self, folder, schema=15, *, read_only=False):
        super().__init__(folder, schema, read_only=read_only)


class CommitsLater(Schema15):
    """A batch is written when the next one comes."""

    def extend(self, session_id, opened, events):
        before, self.waiting = getattr(self, "waiting", None), events
        if before:
            super().extend(session_id, opened, before)
            opened.count -= len(before)
        opened.count += len(events)


class KeepsTheTornRow(Schema15):
    """Closers are written, and what cannot be read stays behind the log."""

    def settle(self, session_id, stored, missing):
        stored.torn_from = None
        super().settle(session_id, stored, missing)


class LosesTheLastRow(Schema15):
    """A repair takes one row too many."""

    def settle(self, session_id, stored, missing):
        if stored.torn_from is not None:
            stored.torn_from -= 1
        super().settle(session_id, stored, missing)


class WritesTheLogAnew(Schema15):
    """Each append writes the whole log, the old rows being gone before the new ones come."""

    def extend(self, session_id, opened, events):
        before = self.read(session_id).events
        with self.change() as database:
            count_up(database, self.path, opened.key, opened.revision)
            database.execute("DELETE FROM events WHERE session_id = ?", (opened.key,))
        time.sleep(0.002)
        with self.change() as database:
            insert_rows(database, self.schema, opened.key, rows_of(self.schema, before + events))
        opened.count += len(events)
        opened.revision += 1


class CommitsRowByRow(Schema15):
    """A batch is many transactions, so that a part of it stays where the rest fails."""

    def extend(self, session_id, opened, events):
        count_up(self.database, self.path, opened.key, opened.revision)
        opened.revision += 1
        try:
            for row in rows_of(self.schema, events):
                insert_rows(self.database, self.schema, opened.key, [row])
        except sqlite3.Error as error:
            raise OSError(error) from None
        opened.count += len(events)


class TakesNoLock(Schema15):
    """Anybody may write."""

    def __init__(self, folder, schema=15, *, read_only=False):
        super().__init__(folder, schema, read_only=True)
        self.database = sqlite_store.open_to_write(self.path, schema)

    def require_writer(self):
        pass


class WritesIntoNothing(Schema15):
    """A file whose name is gone takes what it is given, and nobody asks whether it is there."""

    @contextlib.contextmanager
    def change(self):
        self.database.execute("BEGIN IMMEDIATE")
        yield self.database
        self.database.execute("COMMIT")


class CountsNoRepairs(Schema15):
    """A revision is a count of nothing."""

    def revision(self, session_id, aborted=None):
        found = super().revision(session_id, aborted)
        return None if found is None else found.rpartition(":")[0]


class SaysItCould(Schema15):
    """A new session that cannot be written is answered for all the same."""

    def begin(self, header, events):
        with contextlib.suppress(OSError):
            super().begin(header, events)
