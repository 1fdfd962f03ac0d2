"""The engine: streams, scores, repetition, profiles, and what must never count as a pass."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from support import HEAD, QUICK, double_argv, in_process, run_double, sample_cases

from conformance import schemas
from conformance.adapters.limits import Limits
from conformance.adapters.reference import answer
from conformance.adapters.registry import AdapterSpec
from conformance.corpus import load_corpus, load_file
from conformance.engine import Options, run
from conformance.ledger import load_ledger
from conformance.profiles import TOPICS, belongs, findings, freeze, load_profile


def stream(cases, spec, **options):
    records = list(run(cases, spec, load_ledger(), Options(**options)))
    for record in records:
        assert schemas.fault("result-stream", record) is None, record
    return records


def all_answers(reply):
    """An adapter that greets and then always answers the same."""
    return lambda request: answer(request) if request["op"] == "hello" else reply


class Evil(dict):
    def __eq__(self, other):
        raise RuntimeError("compared")

    __hash__ = None

    def __repr__(self):
        raise RuntimeError("shown")


def nested(levels):
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "reply",
    [
        {"rejected": {}},
        {"rejected": {"condition": "replace-start-absent", "at": 0}},
        {"crashed": "TypeError"},
        {"error": "no"},
        {"unsupported": "no"},
        {"result": {}},
        {"result": {"steps": []}},
        {"result": {"steps": [1] * 9}},
        {"result": {1: 2}},
        {"result": {"nodes": {1, 2}}},
        {"result": {"nodes": float("nan")}},
        {"result": {"nodes": nested(5000)}},
        {"result": {"nodes": nested(900)}},
        {"result": {"nodes": 10**5000}},
        {"result": Evil()},
        {"crashed": "\ud800 \x1b[31m"},
        {},
        [],
        None,
        "text",
    ],
    ids=lambda reply: type(reply).__name__,
)
def test_whatever_is_answered_every_case_gets_one_verdict_and_none_passes_by_accident(reply):
    cases = [case for case in load_corpus() if case.expect.kind not in ("either", "family")]
    records = stream(cases, in_process(all_answers(reply)))
    assert [record["record"] for record in records] == ["start", *["verdict"] * len(cases), "end"]
    passed = [record["case"] for record in records[1:-1] if record["status"] == "pass"]
    refusing = {case.id for case in cases if any(a.kind == "rejected" for a in case.expect.alternatives)}
    assert set(passed) <= (refusing if isinstance(reply, dict) and "rejected" in reply else set())


@pytest.mark.parametrize(
    "raised", [ValueError("x"), SystemExit(0), RecursionError(), GeneratorExit(), MemoryError()]
)
def test_whatever_is_raised_is_a_crash_of_its_case(tmp_path, raised):
    def function(request):
        if request["op"] == "hello":
            return answer(request)
        raise raised

    records = stream(sample_cases(tmp_path, 3), in_process(function))
    assert [record["status"] for record in records[1:-1]] == ["crashed"] * 3


def test_an_adapter_in_this_process_that_hangs_is_stopped(tmp_path):
    def function(request):
        while request["op"] != "hello" and "poison" in str(request):
            pass
        return answer(request)

    spec = dataclasses.replace(in_process(function), limits=Limits(answer_seconds=0.2))
    records = stream(sample_cases(tmp_path, 5, poison=2), spec)
    assert {record["case"]: record["status"] for record in records[1:-1] if record["status"] != "pass"} == {
        "sample.case-2": "timeout"
    }


def test_an_adapter_that_swallows_the_first_alarm_is_stopped_by_a_later_one(tmp_path):
    """As Python itself does where a destructor or a callback of its collector is interrupted."""
    swallowed = []

    def function(request):
        try:
            while request["op"] != "hello" and "poison" in str(request):
                pass
        except BaseException as alarm:
            swallowed.append(alarm)
            while True:
                pass
        return answer(request)

    spec = dataclasses.replace(in_process(function), limits=Limits(answer_seconds=0.2))
    records = stream(sample_cases(tmp_path, 3, poison=1), spec)
    assert [record["status"] for record in records[1:-1]] == ["pass", "timeout", "pass"]
    assert len(swallowed) == 1


def test_requests_are_not_shared(tmp_path):
    def function(request):
        told = answer(request)
        if request["op"] != "hello":
            request["events"].clear()
        return told

    assert stream(sample_cases(tmp_path, 3), in_process(function), repeat=2)[-1]["counts"] == {"pass": 3}


def test_a_case_that_passes_sometimes_is_flaky(tmp_path):
    turn = itertools.count()

    def function(request):
        if request["op"] == "hello" or "poison" not in str(request) or next(turn) % 2:
            return answer(request)
        return {"crashed": "now and then"}

    records = stream(sample_cases(tmp_path, 4, poison=1), in_process(function), repeat=3)
    (flaky,) = [record for record in records[1:-1] if record["status"] == "flaky"]
    assert (flaky["case"], flaky["passes"]) == ("sample.case-1", "1 of 3")
    assert records[0]["repeat"] == 3
    assert records[-1]["exit"] == 1
    assert records[-1]["counts"] == {"flaky": 1, "pass": 3}


def test_the_total_limit_ends_a_run_with_a_verdict_for_every_case(tmp_path):
    limits = dataclasses.replace(QUICK, answer_seconds=60.0, total_seconds=0.5)
    verdicts, end = run_double(sample_cases(tmp_path, 5), "silent-on-case", limits=limits)
    assert {record["status"] for record in verdicts.values()} == {"not-run"}
    assert "longer than 0.5 s" in verdicts["sample.case-0"]["message"]
    assert end["exit"] == 1


def test_the_memory_limit_blames_the_case_that_eats_it(tmp_path):
    limits = dataclasses.replace(QUICK, answer_seconds=20.0, memory_mib=300)
    verdicts, end = run_double(sample_cases(tmp_path, 12, poison=7), "eats-memory", limits=limits)
    assert {case: record["status"] for case, record in verdicts.items() if record["status"] != "pass"} == {
        "sample.case-7": "crashed"
    }
    assert "MiB of memory, the limit is 300" in verdicts["sample.case-7"]["message"]
    assert end["exit"] == 1


def test_looking_for_the_event_changes_no_verdict_and_adds_no_problem(tmp_path):
    """An adapter that answers its first requests wrongly and then dies at everything."""
    spec = AdapterSpec(
        "double", command=lambda: double_argv("wrong-then-dies", str(tmp_path / "mark")), limits=QUICK
    )
    records = stream(sample_cases(tmp_path, 1), spec)
    assert records[1]["status"] == "fail"
    assert "diverges" not in records[1]
    assert records[-1]["problems"] == []
    assert records[-1]["exit"] == 1


# -- profiles ---------------------------------------------------------------------


def test_released_profiles_hold():
    assert findings(load_corpus()) == []


def test_a_changed_or_lost_case_of_a_profile_is_noticed():
    cases = [case for case in load_corpus() if belongs(case, "surface")]
    changed = dataclasses.replace(cases[0], digest="0" * 64)
    told = findings([changed, *cases[2:]])
    assert any(f"case {cases[0].id} is not what was released" in each for each in told)
    assert any(f"case {cases[1].id} is gone" in each for each in told)


def test_every_case_belongs_somewhere():
    homeless = [case.id for case in load_corpus() if not any(belongs(case, name) for name in TOPICS)]
    # The fallback is a capability of its own.
    apart = ("surface.linear-fallback",)
    assert all(name.startswith(apart) for name in homeless), homeless


def test_a_case_newer_than_the_profile_runs_and_does_not_count():
    cases = [case for case in load_corpus() if belongs(case, "tutorial")]
    profile = load_profile("tutorial")
    newer = dataclasses.replace(profile, cases={k: v for k, v in profile.cases.items() if k != cases[0].id})

    def function(request):
        told = answer(request)
        return told if request["op"] == "hello" else {"crashed": "always"}

    records = stream(cases[:1], in_process(function), profile=newer)
    assert (records[1]["status"], records[1]["scored"]) == ("crashed", False)
    assert records[-1]["exit"] == 0
    assert records[-1]["scored"] == {}
    assert stream(cases[:1], in_process(function), profile=profile)[-1]["exit"] == 1


def test_freezing_twice_gives_the_same():
    cases = load_corpus()
    assert freeze(cases, "1") == freeze(list(reversed(cases)), "1")


def test_untyped_holds_the_optional_cases_and_the_others_do_not():
    frozen = freeze(load_corpus(), "x")
    optional = {case.id for case in load_corpus() if case.optional and case.family is None}
    assert set(frozen["untyped"]["cases"]) <= optional
    assert not set(frozen["surface"]["cases"]) & optional


def test_a_capability_beside_the_operation_is_needed(tmp_path):
    file = tmp_path / "needs.yaml"
    file.write_text(
        HEAD.format(op="fold").replace("op: fold", "op: fold\nneeds: [isolation]")
        + "  - id: sample.needs\n    rules: [FOLD-2]\n    request: {events: []}\n"
        "    expect: {result: {nodes: [], replacements: [], replaceGeneration: 0}}\n"
    )

    def function(request):
        told = answer(request)
        if request["op"] == "hello":
            told["result"]["capabilities"].remove("isolation")
        return told

    (record,) = stream(load_file(file), in_process(function))[1:-1]
    assert record["status"] == "undeclared"
    assert record["message"] == "the adapter does not declare isolation"
