"""Rows of SQLite of the reference, held against an independent oracle, and writing against reading.

Rows at random are mostly good, with one or two cells changed into something near.
"""

from __future__ import annotations

import copy
import json
import re

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import sqlite_rows_oracle as oracle

from conformance.adapters.reference import answer
from conformance.compare import first_difference
from conformance.corpus import load_corpus
from conformance.json_text import parse_exact
from conformance.rows_compare import comparable
from reference_impl import sqlite_rows

M = 2**53 - 1
SCHEMAS = (15, 17, 19, 20)
PAYLOAD = '{"turn":1,"step":1,"index":0,"dt":[1,1],"texts":["a","b","c"]}'


def asked(op, schema, **members):
    """What the reference answers, without the message, as it would arrive."""
    told = json.loads(json.dumps(answer({"op": op, "edition": "v0", "schema": schema, **members})))
    told.get("rejected", {}).pop("message", None)
    return told


def is_right(told, right):
    return any(first_difference(each, told) is None for each in right)


def compressed(text):
    return {"blob": zstandard.ZstdCompressor().compress(text.encode()).hex()}


def of_schema(schema, row):
    """A row with the last column that the schema has; ``flag`` is that column's cell."""
    cells = {name: cell for name, cell in row.items() if name != "flag"}
    if schema == 15 and "blob" in (cells["data"] or {}):
        cells["data"] = {"text": PAYLOAD}
    return {**cells, "is_packed" if schema == 19 else "ignorable": row["flag"]}


NULL = st.none()
INTS = st.sampled_from([0, 1, 2, 3, -1, M, M + 1, -M, -M - 1]).map(lambda number: {"int": str(number)})
TYPES = st.sampled_from(["turn/start", "turn/end", "text-chunks", "tool-call-chunks", "x", ""]).map(
    lambda text: {"text": text}
)
TEXTS = [PAYLOAD, PAYLOAD.replace("[1,1]", "[1]"), "{}", "{bad", "", "null", "NaN", '"\\ud83d"', "[1] "]
FRAMES = [
    compressed(PAYLOAD), compressed("{bad"), {"blob": compressed(PAYLOAD)["blob"][:-6]}, {"blob": "28b52ffd"},
    {"blob": ""}, {"blob": "7b7d"}, {"blob": "28b52ffde1070a000000000000005100007b227475726e223a317d"},
]  # fmt: skip
DATA = st.sampled_from(TEXTS).map(lambda text: {"text": text}) | st.sampled_from(FRAMES)
BLOBS = st.sampled_from(["", "00", "0002", "000002", "010003", "80", "0301"]).map(
    lambda digits: {"blob": digits}
)
OPS = st.sampled_from(['"append"', "append", "", "null", '{"op":"zap"}']).map(lambda text: {"text": text})
FLAGS = st.sampled_from([0, 1, 2, -1]).map(lambda number: {"int": str(number)})
ODD = st.sampled_from([None, {"real": "0.5"}, {"text": "0"}, {"blob": "00"}, {"int": "0"}])
SOURCES_15 = st.sampled_from(["[0,1]", "[0,", '{"a":1}', "[]"]).map(lambda text: {"text": text})


@st.composite
def rows(draw, schema):
    """A row of the schema; only from 17 on with cells that a table would not hold."""
    row = {
        "seq": draw(INTS),
        "type": draw(TYPES),
        "time": draw(INTS),
        "data": draw(DATA),
        "source_event_seqs": draw(NULL | (SOURCES_15 if schema == 15 else BLOBS)),
        "surface_op": draw(NULL | OPS),
        "flag": draw(FLAGS if schema == 19 else NULL | FLAGS),
    }
    if schema != 15 and draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from(sorted(row)))
        if not (schema == 19 and name == "flag"):  # of a flag that is no number two faults may be told
            row[name] = draw(ODD)
    return of_schema(schema, row)


@settings(max_examples=800, deadline=None)
@given(st.data(), st.sampled_from(SCHEMAS))
def test_rows_at_random(data, schema):
    row = data.draw(rows(schema))
    told = asked("rows.decode", schema, row=row)
    assert is_right(told, oracle.decode(schema, row)), (told, oracle.decode(schema, row))


@st.composite
def logs(draw, schema):
    """A log with perhaps one thing wrong in two of its rows, and a base."""
    base = draw(st.sampled_from([0, 0, 3]))
    log, seq = [], base
    for _ in range(draw(st.integers(0, 6))):
        packed = schema != 15 and draw(st.integers(0, 3)) == 0
        kind = "text-chunks" if packed else draw(st.sampled_from(["turn/start", "turn/end", "x"]))
        flag = {"int": "1" if schema == 19 else "0"} if packed else {"int": "0"} if schema == 19 else None
        row = {
            "seq": {"int": str(seq)}, "type": {"text": kind}, "time": {"int": "0"}, "data": {"text": PAYLOAD},
            "source_event_seqs": None, "surface_op": None, "flag": flag,
        }  # fmt: skip
        change = draw(st.sampled_from(["", "", "", "", "data", "op", "seq", "column", "frame"]))
        if change == "data":
            row["data"] = draw(DATA)
        elif change == "op":
            row["surface_op"] = draw(OPS)
        elif change == "seq":
            row["seq"] = {"int": str(max(0, seq + draw(st.integers(-1, 1))))}
        elif change == "column" and schema != 15:
            row["type"] = draw(ODD)
        elif change == "frame":
            row["data"] = compressed(PAYLOAD)
        log.append(of_schema(schema, row))
        seq += 3 if packed else 1
    return log, base


@settings(max_examples=800, deadline=None)
@given(st.data(), st.sampled_from(SCHEMAS))
def test_logs_at_random(data, schema):
    log, base = data.draw(logs(schema))
    told = asked("rows.scan", schema, rows=log, base=base)
    assert is_right(told, oracle.scan(schema, log, base)), (told, oracle.scan(schema, log, base))


VALUES = st.sampled_from(
    [None, {}, {"turn": 1}, "é" * 2046, "a" * 4094, "a" * 4093, [1, {"a": []}], "\ud83d"]
)


@st.composite
def batches(draw):
    """Events from 5 on, so that every list is within the bound of its row; chunks among them."""
    events = []
    for seq in range(5, 5 + draw(st.integers(0, 9))):
        time = draw(st.integers(-3, 3))
        if draw(st.booleans()):
            text = draw(st.sampled_from(["a", "", "b" * 1500]))
            data = {"turn": 1, "step": 1, "chunk": {"type": "text-delta", "index": 0, "text": text}}
            events.append({"type": "assistant/chunk", "seq": seq, "time": time, "data": data})
            continue
        event = {"type": "x", "seq": seq, "time": time, "data": draw(VALUES)}
        if draw(st.booleans()):
            event["surfaceOp"] = draw(st.sampled_from(["append", {"op": "replace", "start": 0, "end": 1}]))
        if draw(st.booleans()):
            event["sourceEventSeqs"] = draw(st.sampled_from([[], [0], [0, 1, 2], [2, 1], [M]] * 4 + [[-1]]))
        if draw(st.booleans()):
            event["ignorable"] = True
        events.append(event)
    return events


@settings(max_examples=400, deadline=None)
@given(batches(), st.sampled_from(SCHEMAS))
def test_batches_at_random(events, schema):
    if schema == 19:
        events = [{name: event[name] for name in event if name != "ignorable"} for event in events]
    before = copy.deepcopy(events)
    told = asked("rows.encode", schema, events=events)
    assert events == before
    right = oracle.encode(schema, events)
    if "rejected" in right:
        assert told == right
        return
    assert first_difference(right["result"], comparable("rows.encode", told["result"])) is None
    again = asked("rows.scan", schema, rows=told["result"]["rows"], base=5)
    assert first_difference({"result": {"events": events, "tornFrom": None}}, again) is None


def test_every_length_about_the_bound_of_schema_17():
    for length in range(4080, 4100):
        (row,) = sqlite_rows.encode(17, [{"type": "x", "seq": 0, "time": 0, "data": "a" * length}])
        assert isinstance(row["data"], bytes) == (length + 2 >= 4096)


SESSIONS = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["s", "", None, 5]),
        "version": st.sampled_from([0, 1, -1, M + 1, "0"]),
        "created_at": st.sampled_from([1, 0, -1, M, M + 1]),
        "cwd": st.sampled_from([None, "/", "/a", "a", ""]),
        "parent_session": st.sampled_from([None, "", "p", 5]),
        "seed_length": st.sampled_from([None, 0, 1, -1, "1"]),
        "origin": st.sampled_from([None, "subagent", "fork", ""]),
        "delegation_depth": st.sampled_from([None, 0, 1, -1, M + 1]),
        "agent_preset": st.sampled_from([None, "", "a", 5]),
        "incarnation": st.sampled_from(["0f8fad5b-d9cb-469f-a165-70867728950e"] * 4 + ["", "x", None]),
        "revision": st.sampled_from([0, 1, -1, M]),
    }
)


def cell(value):
    return None if value is None else {"text": value} if isinstance(value, str) else {"int": str(value)}


@settings(max_examples=600, deadline=None)
@given(SESSIONS, st.sets(st.integers(0, 10), max_size=2), st.sampled_from([17, 19, 20]))
def test_rows_of_sessions_at_random(values, odd, schema):
    """Two columns at most are odd; the others are the first of what is listed for them."""
    good = dict.fromkeys(values) | {"id": "s", "version": 0, "created_at": 1, "revision": 0}
    good["incarnation"] = "0f8fad5b-d9cb-469f-a165-70867728950e"
    chosen = {name: values[name] if place in odd else good[name] for place, name in enumerate(good)}
    row = {("id" if schema == 17 else "session_key") if n == "id" else n: cell(v) for n, v in chosen.items()}
    assert is_right(asked("rows.session", schema, row=row), oracle.session(schema, row))


ORACLES = {"decode": oracle.decode, "scan": oracle.scan, "session": oracle.session}
CASES = [case for case in load_corpus() if case.op.startswith("rows.")]


@pytest.mark.parametrize("op", ["encode", "decode", "scan", "session"])
def test_the_oracle_answers_every_case(op):
    cases = [case for case in CASES if case.op == f"rows.{op}"]
    assert len(cases) > 80
    for case in cases:
        schema = int(re.search(r"@(\d+)", case.capability)[1])
        request = {
            name.removesuffix("_text"): parse_exact(value) if name.endswith("_text") else value
            for name, value in case.request.items()
        }
        right = [oracle.encode(schema, **request)] if op == "encode" else ORACLES[op](schema, **request)
        for alternative in case.expect.alternatives:
            told = {
                name.removesuffix("_text"): parse_exact(value) if name.endswith("_text") else value
                for name, value in alternative.value.items()
            }
            told = comparable(case.op, told) if alternative.kind == "result" else told
            if case.expect.kind == "single":
                assert is_right({alternative.kind: told}, right), (case.id, right)


@pytest.mark.parametrize(
    ("fault", "value", "topic"),
    [
        ("LEAST_COMPRESSED", 4097, "sqlite/rows-encode-17"),
        ("FRAME_MAGIC", b"x", "sqlite/rows-dictionary-19"),
        ("PIECE", 0, "sqlite/rows-decode-17"),
    ],
)
def test_a_fault_is_found_by_the_cases(monkeypatch, fault, value, topic):
    def differing():
        for case in CASES:
            if case.topic == topic and case.expect.kind == "single":
                told = asked(case.op, int(topic[-2:]), **case.request)
                (right,) = case.expect.alternatives
                if right.kind in told and right.kind == "result":
                    pair = (comparable(case.op, right.value), comparable(case.op, told["result"]))
                    if "events_text" in right.value or first_difference(*pair) is None:
                        continue
                elif told == {right.kind: right.value}:
                    continue
                yield case.id

    assert list(differing()) == []
    monkeypatch.setattr(sqlite_rows, fault, value)
    assert list(differing()) != []
