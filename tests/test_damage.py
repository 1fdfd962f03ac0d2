"""Damage: exactly the bytes that a step names, or a clear word on why not."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from conformance import damage
from conformance.damage import DamageError


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "a" / "log"
    path.parent.mkdir()
    path.write_bytes(b"0123456789")
    return path


@pytest.mark.parametrize(
    ("action", "left"),
    [
        ({"cut": 4}, b"0123"),
        ({"cut": -4}, b"012345"),
        ({"cut": 0}, b""),
        ({"cut": 10}, b"0123456789"),
        ({"append": "ff00"}, b"0123456789\xff\x00"),
        ({"append_text": "é\n"}, b"0123456789\xc3\xa9\n"),
        ({"at": 2, "bytes": "4142"}, b"01AB456789"),
        ({"at": -1, "bytes": "4142"}, b"012345678AB"),
        ({"replace": ["345", "x"]}, b"012x6789"),
        ({"write_text": "new"}, b"new"),
    ],
)
def test_an_action_changes_what_it_names(tmp_path, log, action, left):
    damage.apply(tmp_path, [{"file": "a/log", **action}])
    assert log.read_bytes() == left


def test_actions_follow_each_other_and_patterns_find_the_file(tmp_path, log):
    damage.apply(tmp_path, [{"file": "*/l*", "cut": 3}, {"file": "**/log", "append": "41"}])
    assert log.read_bytes() == b"012A"
    damage.apply(tmp_path, [{"file": "a/log", "remove": True}])
    assert not log.exists()


def test_a_file_can_be_made_with_its_folders(tmp_path):
    damage.apply(tmp_path, [{"file": "x/y/z", "write_text": "made"}])
    assert (tmp_path / "x" / "y" / "z").read_text() == "made"


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ({"file": "b", "cut": 1}, "0 files match b, not one; the store holds a/log"),
        ({"file": "a/*", "cut": 11}, "the file has 10 bytes, and no place 11"),
        ({"file": "a/*", "at": -11, "bytes": "00"}, "no place -11"),
        ({"file": "a/*", "replace": ["x", "y"]}, "holds 'x' 0 times"),
        ({"file": "a/*", "sql": "DELETE FROM events"}, "damage to a/\\* failed: file is not a database"),
    ],
)
def test_what_cannot_be_done_is_told(tmp_path, log, action, told):
    with pytest.raises(DamageError, match=told):
        damage.apply(tmp_path, [action])


def test_two_files_are_one_too_many(tmp_path, log):
    (tmp_path / "a" / "second").touch()
    with pytest.raises(DamageError, match="2 files match"):
        damage.apply(tmp_path, [{"file": "a/*", "cut": 1}])


def test_a_text_that_stands_twice_is_not_replaced(tmp_path, log):
    log.write_bytes(b"aa")
    with pytest.raises(DamageError, match="2 times, not once"):
        damage.apply(tmp_path, [{"file": "a/log", "replace": ["a", "b"]}])


def test_statements_change_a_database(tmp_path):
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as database:
        database.executescript("CREATE TABLE events (seq); INSERT INTO events VALUES (1), (2)")
    damage.apply(
        tmp_path, [{"file": "*", "sql": "DELETE FROM events WHERE seq = 1; PRAGMA user_version = 9"}]
    )
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT seq FROM events").fetchall() == [(2,)]
        assert database.execute("PRAGMA user_version").fetchone() == (9,)
