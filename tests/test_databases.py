"""Databases that the runner makes: what is in them, and that it notices what an adapter does to them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support import in_process

from conformance import databases
from conformance.corpus import load_corpus
from conformance.engine import run
from conformance.json_text import dump_ascii
from conformance.ledger import load_ledger
from conformance.protocol import Answer, Request

REFUSED = Answer("rejected", {"condition": "db-unversioned"})
OPENED = Answer("result", {"opened": True})


def told(database, respond):
    """The one answer that comes out, and the paths that the transport was given."""
    asked = []

    def transport(requests):
        for request in requests:
            path = Path(databases.json.loads(f"{{{request.body}")["path"])
            asked.append(path)
            yield request.number, respond(path, len(asked))

    body = f'"op":"sqlite.open","schema":17,"edition":"v0","database":{dump_ascii(database)}}}'
    ((number, answer),) = databases.exchange(transport, iter([Request(7, body)]))
    assert number == 7
    assert not any(path.exists() for path in asked)
    return answer, asked


def query(path, sql):
    with closing(sqlite3.connect(path)) as database:
        return database.execute(sql).fetchone()[0]


def test_other_requests_pass_through():
    requests = [Request(1, '"op":"fold"}'), Request(2, '"op":"window"}')]
    seen = []

    def transport(given):
        for request in given:
            seen.append(request)
            yield request.number, OPENED

    assert list(databases.exchange(transport, iter(requests))) == [(1, OPENED), (2, OPENED)]
    assert seen == requests


def test_each_way_to_make_a_file():
    def respond(path, _):
        seen.append(path.read_bytes() if path.exists() else None)
        return REFUSED

    seen: list[bytes | None] = []
    for database in ({}, {"empty": True}, {"hex": "6162"}):
        told(database, respond)
    assert seen == [None, b"", b"ab"]
    told({"sql": ["PRAGMA user_version = 5"], "patches": [{"at": 60, "bytes": "00000009"}]}, respond)
    assert seen[-1] is not None
    assert seen[-1][60:64] == bytes([0, 0, 0, 9])


def test_damage_is_done_in_the_order_of_its_names():
    seen: list[bytes] = []

    def respond(path, time):
        if time == 1:
            databases.database_files.run(path, ["CREATE TABLE t (x)"])
            return OPENED
        seen.append(path.read_bytes())
        return REFUSED

    patches = [{"at": 200, "bytes": "0102"}]
    told({"prepared": [], "overwritten": "sqlite_schema", "patches": patches, "cut": 300}, respond)
    assert seen[0][:16] == b"SQLite format 3\0"
    assert seen[0][100:] == b"\xff" * 100 + b"\1\2" + b"\xff" * 98
    told({"prepared": ["INSERT INTO t VALUES (3)"], "overwritten": "t"}, respond)
    assert seen[1][4096:] == b"\xff" * 4096
    assert b"CREATE TABLE t" in seen[1][:4096]


def test_a_table_that_is_not_there_cannot_be_overwritten():
    def respond(path, _):
        databases.database_files.run(path, ["CREATE TABLE t (x)"])
        return OPENED

    answer, asked = told({"prepared": [], "overwritten": "u"}, respond)
    assert answer.kind == "crashed"
    assert len(asked) == 1


def test_a_folder_can_stand_in_the_place_of_the_file():
    def respond(path, _):
        assert path.is_dir()
        return REFUSED

    assert told({"folder": True, "unchanged": True}, respond)[0] == REFUSED


@pytest.mark.parametrize(("wal", "version"), [(True, 6), ("torn", 5)])
def test_a_prepared_database_is_left_behind_as_well(wal, version):
    def respond(path, time):
        if time == 1:
            databases.database_files.run(path, ["PRAGMA user_version = 4"])
            return OPENED
        assert int.from_bytes(path.read_bytes()[60:64], "big") == 4
        assert query(path, "PRAGMA user_version") == version
        return REFUSED

    prepared = ["PRAGMA user_version = 5", "PRAGMA user_version = 6"]
    assert told({"prepared": prepared, "wal": wal}, respond)[0] == REFUSED


@pytest.mark.parametrize("made", ["prepared", "sql"])
def test_a_locked_database_is_held_until_there_is_an_answer(made):
    paths = []

    def respond(path, time):
        if made == "prepared" and time == 1:
            databases.database_files.run(path, ["CREATE TABLE t (x)"])
            return OPENED
        with closing(sqlite3.connect(path, timeout=0)) as database:
            assert database.execute("SELECT count(*) FROM t").fetchone() == (0,)
            with pytest.raises(sqlite3.OperationalError, match="database is locked"):
                database.execute("BEGIN IMMEDIATE")
        paths.append(path)
        return REFUSED

    answer, _ = told({made: [] if made == "prepared" else ["CREATE TABLE t (x)"], "locked": True}, respond)
    assert answer == REFUSED
    assert paths


def test_a_refusal_that_changes_a_locked_file_is_noticed():
    def respond(path, _):
        path.write_bytes(b"")
        return REFUSED

    answer, _ = told({"sql": ["CREATE TABLE t (x)"], "locked": True, "unchanged": True}, respond)
    assert answer.kind == "crashed"


def test_a_store_that_does_not_close_its_new_database_is_noticed():
    left_open = []

    def respond(path, _):
        database = sqlite3.connect(path, isolation_level=None)
        database.execute("BEGIN IMMEDIATE")
        left_open.append(database)
        return OPENED

    answer, _ = told({"prepared": [], "locked": True}, respond)
    assert answer.kind == "crashed"
    assert "still be open" in str(answer.value)
    left_open.pop().close()


def test_nobody_holds_a_file_after_a_run_that_was_cut_off():
    def transport(requests):
        next(requests)
        raise KeyboardInterrupt

    body = '"op":"sqlite.open","schema":17,"edition":"v0","database":{"sql":[],"locked":true}}'
    made = []
    original = databases.database_files.Lock

    class Seen(original):
        def __init__(self, path):
            super().__init__(path)
            made.append(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(databases.database_files, "Lock", Seen)
        with pytest.raises(KeyboardInterrupt):
            list(databases.exchange(transport, iter([Request(7, body)])))
    assert [lock.holder.poll() for lock in made] == [0]


def test_a_log_that_was_left_behind_holds_everything():
    def respond(path, _):
        assert int.from_bytes(path.read_bytes()[60:64], "big") == 0
        assert query(path, "PRAGMA user_version") == 5
        return REFUSED

    assert (
        told({"wal": True, "sql": ["CREATE TABLE t (x)", "PRAGMA user_version = 5"]}, respond)[0] == REFUSED
    )


def test_what_is_in_an_opened_database_is_added():
    answer, _ = told({"sql": ["CREATE TABLE t (x)", "PRAGMA user_version = 5"]}, lambda *_: OPENED)
    assert answer.value == {"opened": True, "userVersion": 5, "applicationId": 0, "tables": ["t"]}


def test_columns_are_told_where_a_case_wants_them():
    sql = ["CREATE TABLE t (x INTEGER PRIMARY KEY, y TEXT NOT NULL) STRICT", "CREATE TABLE u (z)"]
    answer, _ = told({"sql": sql, "columns": True}, lambda *_: OPENED)
    assert answer.value["columns"] == {"t": ["x INTEGER KEY 1", "y TEXT NOT NULL", "STRICT"], "u": ["z "]}


def test_an_answer_that_is_more_than_opened_stays_as_it_is():
    answer, _ = told({}, lambda *_: Answer("result", {"opened": True, "userVersion": 17}))
    assert answer.value == {"opened": True, "userVersion": 17}


def test_an_opened_file_that_is_no_database_is_noticed():
    answer, _ = told({"hex": "61" * 4096}, lambda *_: OPENED)
    assert answer.kind == "crashed"


@pytest.mark.parametrize(("unchanged", "kind"), [({"unchanged": True}, "crashed"), ({}, "rejected")])
def test_a_refusal_that_changes_the_file_is_noticed(unchanged, kind):
    def respond(path, _):
        with path.open("ab") as file:
            file.write(b"x")
        return REFUSED

    assert told({"sql": ["CREATE TABLE t (x)"], **unchanged}, respond)[0].kind == kind


def test_a_refusal_that_leaves_something_beside_the_file_is_noticed():
    def leaving(name, content):
        def respond(path, _):
            path.with_name(f"store.sqlite-{name}").write_bytes(content)
            return REFUSED

        return told({"sql": ["CREATE TABLE t (x)"], "unchanged": True}, respond)[0].kind

    assert leaving("journal", b"pages") == "crashed"
    assert leaving("journal", b"") == leaving("shm", b"an index") == "rejected"


def test_a_database_that_cannot_be_made_is_an_error_of_its_case(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    wrong, right = (
        Request(number, f'"op":"sqlite.open","schema":17,"edition":"v0","database":{{"sql":["{sql}"]}}}}')
        for number, sql in ((1, "CREATE TABEL t (x)"), (2, "CREATE TABLE t (x)"))
    )

    def transport(requests):
        for request in requests:
            yield request.number, REFUSED

    answers = dict(databases.exchange(transport, iter([wrong, right])))
    assert answers[2] == REFUSED
    assert answers[1].kind == "error"
    assert "cannot be made" in answers[1].value
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_that_makes_a_file_is_noticed():
    def respond(path, _):
        path.write_bytes(b"")
        return REFUSED

    assert told({"unchanged": True}, respond)[0].kind == "crashed"


def test_a_prepared_database_is_asked_about_twice():
    def respond(path, time):
        if time == 1:
            databases.database_files.run(path, ["CREATE TABLE t (x)"])
            return OPENED
        assert query(path, "SELECT x FROM t") == 3
        return REFUSED

    answer, asked = told({"prepared": ["INSERT INTO t VALUES (3)"], "unchanged": True}, respond)
    assert answer == REFUSED
    assert len(asked) == 2


@pytest.mark.parametrize("first", [REFUSED, Answer("result", {"opened": False})])
def test_a_refusal_of_the_new_database_is_not_taken_for_the_answer(first):
    answer, asked = told({"prepared": []}, lambda *_: first)
    assert answer.kind == "crashed"
    assert len(asked) == 1


def test_a_new_database_that_is_none_is_noticed():
    answer, asked = told({"prepared": ["DROP TABLE events"]}, lambda *_: OPENED)
    assert answer.kind == "crashed"
    assert len(asked) == 1


@pytest.mark.parametrize("kind", ["unsupported", "error", "hung", "died"])
def test_other_answers_to_the_new_database_stay(kind):
    assert told({"prepared": []}, lambda *_: Answer(kind, "why"))[0] == Answer(kind, "why")


def test_an_adapter_that_opens_everything_and_makes_nothing_fails():

    def lazy(request):
        if request["op"] == "hello":
            return {
                "result": {
                    "protocol": 1, "implementation": {"name": "lazy"},
                    "capabilities": ["sqlite.open@17"], "editions": ["v0"],
                }
            }  # fmt: skip
        return {"result": {"opened": True}}

    cases = [case for case in load_corpus() if case.topic == "sqlite/open-17"]
    records = list(run(cases, in_process(lazy), load_ledger()))[1:-1]
    assert {record["status"] for record in records} <= {"fail", "crashed"}
    assert len(records) > 30
