"""The bench of the stores is fair: what it holds a store against does the same work, and no other."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

from conformance import store_bench
from conformance.adapters.reference_stores import open_store
from conformance.cli.bench import in_a_store

GIVEN = [[store_bench.event(first + place) for place in range(3)] for first in (0, 3)]


def test_the_bare_loops_hold_the_events_of_the_store(tmp_path):
    rows = [[store_bench.row_of(each) for each in batch] for batch in GIVEN]
    assert store_bench.commit_each(tmp_path, rows) > 0
    with closing(sqlite3.connect(tmp_path / "bare.db")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        found = database.execute("SELECT seq, type, time, data, op FROM events ORDER BY seq").fetchall()
    store = open_store("sqlite20", tmp_path)
    store.create(store_bench.HEADER)
    store_bench.append_all(store, GIVEN)
    assert store.database is not None
    stored = store.database.execute("SELECT seq, type, time, data, surface_op FROM events ORDER BY seq")
    assert found == stored.fetchall()
    store.close()


def test_appending_is_held_against_lines_and_where_it_is_sqlite_against_rows():
    plain = store_bench.appending("jsonl", 2, 1)
    assert plain.store > 0 < plain.bare
    assert plain.through_sqlite is None
    through = store_bench.appending("sqlite15", 2, 1).through_sqlite
    assert through is not None
    assert through > 0


def test_the_lines_of_the_bare_loop_are_those_events(tmp_path):
    pieces = [b"".join(json.dumps(each).encode() + b"\n" for each in batch) for batch in GIVEN]
    store_bench.write_and_flush(tmp_path, pieces)
    written = [json.loads(line) for line in (tmp_path / "bare").read_bytes().splitlines()]
    assert written == [each for batch in GIVEN for each in batch]


def test_what_is_printed_names_both(capsys, monkeypatch):
    beside = store_bench.Beside(0.3, 0.1, 0.2)
    monkeypatch.setattr(store_bench, "appending", lambda *_: beside)
    monkeypatch.setattr(store_bench, "loading", lambda *_: store_bench.Beside(2.0, 1.0))
    in_a_store("store:sqlite20", 1)
    told = capsys.readouterr().out
    assert "3.00 ms a batch, 3.00 times a bare write and flush (1.00 ms), 1.50 times bare SQLite" in told
    assert "2.00 times decoding the lines" in told
