"""The SQLite store on real files: the contract, and what the contract cannot see from outside."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from contextlib import closing

import pytest
import zstandard

from conformance.adapters import reference_stores
from conformance.adapters.inprocess import InProcess
from conformance.adapters.registry import AdapterSpec, resolve
from conformance.corpus import load_corpus
from conformance.engine import Options, run
from conformance.ledger import load_ledger
from reference_impl.rejection import Rejection
from reference_impl.sqlite_open import create
from reference_impl.sqlite_rows import UndecidableError
from reference_impl.stores.durable import StoreBusy, UnsettledError, without_writer
from reference_impl.stores.sqlite_file import NAME, DatabaseError
from reference_impl.stores.sqlite_store import SqliteStore, Unstorable, insert_rows, rows_of
from reference_impl.stores.store import ReadOnly

SCHEMAS = [15, 17, 20]
HEADER = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
START = {"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1}}
END = {"type": "turn/end", "seq": 1, "time": 6, "data": {"turn": 1, "reason": {"kind": "completed"}}}
STRICT = frozenset(("condition", "position"))
UNREADABLE = "INSERT INTO events (session_id, seq, type, time, data) VALUES ({key}, {seq}, 'x', 0, '{{bad')"


def title(seq, text="t"):
    return {"type": "session/title", "seq": seq, "time": seq, "data": {"title": text}}


@pytest.fixture(params=SCHEMAS)
def store(request, tmp_path):
    opened = SqliteStore(tmp_path, request.param)
    opened.create(HEADER)
    yield opened
    opened.close()


def sql(store, *statements):
    """Change the database behind the back of a closed store."""
    with closing(sqlite3.connect(store.path, isolation_level=None)) as database:
        return [database.execute(statement).fetchall() for statement in statements]


def anew(store, **how):
    store.close()
    return SqliteStore(store.folder, store.schema, **how)


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")}


def key(store):
    return "'s'" if store.schema < 19 else "1"


# -- the contract ----------------------------------------------------------------


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_store_keeps_the_whole_contract(schema):
    cases = [case for case in load_corpus() if case.op == "backend"]
    options = Options(strict=STRICT)
    *_, end = run(cases, resolve(f"store:sqlite{schema}"), load_ledger(), options)
    assert (end["exit"], end["problems"]) == (0, [])
    assert end["counts"]["pass"] >= 55


def test_schema_15_reads_damaged_rows_as_14_does():
    """The published schema 14 has the same rule for a torn tail, and cases."""
    honest = reference_stores.adapter("sqlite15")

    def answer(request):
        told = honest(request)
        if request["op"] == "hello":
            told["result"]["capabilities"].append("storage.sqlite14")
        return told

    cases = [case for case in load_corpus() if case.topic == "backend/sqlite-damage"]
    spec = AdapterSpec("store", factory=lambda: answer)
    *_, end = run(cases, spec, load_ledger(), Options(strict=STRICT))
    assert (end["exit"], end["counts"]) == (0, {"pass": len(cases)})


def test_a_database_of_another_schema_is_refused_in_one_answer(tmp_path):
    SqliteStore(tmp_path, 15).close()
    connection = InProcess(reference_stores.adapter("sqlite20"))
    assert "backend" in connection.hello.capabilities
    request = {"op": "backend", "edition": "v0", "root": str(tmp_path), "steps": []}
    told = reference_stores.adapter("sqlite20")(request)
    assert told["rejected"]["condition"] == "db-schema-version"


# -- durable ---------------------------------------------------------------------


def test_commits_are_flushed_and_a_closed_store_is_one_file(store):
    (flushed,), (journal,) = (store.database.execute(f"PRAGMA {name}").fetchone() for name in
                              ("synchronous", "journal_mode"))  # fmt: skip
    assert (flushed, journal) == (2, "wal")
    store.append("s", [START])
    store.close()
    assert [path.name for path in store.folder.iterdir()] == [NAME]
    assert sql(store, "PRAGMA page_size") == [[(65536 if store.schema == 20 else 4096,)]]


def test_an_append_is_there_before_it_is_answered_for(store, tmp_path_factory):
    """Whatever lies in the folder at that moment holds it: nothing waits for the store to be closed."""
    store.append("s", [START, END])
    copy = tmp_path_factory.mktemp("copy")
    for path in store.folder.iterdir():
        if not path.name.endswith("-shm"):
            shutil.copy(path, copy)
    other = SqliteStore(copy, store.schema)
    assert other.load("s").events == [START, END]
    other.close()


@pytest.mark.parametrize("begun", [False, True])
def test_a_disk_that_is_full_takes_nothing_of_a_batch(store, begun):
    if begun:
        store.append("s", [START])
    (pages,) = store.database.execute("PRAGMA page_count").fetchone()
    store.database.execute(f"PRAGMA max_page_count = {pages}")
    before = sql(store, "SELECT * FROM events", "SELECT * FROM sessions")
    first = 1 if begun else 0
    many = [title(seq, os.urandom(4000).hex()) for seq in range(first, 40)]
    with pytest.raises(DatabaseError, match="full"):
        store.append("s", many)
    assert sql(store, "SELECT * FROM events", "SELECT * FROM sessions") == before
    store.database.execute("PRAGMA max_page_count = 100000")
    store.append("s", many)  # the turn goes on: nothing was closed
    assert store.load("s").events[first : len(many) + first] == many


def test_a_folder_that_is_gone_takes_nothing(store):
    store.append("s", [START])
    shutil.rmtree(store.folder)
    with pytest.raises(OSError, match="No such file"):
        store.append("s", [END])
    store.folder.mkdir()


def test_nor_does_a_database_that_another_file_has_come_in_place_of(store, tmp_path):
    store.append("s", [START])
    other = tmp_path / "other"
    shutil.copy(store.path, other)
    swap = store.database.execute

    class Swapping:
        in_transaction = False

        def __getattr__(self, name):
            return getattr(store.database, name)

        def execute(self, *words):
            if words[0] == "COMMIT":
                other.replace(store.path)
            return swap(*words)

    from reference_impl.stores.sqlite_file import transaction

    with (
        pytest.raises(UnsettledError, match="another file"),
        transaction(Swapping(), store.path, store.schema),
    ):
        pass


def test_somebody_elses_write_is_not_written_over(store):
    store.append("s", [START])
    sql(store, "UPDATE sessions SET revision = 9")
    with pytest.raises(DatabaseError, match="somebody else wrote"):
        store.append("s", [END])
    assert sql(store, "SELECT count(*) FROM events") == [[(1,)]]


def test_a_database_that_was_taken_over_is_not_written_to(store):
    store.append("s", [START])
    sql(store, "PRAGMA application_id = 7")
    with pytest.raises(Rejection, match="application id 7"):
        store.append("s", [END])


# -- one writer, many readers ----------------------------------------------------


def test_the_second_writer_is_refused_until_the_first_has_closed(store):
    with pytest.raises(StoreBusy, match="another writer has this store open"):
        SqliteStore(store.folder, store.schema)
    anew(store).close()


def test_a_refused_database_is_left_as_it_was_and_free(store):
    store.close()
    sql(store, "PRAGMA user_version = 99")
    before = files(store.folder)
    for _ in range(2):  # the lock was given back
        with pytest.raises(Rejection, match="schema version 99"):
            SqliteStore(store.folder, store.schema)
    assert files(store.folder) == before
    store.path.write_bytes(b"no database at all" * 100)
    with pytest.raises(Rejection, match="not a database"):
        SqliteStore(store.folder, store.schema)


def test_a_reader_beside_a_writer_sees_what_was_answered_for(store):
    store.append("s", [START])
    reader = SqliteStore(store.folder, store.schema, read_only=True)
    assert reader.read_from("s", 0).events == [START]
    store.append("s", [END])
    before = files(store.folder)
    assert reader.inspect("s").events == [START, END]
    assert reader.list_headers() == [HEADER]
    assert files(store.folder) == before
    for call in (lambda: reader.load("s"), lambda: reader.append("s", [END]), lambda: reader.create(HEADER)):
        with pytest.raises(ReadOnly, match="opened read-only"):
            call()


@pytest.mark.parametrize("left", [False, True])
def test_a_reader_alone_leaves_every_byte_as_it_was(store, tmp_path_factory, left):
    """Also where a writer that died left all of the log in its write-ahead log."""
    store.append("s", [START])
    copy = tmp_path_factory.mktemp("copy")
    if not left:
        store.close()
    for path in store.folder.iterdir():
        if not path.name.endswith("-shm"):
            shutil.copy(path, copy)
    before = files(copy)
    assert (f"{NAME}-wal" in before) == left
    reader = SqliteStore(copy, store.schema, read_only=True)
    assert len(reader.inspect("s").events) == 2
    assert reader.revision("s") == store.revision("s") if left else reader.revision("s")
    assert files(copy) == before
    assert sorted(path.name for path in copy.iterdir()) == sorted(before)


def test_a_reader_of_nothing_makes_nothing(tmp_path):
    reader = SqliteStore(tmp_path, None, read_only=True)
    assert (reader.list_headers(), reader.revision("s"), list(tmp_path.iterdir())) == ([], None, [])
    with pytest.raises(Rejection, match="not found"):
        reader.inspect("s")


def test_a_writer_waits_for_who_reads(tmp_path):
    began = threading.Event()

    def read():
        with without_writer(tmp_path) as free:
            assert free
            began.set()
            time.sleep(0.2)

    thread = threading.Thread(target=read)
    thread.start()
    began.wait()
    SqliteStore(tmp_path, 15).close()
    thread.join()


# -- repair ----------------------------------------------------------------------


def test_a_row_that_cannot_be_read_goes_and_closers_come_in_one_write(store):
    store.append("s", [START])
    revision = store.revision("s")
    store.close()
    sql(store, UNREADABLE.format(key=key(store), seq=1), UNREADABLE.format(key=key(store), seq=2))
    again = anew(store)
    inspected = again.inspect("s")
    assert sql(store, "SELECT count(*) FROM events") == [[(3,)]]
    loaded = again.load("s")
    assert loaded == inspected
    assert [event["type"] for event in loaded.events] == ["turn/start", "turn/end"]
    assert sql(store, "SELECT seq FROM events ORDER BY seq") == [[(0,), (1,)]]
    assert again.revision("s") == f"{revision.rpartition(':')[0]}:2"
    assert again.load("s") == loaded
    assert again.revision("s").endswith(":2")
    again.close()


def test_committed_damage_is_refused_and_shown_in_the_listing(store):
    store.append("s", [START, title(1), {**END, "seq": 2}])
    store.close()
    sql(store, "UPDATE events SET data = '{bad' WHERE seq = 1")
    before = files(store.folder)
    again = anew(store)
    with pytest.raises(Rejection, match="corrupt session log"):
        again.load("s")
    assert again.list_headers() == [HEADER]
    again.close()
    assert files(store.folder) == before


def test_rows_that_an_index_has_lost_are_not_papered_over(store):
    """Found through its index alone the log would seem to be empty."""
    store.append("s", [START, {**END}])
    store.close()
    sql(store, "PRAGMA writable_schema = ON",
        "CREATE TABLE t (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) STRICT",
        "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name ="
        " 'sqlite_autoindex_t_1') WHERE name = 'sqlite_autoindex_events_1'",
        "DELETE FROM sqlite_schema WHERE tbl_name = 't'")  # fmt: skip
    again = anew(store)
    for read in (again.load, again.inspect, lambda session_id: again.read_from(session_id, 0)):
        with pytest.raises(DatabaseError, match="the database is damaged"):
            read("s")
    again.close()


# -- what rows hold --------------------------------------------------------------


def test_a_read_can_begin_inside_packed_chunks(store):
    def chunk(seq):
        data = {"turn": 1, "step": 1, "chunk": {"type": "text-delta", "index": 0, "text": str(seq)}}
        return {"type": "assistant/chunk", "seq": seq, "time": seq, "data": data}

    step = {"type": "step/start", "seq": 1, "time": 5, "data": {"turn": 1, "step": 1}}
    events = [START, step, *map(chunk, range(2, 8))]
    store.append("s", events)
    (((rows,),),) = sql(store, "SELECT count(*) FROM events")
    assert rows == (8 if store.schema == 15 else 3)
    for first in range(10):
        assert store.read_from("s", first).events == events[first:]


UNSTORABLE = [
    ({**START, "more": 1}, "members that no column can hold"),
    ({**START, "time": 0.5}, "no safe whole number"),
    ({**START, "type": 5}, "is no text"),
    ({**START, "type": "\ud83d"}, "half a character"),
    ({**START, "sourceEventSeqs": 5}, "are no list"),
    ({"type": "x", "seq": 0, "time": 0}, "has no data"),
]


@pytest.mark.parametrize(("event", "told"), UNSTORABLE, ids=[told for _, told in UNSTORABLE])
def test_what_would_not_come_back_is_refused(store, event, told):
    with pytest.raises(Unstorable, match=told):
        store.append("s", [title(0), {**event, "seq": 1}])
    assert store.list_headers() == []
    store.append("s", [title(0)])
    assert store.load("s").events == [title(0)]


@pytest.mark.parametrize("header", [{"cwd": None}, {"cwd": 5}, {"version": 0.5}, {"more": 1}])
def test_nor_is_half_a_header_stored(store, header):
    store.create({**HEADER, **header, "id": "t"})
    with pytest.raises(Unstorable):
        store.append("t", [title(0)])
    assert store.list_headers() == []


def test_half_a_character_and_all_others_come_back(store):
    events = [title(0, '\ud83d x \u2028 \u0000 é \U0001f600 \\ "')]
    store.append("s", events)
    assert store.load("s").events == events


def test_an_id_that_no_column_can_hold_is_nobodys(store):
    with pytest.raises(Rejection, match="not found"):
        store.inspect("\ud83d")


@pytest.mark.parametrize("schema", [14, 15, 17, 19, 20])
def test_every_known_schema_is_read(schema, tmp_path):
    """14 and 19 are made by hand, for no store here writes them."""
    with closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as database:
        create(database, schema)
        column = "session_key" if schema >= 19 else "id"
        incarnation = "11111111-2222-4333-8444-555555555555"
        database.execute(
            f"INSERT INTO sessions ({column}, version, created_at, delegation_depth, incarnation, revision)"
            f" VALUES ('s', 0, 1, 0, '{incarnation}', 1)"
        )
        rows = rows_of({14: 15}.get(schema, schema), [START, END])
        insert_rows(database, schema, 1 if schema >= 19 else "s", rows)
    before = files(tmp_path)
    for wanted in (schema, None):
        reader = SqliteStore(tmp_path, wanted, read_only=True)
        assert reader.inspect("s") == (HEADER, [START, END])
        assert reader.list_headers() == [HEADER]
    with pytest.raises(Rejection, match=f"has schema version {schema}"):
        SqliteStore(tmp_path, 15 if schema != 15 else 17, read_only=True).inspect("s")
    assert files(tmp_path) == before


def test_no_other_schema_is_written(tmp_path):
    for schema in (None, 14, 16, 19):
        with pytest.raises(ValueError, match="is not written"):
            SqliteStore(tmp_path, schema)


def test_a_cell_that_takes_a_dictionary_is_no_damage(tmp_path):
    store = SqliteStore(tmp_path, 20)
    store.create(HEADER)
    store.append("s", [START])
    store.close()
    dictionary = zstandard.ZstdCompressionDict(b'{"turn":1}' * 100)
    cell = zstandard.ZstdCompressor(dict_data=dictionary).compress(b'{"turn":1}')
    sql(store, f"UPDATE events SET data = x'{cell.hex()}'")
    before = files(tmp_path)
    again = anew(store)
    for read in (again.load, again.inspect):
        with pytest.raises(UndecidableError, match="only a reader with its dictionary"):
            read("s")
    again.close()
    assert files(tmp_path) == before


def test_an_early_schema_makes_the_tables_that_are_missing(tmp_path):
    SqliteStore(tmp_path, 15).close()
    with closing(sqlite3.connect(tmp_path / NAME)) as database:
        database.execute("DROP TABLE events")
    store = SqliteStore(tmp_path, 15)
    assert store.list_headers() == []
    store.create(HEADER)
    store.append("s", [START])
    assert store.read_from("s", 0).events == [START]
    store.close()
