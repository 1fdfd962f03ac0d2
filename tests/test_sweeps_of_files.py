"""Sweeps of real files: the stores of the reference keep all their laws, and a broken backend is found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.adapters import reference_stores
from conformance.adapters.inprocess import InProcess
from conformance.adapters.registry import resolve
from conformance.cli import main
from conformance.errors import AdapterError, UsageError
from conformance.sweeps import real_files
from conformance.sweeps.damages import KINDS
from conformance.sweeps.real_files import fault_of_closers, sweep_files
from conformance.sweeps.real_log import log_of, write_good_log
from conformance.sweeps.saved import repeat, save

COUNT = 12
STRIDES = {"cut": 60, "tear": 60, "repeat": 1, "flip-committed": 61, "flip-open": 61}


@pytest.mark.parametrize("name", ["jsonl", "jsonl-zstd"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_store_keeps_the_laws(kind, name):
    verdict, real = sweep_files(resolve(f"store:{name}").connect(), kind, COUNT, STRIDES[kind])
    assert (verdict.failures, verdict.first) == (0, None)
    assert verdict.checks == sum(verdict.outcomes.values()) > 2
    assert len(real.log.events) == COUNT


@pytest.mark.parametrize("schema", [15, 20])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("left_behind", [False, True], ids=["pages", "log"])
def test_a_database_keeps_the_laws(kind, schema, left_behind):
    """Never a crash, never a row that is gone without a word; and of a log, the whole transactions before."""
    stride = {15: 3000, 20: 60_000}[schema]
    connection = resolve(f"store:sqlite{schema}").connect()
    verdict, _ = sweep_files(connection, kind, COUNT, stride, left_behind=left_behind)
    assert (verdict.failures, verdict.first) == (0, None)
    assert verdict.checks == sum(verdict.outcomes.values()) > 2
    assert verdict.outcomes["crashed"] == 0
    if left_behind:
        assert verdict.outcomes == {"loaded": verdict.checks}


def test_a_write_ahead_log_is_told_apart_into_frames(tmp_path):
    real = write_good_log(resolve("store:sqlite15").connect(), tmp_path, COUNT)
    log = real.left_behind().log
    assert len(real.states) == len(real.written) == 3
    assert {part.end - part.start for part in log.parts[1:]} == {24 + 4096}
    assert [log.parts[0].count, log.parts[-1].count] == [5, COUNT]
    assert next(part.end for part in log.parts if part.count == 10) == log.last_write
    assert list(real.left_behind().beside) == [real.name]


@pytest.mark.parametrize("name", ["jsonl", "jsonl-zstd"])
def test_the_file_is_told_apart_into_what_is_whole_or_torn(name, tmp_path):
    log = write_good_log(resolve(f"store:{name}").connect(), tmp_path, COUNT).log
    assert [part.start for part in log.parts[1:]] == [part.end for part in log.parts[:-1]]
    assert (log.parts[0].start, log.parts[-1].end) == (0, len(log.data))
    assert (log.parts[0].count, log.parts[-1].count) == (0, COUNT)
    assert max(part.count for part in log.parts if part.end <= log.last_write) == 10


def with_fault(change, name="jsonl"):
    """A store of the reference whose answers, step by step, or files are changed."""
    honest = reference_stores.adapter(name)

    def answer(request):
        told = honest(request)
        if request["op"] == "backend" and "result" in told:
            for step, found in zip(request["steps"], told["result"]["steps"], strict=True):
                change(step, found, Path(request["root"]))
        return told

    return InProcess(answer)


def loses_an_event(step, found, _root):
    if "load" in step and "result" in found:
        found["result"]["events"] = found["result"]["events"][1:]


def inspects_with_a_pen(step, _found, root):
    if "inspect" in step:
        for path in root.rglob("*.jsonl"):
            path.write_bytes(path.read_bytes() + b" ")


def writes_where_it_refuses(step, found, root):
    if "load" in step and "rejected" in found:
        for path in root.rglob("*.jsonl"):
            path.write_bytes(path.read_bytes()[:-1])


def closes_nothing(step, found, _root):
    if ("load" in step or "inspect" in step) and "result" in found:
        events = found["result"]["events"]
        if events and events[-1]["data"].get("reason") == {"kind": "interrupted"}:
            events.pop()


def papers_over(step, found, _root):
    if ("load" in step or "inspect" in step) and found.get("rejected", {}).get("condition") == "jsonl-gap":
        found.clear()
        found["result"] = {"header": {}, "events": []}


def refuses_all_damage(step, found, _root):
    if ("load" in step or "inspect" in step) and len(found.get("result", {}).get("events", [])) < COUNT:
        found.clear()
        found["rejected"] = {"condition": "jsonl-line"}


def takes_no_more(step, found, _root):
    if "append" in step and step["append"]["events"][0]["data"].get("turn") == 900:
        found.clear()
        found["rejected"] = {"message": "no"}


def falls_over(step, found, _root):
    if "load" in step and "rejected" in found:
        found.clear()
        found["crashed"] = "TypeError"


FAULTS = [
    (loses_an_event, "cut", "an inspection told"),
    (inspects_with_a_pen, "cut", "an inspection changed the files"),
    (writes_where_it_refuses, "repeat", "a load that was refused changed the files"),
    (closes_nothing, "cut", "with an open turn"),
    (papers_over, "repeat", "of a log that is to be refused"),
    (refuses_all_damage, "cut", "where events are to be kept"),
    (takes_no_more, "cut", "cannot be appended to"),
    (falls_over, "repeat", "a load was answered with"),
]


@pytest.mark.parametrize(("fault", "kind", "told"), FAULTS, ids=[each[0].__name__ for each in FAULTS])
def test_a_fault_is_found_and_repeated_from_its_file(fault, kind, told, tmp_path):
    connection = with_fault(fault)
    verdict, real = sweep_files(connection, kind, COUNT, 400)
    assert verdict.first is not None
    assert told in verdict.first.told
    _, saved = save(tmp_path, real.log, verdict, COUNT, files=True)
    assert json.loads(saved.read_text())["offset"] == verdict.first.damage.offset
    assert repeat(connection, saved).first == verdict.first
    assert repeat(resolve("store:jsonl").connect(), saved).failures == 0


def gives_less(step, found, _root):
    """What an index without its last page would give, or a log of which a transaction was not found."""
    if {"load", "inspect"} & step.keys() and found.get("result", {}).get("events"):
        found["result"]["events"] = found["result"]["events"][:-5]


def gives_nothing(step, found, _root):
    if {"load", "inspect"} & step.keys() and "rejected" in found:
        found.clear()
        found["result"] = {"header": {}, "events": []}


def refuses_a_torn_log(step, found, _root):
    if {"load", "inspect"} & step.keys() and len(found.get("result", {}).get("events", [])) < COUNT:
        found.clear()
        found["rejected"] = {"message": "the log is damaged"}


def inspects_a_database_with_a_pen(step, _found, root):
    if "inspect" in step:
        for path in root.rglob("*.db"):
            path.write_bytes(path.read_bytes() + b" ")


@pytest.mark.parametrize(
    ("fault", "kind", "left_behind", "told"),
    [
        (inspects_a_database_with_a_pen, "cut", False, "an inspection changed the files"),
        (gives_nothing, "cut", False, "without a word"),
        (gives_less, "flip-committed", False, "without a word"),
        (gives_less, "cut", True, "are to be kept"),
        (refuses_a_torn_log, "cut", True, "where events are to be kept"),
    ],
)
def test_a_fault_with_a_database_is_found_and_repeated(fault, kind, left_behind, told, tmp_path):
    connection = with_fault(fault, "sqlite15")
    verdict, real = sweep_files(connection, kind, COUNT, 9000, left_behind=left_behind)
    assert verdict.first is not None
    assert told in verdict.first.told
    _, saved = save(tmp_path, real.log, verdict, COUNT, files=True)
    assert repeat(connection, saved).first == verdict.first
    assert repeat(resolve("store:sqlite15").connect(), saved).failures == 0


@pytest.mark.parametrize("result", [{}, {"events": 5}, {"events": [5]}, {"events_text": "["}, 5])
@pytest.mark.parametrize("name", ["jsonl", "sqlite15"])
def test_what_is_no_answer_is_a_failure_with_its_offset(result, name):
    def change(step, found, _root):
        if "load" in step:
            found.clear()
            found["result"] = result

    verdict, _ = sweep_files(with_fault(change, name), "cut", COUNT, 100_000)
    assert verdict.first is not None
    assert verdict.failures == verdict.outcomes["malformed"] > 0
    assert "malformed" in verdict.first.told


@pytest.mark.parametrize("result", [{}, {"steps": 5}, {"steps": []}, {"steps": [5]}])
def test_nor_is_a_request_that_was_answered_with_something_else(result):
    honest = reference_stores.adapter("jsonl")

    def answer(request):
        if request["op"] == "backend" and "load" in request["steps"][0]:
            return {"result": result}
        return honest(request)

    verdict, _ = sweep_files(InProcess(answer), "cut", COUNT, 100_000)
    assert verdict.failures == verdict.checks == verdict.outcomes["malformed"]


def test_a_sweep_without_a_check_has_not_passed(monkeypatch):
    monkeypatch.setattr(real_files, "damages", lambda *_: iter([]))
    with pytest.raises(UsageError, match="there is no such damage"):
        sweep_files(resolve("store:jsonl").connect(), "tear", 6, 100)


def test_closers_stand_behind_open_turns_only():
    start = {"type": "turn/start", "data": {}}
    end = {"type": "turn/end", "data": {}}
    assert fault_of_closers([start, end], 1) is None
    assert fault_of_closers([start, end], 2) is None
    assert "no open turn" in str(fault_of_closers([start, end, end], 2))
    assert "an open turn" in str(fault_of_closers([start], 1))
    assert "does not close" in str(fault_of_closers([start, start, end], 1))


def test_a_backend_that_keeps_something_else_is_told_so(tmp_path):
    with pytest.raises(AdapterError, match="declares one of"):
        write_good_log(resolve("reference").connect(), tmp_path, COUNT)
    with pytest.raises(AdapterError, match="one line for each event"):
        log_of(b"{}\n", "none", [[{"type": "x"}]])


def test_the_command(capsys):
    assert main(["sweep", "store:jsonl", "--files", "--events", "6", "--stride", "300", "--kind", "cut"]) == 0
    assert "pass cut, plain, real files: " in capsys.readouterr().out
