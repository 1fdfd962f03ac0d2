"""Databases are repaired as a reader would, into a new file, and explained as logs are."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from logs import assistant, call, chunk, log, replace, row, step, turn, turn_end, user, whole_turn
from test_check_databases import SCHEMAS, columns_of, write

import conformance
from conformance.adapters.reference import HANDLERS
from conformance.checking import db_repair
from conformance.checking.repair import NoRepairError
from conformance.checking.seqs import decode, encode_one
from conformance.cli import main

CRASHED = [turn(), user(), step(), chunk("a"), assistant("c1", "c2", sourceEventSeqs=[3]), call("c2")]
GAP = {"type": "plan/mode", "seq": 9}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sessions.db"


@pytest.fixture
def new(tmp_path):
    return tmp_path / "repaired.db"


def rows_of(path):
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        return [dict(each) for each in database.execute("SELECT * FROM events ORDER BY session_id, seq")]


def revisions(path):
    with closing(sqlite3.connect(path)) as database:
        return [each[0] for each in database.execute("SELECT revision FROM sessions ORDER BY id")]


def repair(path, new, *words):
    """The exit code; the old file is as it was, and nothing but the new one is beside it."""
    before = path.read_bytes()
    there = set(path.parent.iterdir())
    code = main(["repair", str(path), "--output", str(new), *words])
    assert path.read_bytes() == before
    assert set(path.parent.iterdir()) - there <= {new}
    return code


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("tail", [[], [GAP, {**GAP, "seq": 12}]], ids=["whole", "torn"])
def test_a_crash_is_closed(path, new, schema, tail):
    """The rows that are left are those of before, and behind them stand the closers of the reference."""
    write(path, schema, [*CRASHED, *tail])
    (before,) = conformance.check(path).files
    assert repair(path, new) == 0
    (after,) = conformance.check(new).files
    assert (after.verdict, after.closers, after.torn_from, after.events) == ("accepted", 0, None, 10)
    assert before.closers == 4
    assert [each for each in after.findings if each.severity != "advice"] == []
    old, repaired = rows_of(path), rows_of(new)
    assert repaired[:6] == old[:6]
    told = HANDLERS["jsonl.load"]({"hex": log(*CRASHED).hex(), "compression": "none", "sessionId": "s"})
    for closer, columns in zip(told["closers"], repaired[6:], strict=True):
        event = {"type": columns["type"], "seq": columns["seq"], "time": columns["time"]}
        event["data"] = json.loads(columns["data"])
        if columns["surface_op"] is not None:
            event["surfaceOp"] = json.loads(columns["surface_op"])
        cited = columns["source_event_seqs"]
        if cited is not None:
            event["sourceEventSeqs"] = (
                json.loads(cited) if schema < 17 else decode(cited, schema, event["seq"])
            )
        assert event == closer
    assert revisions(new) == [2]


@pytest.mark.parametrize("schema", [17, 19, 20])
def test_a_packed_row_before_the_tail_stays(path, new, schema):
    write(path, schema, [turn(), user(), step(), row(3, "a", "b", "c"), {**chunk("x"), "seq": 4}])
    assert repair(path, new) == 0
    assert [each["seq"] for each in rows_of(new)] == [0, 1, 2, 3, 6, 7]


def with_a_broken_session(path):
    """A session t beside s: a reader repairs s when it loads it, and refuses t."""
    write(path, 20, CRASHED)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "INSERT INTO sessions SELECT 2, 't', 0, 1, cwd, NULL, NULL, NULL, 0, NULL, incarnation, 1"
            " FROM sessions"
        )
        for number, event in enumerate([turn(), GAP, {**turn_end(), "seq": 10}]):
            columns = {"session_id": 2, **columns_of({"time": 1, "data": {}, "seq": number, **event}, 20)}
            marks = ",".join("?" * len(columns))
            words = f"INSERT INTO events ({', '.join(columns)}) VALUES ({marks})"
            database.execute(words, tuple(columns.values()))


def test_a_session_that_is_refused_stays_as_it_is(path, new, capsys):
    with_a_broken_session(path)
    assert repair(path, new) == 1
    told = capsys.readouterr().err
    assert "session 't' stays as it is: " in told
    assert "row-committed-corrupt" in told
    verdicts = {each.session: (each.verdict, each.closers) for each in conformance.check(new).files}
    assert verdicts["s"] == ("accepted", 0)
    assert verdicts["t"][0] == "refused"
    of_t = [[each for each in rows_of(file) if each["session_id"] == 2] for file in (path, new)]
    assert of_t[0] == of_t[1] != []
    assert revisions(new) == [2, 1]


def test_one_session_is_repaired(path, new):
    with_a_broken_session(path)
    assert repair(path, new, "--session", "t") == 1
    assert not new.exists()  # there is nothing that may be done to it
    assert repair(path, new, "--session", "nobody") == 2
    assert repair(path, new, "--session", "s") == 0
    assert revisions(new) == [2, 1]


def test_nothing_to_repair_writes_nothing(path, new, capsys):
    write(path, 20, whole_turn())
    assert repair(path, new) == 0
    assert "nothing to repair" in capsys.readouterr().out
    assert not new.exists()


def test_a_dry_run_writes_nothing(path, new, capsys):
    write(path, 17, [*CRASHED, GAP])
    assert main(["repair", str(path), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "session 's': would delete 1 row from seq 9 on" in out
    assert "session 's': would add seq 6: tool/result of 'c1', TOOL_NOT_STARTED" in out
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_repair_is_never_in_place(path):
    write(path, 20, CRASHED)
    before = path.read_bytes()
    assert main(["repair", str(path), "--output", str(path)]) == 2
    assert path.read_bytes() == before


@pytest.mark.parametrize("change", ["PRAGMA user_version = 16", "DROP TABLE events"])
def test_a_database_that_no_reader_opens(path, new, change):
    write(path, 20, CRASHED)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(change)
    assert repair(path, new) == 1
    assert not new.exists()


def test_a_journal_that_was_left_is_read_along(path, new):
    """The new file alone is the whole database, whatever stood beside the old one."""
    write(path, 20, CRASHED)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO events VALUES (1, 6, 'plan/mode', 1, '{}', NULL, NULL, NULL)")
        writer.commit()
        assert main(["repair", str(path), "--output", str(new)]) == 0
        assert [each.name for each in new.parent.glob("repaired*")] == [new.name]
        assert [each["seq"] for each in rows_of(new)] == list(range(11))


def test_damage_that_no_reader_meets_is_not_copied(path, new, capsys):
    """An index that does not fit its table: a reader of sessions does not look there, a writer would."""
    write(path, 20, CRASHED, session="a-long-name")
    data = path.read_bytes()
    at = data.index(b"a-long-name") if data.count(b"a-long-name") == 2 else -1
    path.write_bytes(data[:at] + b"b" + data[at + 1 :])
    assert repair(path, new) == 1
    assert "is damaged" in capsys.readouterr().err
    assert not new.exists()


def test_what_sqlite_says_while_it_writes_is_told(path, new, monkeypatch, capsys):
    write(path, 20, CRASHED)

    def full(plan, schema, database):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(db_repair, "_apply", full)
    assert repair(path, new) == 1
    assert "disk is full" in capsys.readouterr().err
    assert not new.exists()


@pytest.mark.parametrize("seq", [0, 1, 127, 128, 300, 16384, 2**32, 2**53 - 1])
@pytest.mark.parametrize("schema", [17, 19, 20])
def test_a_cited_seq_is_written_as_the_reference_writes_it(seq, schema):
    told = HANDLERS["seqs.encode"]({"values": [seq], "schema": 17 if schema == 17 else 19})
    assert encode_one(seq, schema).hex() == told["hex"]


# -- explain ----------------------------------------------------------------------------

REPLACED = [*whole_turn(), user("the sum of it", name="v", **replace(1, 4, 1, 4))]


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("words", [[], ["--at", "4"], ["--diff", "6", "9"], ["--cites", "4"]])
def test_a_database_is_explained_as_the_log_is(tmp_path, path, schema, words, capsys):
    (tmp_path / "log.jsonl").write_bytes(log(*REPLACED))
    assert main(["explain", str(tmp_path / "log.jsonl"), *words]) == 0
    expected = capsys.readouterr().out
    write(path, schema, REPLACED)
    assert main(["explain", str(path), *words]) == 0
    assert capsys.readouterr().out == expected


def test_one_of_several_sessions_is_explained(path, capsys):
    with_a_broken_session(path)
    assert main(["explain", str(path)]) == 2
    assert "give --session ID; this database has s, t" in capsys.readouterr().err
    assert main(["explain", str(path), "--session", "s"]) == 0
    assert "6 events, 2 nodes" in capsys.readouterr().out
    assert main(["explain", str(path), "--session", "u"]) == 2
    assert "no session 'u'" in capsys.readouterr().err


def test_explain_tells_where_a_database_stops(path, capsys):
    write(path, 20, [turn(), user(), GAP, {**turn_end(), "seq": 10}])
    assert main(["explain", str(path)]) == 1
    out = capsys.readouterr().out
    assert "2 events, 1 node," in out
    assert "not followed further: the seq is not the next one" in out


def test_what_is_no_database_or_no_log_is_told(tmp_path, capsys):
    path = tmp_path / "x.db"
    path.write_bytes(b"SQLite format 3\x00" + b"junk" * 500)
    assert main(["explain", str(path)]) == 2
    assert "SQLite says: " in capsys.readouterr().err
    assert main(["repair", str(path), "--dry-run"]) == 1
    assert "does not open this database" in capsys.readouterr().err
    path.write_bytes(log(*whole_turn()))
    assert main(["explain", str(path), "--session", "s"]) == 2
    assert main(["repair", str(path), "--session", "s", "--dry-run"]) == 2


def test_a_session_that_goes_on_since_it_was_planned_is_not_interrupted(path, new):
    write(path, 20, CRASHED)
    plan = db_repair.plan_database(path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO events VALUES (1, 6, 'plan/mode', 1, '{}', NULL, NULL, NULL)")
        database.execute("UPDATE sessions SET revision = revision + 1")
    with pytest.raises(NoRepairError, match="changed"):
        db_repair.write_database(plan, new)
    assert not new.exists()
