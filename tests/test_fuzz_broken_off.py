"""Runs that end before their time: what was found until then is whole, told, and saved."""

from __future__ import annotations

import errno
import json
import sys
import time
from pathlib import Path

import pytest
from fuzz_ports import altered, mutant, spec

from conformance.adapters.registry import resolve
from conformance.errors import ExitCode, UsageError
from conformance.fuzzing import law_runs, parties
from conformance.fuzzing.parties import Table
from conformance.fuzzing.reporting import Report
from conformance.fuzzing.session import Wanted, run_all

PANICKY = """\
import json, sys
from conformance.adapters import reference
for line in sys.stdin:
    request = json.loads(line)
    if request.get("op") == "hello":
        answer = reference.answer(request)
    else:
        answer = reference.answer(request)
        if "rejected" in answer:
            sys.stderr.write("thread panicked: index out of range\\n")
            sys.exit(101)
    print(json.dumps({"id": request["id"], **answer}), flush=True)
"""


def run(port, *, laws=False, **wanted):
    with Table.open([spec(port), resolve("reference")]) as table:
        result = run_all(table, Wanted(laws=laws, **wanted))
        return result, Report(result, table)


def never_empty(result):
    return all(each.members for each in result.differential.differences.values())


def test_what_was_found_beside_a_fault_says_what_was_asked(tmp_path):
    lawful = mutant("replace.start-is-an-index")

    def helpless_at_times(request):
        answer = lawful(request)
        return {"error": "no idea"} if request.get("events") == [] else answer

    result, report = run(helpless_at_times, op="fold", examples=1000)
    assert result.differential.faults
    assert result.differential.differences
    assert never_empty(result)
    assert report.exit_code() == ExitCode.ADAPTER
    for place, _ in report.save(tmp_path):
        assert json.loads(place.read_text())["request"]


def test_a_fault_is_told_once():
    result, _ = run(altered("fold", lambda *_: {"error": "no idea"}), op="fold", examples=1000)
    assert len(result.differential.faults) == 1


@pytest.mark.parametrize("laws", [False, True])
def test_ctrl_c_leaves_what_was_found(monkeypatch, laws):
    port = mutant("replace.start-is-an-index")
    if laws:

        def interrupt(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr(law_runs, "one_batch", interrupt)
        result, report = run(port, op="fold", examples=1000, laws=True)
    else:
        left = [1500]

        def until_then(request):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return port(request)

        result, report = run(until_then, op="fold", examples=5000)
    assert result.interrupted
    assert result.differential.differences
    assert never_empty(result)
    assert result.differential.seconds > 0
    assert report.exit_code() == ExitCode.INTERRUPTED
    assert "broken off" in report.summary()


def test_a_process_that_dies_too_often_is_a_difference_and_not_the_adapters_fault(tmp_path, monkeypatch):
    (tmp_path / "panicky.py").write_text(PANICKY)
    port = resolve(f"stdio:{sys.executable} {tmp_path / 'panicky.py'}")
    with Table.open([port, resolve("reference")]) as table:
        result = run_all(table, Wanted(op="fold", examples=600, laws=False))
        report = Report(result, table)
        told = "\n".join(report.lines())
    assert result.differential.given_up
    assert not result.differential.faults
    assert report.exit_code() == ExitCode.DIFFERS
    assert told.count("given up: ") == 1
    assert "its last words: thread panicked: index out of range" in told
    assert "adapter at fault" not in told
    assert never_empty(result)


def test_answers_that_do_not_come_end_a_run_soon(monkeypatch):
    monkeypatch.setattr(parties, "MOST_HUNG", 2)
    asleep = altered("fold", lambda request, answer: time.sleep(30) or answer)
    sleepy = spec(asleep)
    limited = type(sleepy)("mine", factory=sleepy.factory, limits=type(sleepy.limits)(answer_seconds=0.2))
    begins = time.monotonic()
    with Table.open([limited, resolve("reference")]) as table:
        result = run_all(table, Wanted(op="fold", examples=3000, laws=True))
    assert time.monotonic() - begins < 10
    assert result.differential.given_up == ["mine: 2 answers did not come in time before it"]
    assert [each.answers["mine"].kind for each in result.differential.differences.values()] == ["hung"] * len(
        result.differential.differences
    )
    assert not result.laws.checked


@pytest.mark.parametrize(
    "op", ["normalise", "jsonl.path", "jsonl.scan", "admit@restored", "fork", "chunks.pack@jsonl"]
)
def test_an_operation_that_judges_shapes_is_asked_of_typed_ports_too(op):
    wrong = altered(op.partition("@")[0], lambda request, answer: {"result": {"wrong": 1}})
    result, _ = run(wrong, op=op, examples=60)
    assert result.differential.counts[op].total() == 60
    assert result.differential.differences
    for difference in result.differential.differences.values():
        assert not any(name.endswith("_text") for name in difference.members)


@pytest.mark.parametrize(
    ("op", "told"),
    [
        ("nosuch", "no operation is called 'nosuch'; there are admit, backend"),
        ("rows.decode@18", "no operation is called 'rows.decode@18'"),
    ],
)
def test_an_operation_that_nobody_knows_is_told(op, told):
    with pytest.raises(UsageError, match=told):
        run(mutant("replace.start-is-an-index"), op=op, examples=10)


def test_an_operation_that_a_port_does_not_declare_is_told():
    small = altered(
        "hello", lambda request, answer: {"result": {**answer["result"], "capabilities": ["fold"]}}
    )
    with pytest.raises(UsageError, match="the adapters do not all declare normalise"):
        run(small, op="normalise", examples=10)


@pytest.mark.parametrize("laws", [False, True])
def test_a_run_without_time_still_asks(laws):
    result, report = run(mutant("replace.start-is-an-index"), op="fold", seconds=0.000001, laws=laws)
    assert result.differential.inputs > 0
    assert report.exit_code() == ExitCode.DIFFERS


def test_a_finding_is_saved_whole_or_not_at_all(tmp_path, monkeypatch):
    _, report = run(mutant("replace.start-is-an-index"), op="fold", examples=300)
    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(UsageError, match=r"finding .* cannot be written: No space left"):
        list(report.save(tmp_path))
    assert list(tmp_path.iterdir()) == []


def full_disk(path, content):
    with path.open("wb") as stream:
        stream.write(content[:10])
    raise OSError(errno.ENOSPC, "No space left on device")
