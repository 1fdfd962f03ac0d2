"""Databases of every schema: what a reader does with their rows, and that nothing of them is changed."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sqlite3
import uuid

import pytest
import zstandard
from logs import assistant, call, chunk, result, row, step, step_end, turn, turn_end, user

import conformance
from conformance import schemas
from conformance.adapters.reference import HANDLERS
from conformance.adapters.reference_rows import row_of
from conformance.checking.check import check
from conformance.checking.collector import Collector
from conformance.checking.databases import RowScan
from conformance.checking.db_gates import APPLICATION
from conformance.checking.loading import Loading
from conformance.checking.seqs import BadSeqs, decode
from conformance.cli import main
from conformance.corpus import load_corpus

SCHEMAS = [14, 15, 17, 19, 20]
TURN = [turn(), user(), step(), assistant("c1"), call("c1"), result("c1", 4), step_end(), turn_end()]
LIMITS = {
    15: "ignorable INTEGER",
    17: "ignorable INTEGER CHECK (ignorable IS NULL OR ignorable IN (0, 1))",
    19: "is_packed INTEGER NOT NULL CHECK (is_packed IN (0, 1))",
}


def seqs(found, schema):
    if found is None or schema <= 15:
        return None if found is None else json.dumps(found)
    told = HANDLERS["seqs.encode"]({"values": found, "schema": 17 if schema == 17 else 19})
    return bytes.fromhex(told["hex"])


def write(path, schema, events, session="s", version=0, application=APPLICATION):
    """A database with one session; an event may be a row of its own, as ``{"columns": {...}}``."""
    database = sqlite3.connect(path)
    key = "id TEXT PRIMARY KEY" if schema < 19 else "id INTEGER PRIMARY KEY, session_key TEXT NOT NULL UNIQUE"
    blob = "TEXT" if schema < 17 else "ANY"
    last = LIMITS.get(17 if schema == 20 else schema)
    owner = "TEXT" if schema < 19 else "INTEGER"
    database.executescript(
        "PRAGMA synchronous = OFF;"
        "CREATE TABLE persistence_state (singleton INTEGER PRIMARY KEY CHECK (singleton = 1),"
        " store_id TEXT NOT NULL) STRICT;"
        f"CREATE TABLE sessions ({key}, version INTEGER NOT NULL, created_at INTEGER NOT NULL, cwd TEXT,"
        " parent_session TEXT, seed_length INTEGER, origin TEXT, delegation_depth INTEGER, agent_preset TEXT,"
        " incarnation TEXT NOT NULL, revision INTEGER NOT NULL) STRICT;"
        f"CREATE TABLE events (session_id {owner} NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,"
        f" seq INTEGER NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL, data {blob} NOT NULL,"
        f" source_event_seqs {blob}, surface_op TEXT{', ' + last if last else ''},"
        " PRIMARY KEY (session_id, seq)) STRICT;"
        f"PRAGMA user_version = {schema}; PRAGMA application_id = {application};"
    )
    database.execute("INSERT INTO persistence_state VALUES (1, ?)", (str(uuid.uuid4()),))
    first = (session,) if schema < 19 else (1, session)
    values = (*first, version, 1, "/w", None, None, None, 0, None, str(uuid.uuid4()), 1)
    database.execute(f"INSERT INTO sessions VALUES ({','.join('?' * len(values))})", values)
    for number, event in enumerate(events):
        columns = event.get("columns") or columns_of({"seq": number, "time": 1, "data": {}, **event}, schema)
        columns = {"session_id": first[0], **columns}
        names = ", ".join(columns)
        marks = ",".join("?" * len(columns))
        database.execute(f"INSERT INTO events ({names}) VALUES ({marks})", tuple(columns.values()))
    database.commit()
    database.close()
    return path


def columns_of(event, schema):
    packed = "seq0" in event
    data = json.dumps(event["data"])
    if schema >= 17 and len(data) > 4096:
        data = zstandard.ZstdCompressor().compress(data.encode())
    columns = {
        "seq": event["seq0"] if packed else event["seq"],
        "type": event["type"],
        "time": event["time0"] if packed else event["time"],
        "data": data,
        "source_event_seqs": seqs(event.get("sourceEventSeqs"), schema),
        "surface_op": json.dumps(event["surfaceOp"]) if "surfaceOp" in event else None,
    }
    if schema == 19:
        columns["is_packed"] = int(packed)
    elif schema >= 15:
        columns["ignorable"] = 0 if packed else 1 if event.get("ignorable") else None
    return columns


def one(path):
    report = conformance.check(path)
    assert schemas.fault("check", report.record()) is None
    (found,) = report.files
    return found


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sessions.db"


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_sound_database(path, schema):
    write(path, schema, TURN)
    before = hashlib.sha256(path.read_bytes()).digest()
    report = one(path)
    assert report.findings == []
    assert (report.verdict, report.format, report.session) == ("accepted", f"sqlite-{schema}", "s")
    assert (report.events, report.nodes, report.closers, report.edition) == (8, 3, 0, "v0")
    assert hashlib.sha256(path.read_bytes()).digest() == before
    assert [each.name for each in path.parent.iterdir()] == [path.name]


GAP = {"type": "plan/mode", "seq": 9}


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("committed", [False, True])
def test_a_gap(path, schema, committed):
    events = [turn(), user(), GAP, *([{**turn_end(), "seq": 10}] if committed else [])]
    report = one(write(path, schema, events))
    (finding,) = [each for each in report.findings if each.severity != "advice"]
    assert finding.condition == ("row-committed-corrupt" if schema >= 17 else "row-committed-gap")
    assert (finding.seq, finding.expected) == (9, "2")
    if committed:
        assert (report.verdict, finding.severity) == ("refused", "error")
    else:
        assert (report.verdict, finding.severity, report.events) == ("accepted", "loss", 2)
        assert report.torn_from == (9 if schema >= 17 else 2)


@pytest.mark.parametrize("schema", [17, 19, 20])
def test_packed_rows(path, schema):
    events = [
        turn(),
        user(),
        step(),
        row(3, "a", "b", "c"),
        {**assistant(sourceEventSeqs=[3, 4, 5]), "seq": 6},
    ]
    report = one(write(path, schema, events))
    assert (report.verdict, report.events) == ("accepted", 7)
    assert "chunks-uncited" not in {each.condition for each in report.findings}


@pytest.mark.parametrize("schema", [17, 19, 20])
def test_a_packed_row_that_is_none(path, schema):
    report = one(write(path, schema, [turn(), row(1, "a", "b")]))
    (finding,) = [each for each in report.findings if each.severity == "loss"]
    assert "chunk-members" in finding.message
    assert report.events == 1


@pytest.mark.parametrize("schema", [15, 20])
def test_load_rules_hold_for_rows(path, schema):
    report = one(write(path, schema, [turn(), user(sourceEventSeqs=[7]), turn_end()]))
    assert (report.verdict, report.refusal.condition) == ("refused", "source-not-earlier")


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_type_that_nobody_knows(path, schema):
    """The readers of schema 14 know no list of types; all later ones refuse what is not on it."""
    write(path, schema, [turn(), {"type": "new/type"}, turn_end()])
    report = one(path)
    (finding,) = [each for each in report.findings if each.condition == "event-type-unknown"]
    if schema == 14:
        assert (report.verdict, report.events, finding.severity, finding.seq) == ("accepted", 3, "advice", 1)
        assert main(["check", str(path)]) == 0
        assert main(["repair", str(path), "--dry-run"]) == 0
    else:
        assert (report.verdict, report.refusal) == ("refused", finding)


def test_a_type_that_nobody_knows_joins_no_surface(path):
    write(path, 14, [turn(), {"type": "new/type", "surfaceOp": "append"}, turn_end()])
    assert one(path).refusal.condition == "surface-op-forbidden"


def test_a_blob_that_is_no_list_is_a_hole(path):
    columns = columns_of({**user(), "seq": 1, "time": 1}, 20) | {"source_event_seqs": b"\x02\x00"}
    report = one(write(path, 20, [turn(), {"columns": columns}]))
    (finding,) = [each for each in report.findings if each.severity == "loss"]
    assert "seqs-tag-unknown" in finding.message


def test_a_dictionary_that_is_not_here(path):
    dictionary = zstandard.ZstdCompressionDict(b"hello world " * 1000)
    data = zstandard.ZstdCompressor(dict_data=dictionary).compress(b'{"a":"hello world hello world "}')
    columns = columns_of({"type": "plan/mode", "seq": 1, "time": 1, "data": {}}, 19) | {"data": data}
    report = one(write(path, 19, [turn(), {"columns": columns}]))
    assert report.verdict == "not judged"
    assert report.findings[0].condition == "dictionary-missing"


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        ("PRAGMA user_version = 16", "db-schema-version"),
        ("PRAGMA user_version = 0", "db-unversioned"),
        ("PRAGMA application_id = 7", "db-application-id"),
        ("DROP TABLE events", "db-schema-objects"),
        ("UPDATE persistence_state SET store_id = 'x'", "db-store-identity"),
        ("UPDATE sessions SET version = 4", "format-newer"),
        ("UPDATE sessions SET incarnation = 'x'", "meta-row-incarnation"),
        ("UPDATE sessions SET cwd = 'C:/x'", "meta-row-cwd"),
    ],
)
def test_a_database_that_is_refused(path, change, condition):
    write(path, 20, TURN)
    database = sqlite3.connect(path)
    database.execute(change)
    database.commit()
    database.close()
    report = one(path)
    assert (report.verdict, report.refusal.condition) == ("refused", condition)


def test_a_locked_database_with_a_journal_is_read_from_a_copy(path):
    write(path, 20, TURN)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("INSERT INTO events VALUES (1, 8, 'plan/mode', 1, '{}', NULL, NULL, NULL)")
    writer.commit()
    writer.execute("BEGIN EXCLUSIVE")
    names = sorted(each.name for each in path.parent.iterdir())
    report = one(path)
    assert (report.verdict, report.events) == ("accepted", 9)
    assert sorted(each.name for each in path.parent.iterdir()) == names
    writer.close()


def test_every_cut_and_every_byte_gives_a_report(path):
    write(path, 20, [turn(), chunk("a")])
    data = path.read_bytes()
    for at in range(0, len(data), 257):
        path.write_bytes(data[:at])
        assert conformance.check(path).files
        path.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        assert conformance.check(path).files


def test_the_decoder_of_seqs_says_what_the_corpus_says():
    tried = 0
    for case in load_corpus():
        found = re.fullmatch(r"codec/seqs-decode-(17|19)", case.topic)
        if found is None or "hex" not in case.request:
            continue
        blob, row_seq = bytes.fromhex(case.request["hex"]), case.request["rowSeq"]
        tried += 1
        try:
            answer = {"result": {"values": decode(blob, int(found[1]), row_seq)}}
        except BadSeqs as bad:
            answer = bad.condition
            expected = [each["rejected"]["condition"] for each in answers(case) if "rejected" in each]
        else:
            expected = [each for each in answers(case) if "result" in each]
        assert answer in expected, case.id
    assert tried > 50


def answers(case):
    written = case.expect_written
    return written.get("either", [written])


class Silent:
    """Nobody who watches."""

    def __getattr__(self, name):
        return lambda *_: None


def scanned(rows, schema):
    """What the checker's scan of rows comes to, in the words of the corpus."""
    collector = Collector()
    loading = Loading(collector, "s", keep_ids=True)
    loading.watcher = Silent()
    scan = RowScan(loading, collector, schema)
    for each in rows:
        scan.take(row_of(each))
    if scan.refused:
        return next(
            each.condition
            for each in collector.sorted()
            if (each.severity, each.layer) == ("error", "storage")
        )
    torn = None if scan.issue is None else scan.issue.seq if schema >= 17 else scan.kept
    return scan.kept, torn


def test_rows_are_scanned_as_the_corpus_says():
    tried = 0
    for case in load_corpus():
        found = re.fullmatch(r"sqlite/scan-(15|17|19|20)", case.topic)
        if found is None or case.request["base"] != 0 or "either" in case.expect_written:
            continue
        told = scanned(case.request["rows"], int(found[1]))
        tried += 1
        if "rejected" in case.expect_written:
            assert told == case.expect_written["rejected"]["condition"], case.id
        else:
            result_of = case.expect_written["result"]
            assert told == (len(result_of["events"]), result_of["tornFrom"]), case.id
    assert tried > 80


def test_a_database_that_is_no_file(path):
    """Bytes, and standard input: the same report, under another name."""
    write(path, 20, TURN)
    expected = one(path).record()
    data = path.read_bytes()
    (of_bytes,) = conformance.check(data).files
    (of_stdin,) = check("-", stdin=io.BytesIO(data)).files
    assert of_bytes.record() == {**expected, "path": "(bytes)"}
    assert of_stdin.record() == {**expected, "path": "(stdin)"}
