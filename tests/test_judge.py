"""Verdicts: every kind of expectation against every kind of answer."""

from __future__ import annotations

import dataclasses

import pytest
from support import sample_cases

from conformance.cases import expectation
from conformance.judge import Judge
from conformance.ledger import load_ledger
from conformance.protocol import KINDS, Answer, read_answer

RESULT = {"result": {"nodes": [0]}}
REJECTED = {"rejected": {"condition": "replace-start-absent", "at": 2}}
KNOWN_TEXT = "surface replace: start seq 7 not found in surface"
OTHER_TEXT = "surface replace: end seq 7 not found in surface"


@pytest.fixture
def judged(tmp_path):
    (case,) = sample_cases(tmp_path)

    def verdict(expect, answer, strict=()):
        changed = dataclasses.replace(case, expect=expectation(expect))
        return Judge(load_ledger(), frozenset(strict)).verdict(changed, answer)

    return verdict


def test_a_right_result_passes(judged):
    assert judged(RESULT, Answer("result", {"nodes": [0.0]})).status == "pass"


def test_a_wrong_result_fails_with_its_place(judged):
    verdict = judged(RESULT, Answer("result", {"nodes": [1]}))
    assert (verdict.status, verdict.fault) == ("fail", "implementation")
    assert verdict.difference.path == "nodes[0]"


def test_an_unasked_member_fails(judged):
    assert judged(RESULT, Answer("result", {"nodes": [0], "more": 1})).difference.path == "more"


def test_a_member_spelled_as_text_is_the_same_member(judged):
    assert judged(RESULT, Answer("result", {"nodes_text": "[0]"})).status == "pass"
    assert judged({"result": {"nodes_text": "[0.0]"}}, Answer("result", {"nodes": [0]})).status == "pass"
    assert judged(RESULT, Answer("result", {"nodes_text": "[0"})).status == "adapter-error"
    assert judged(RESULT, Answer("result", {"nodes_text": 5})).status == "adapter-error"


@pytest.mark.parametrize(
    ("kind", "status", "fault"),
    [
        ("crashed", "crashed", "implementation"),
        ("died", "crashed", "implementation"),
        ("hung", "timeout", "implementation"),
        ("unsupported", "unsupported", "adapter"),
        ("error", "adapter-error", "adapter"),
        ("malformed", "adapter-error", "adapter"),
        ("not-run", "not-run", "runner"),
    ],
)
@pytest.mark.parametrize("expect", [RESULT, REJECTED])
def test_nothing_but_a_result_or_a_clean_refusal_passes(judged, kind, status, fault, expect):
    verdict = judged(expect, Answer(kind, "why", "last words"))
    assert (verdict.status, verdict.fault, verdict.message, verdict.stderr) == (
        status,
        fault,
        "why",
        "last words",
    )


def test_kinds_do_not_stand_for_each_other(judged):
    accepted = judged(REJECTED, Answer("result", {"nodes": []}))
    assert (accepted.status, accepted.message) == ("fail", "accepted what must be refused")
    refused = judged(RESULT, Answer("rejected", {}))
    assert (refused.status, refused.message) == ("fail", "refused what must be accepted")


@pytest.mark.parametrize(
    ("found", "condition", "position"),
    [
        ({}, "not-given", "not-given"),
        ({"condition": "replace-start-absent", "at": 2}, "same", "same"),
        ({"condition": "replace-end-absent", "at": 1}, "other", "other"),
        ({"message": KNOWN_TEXT}, "same", "not-given"),
        ({"message": OTHER_TEXT}, "other", "not-given"),
        ({"message": "something went wrong"}, "not-given", "not-given"),
        ({"condition": "replace-end-absent", "message": KNOWN_TEXT}, "other", "not-given"),
    ],
)
def test_condition_and_position_are_scored_and_count_only_when_strict(judged, found, condition, position):
    answer = Answer("rejected", found)
    verdict = judged(REJECTED, answer)
    assert (verdict.status, verdict.condition, verdict.position) == ("pass", condition, position)
    assert (judged(REJECTED, answer, ["condition"]).status == "pass") == (condition == "same")
    assert (judged(REJECTED, answer, ["position"]).status == "pass") == (position == "same")


def test_a_position_that_is_not_expected_is_not_scored(judged):
    expect = {"rejected": {"condition": "replace-start-absent"}}
    verdict = judged(expect, Answer("rejected", {"condition": "replace-start-absent", "at": 5}), ["position"])
    assert (verdict.status, verdict.position) == ("pass", None)


EITHER = {
    "either": [REJECTED, {"rejected": {"condition": "seq-not-contiguous"}}, {"crashed": True}],
    "reason": "made up for a test",
}


@pytest.mark.parametrize(
    ("answer", "branch"),
    [
        (Answer("rejected", {"condition": "replace-start-absent", "at": 2}), 0),
        (Answer("rejected", {"condition": "seq-not-contiguous"}), 1),
        (Answer("crashed", "TypeError"), 2),
        (Answer("died", "SIGSEGV"), 2),
    ],
)
def test_either_shows_its_branch(judged, answer, branch):
    verdict = judged(EITHER, answer, ["condition", "position"])
    assert (verdict.status, verdict.branch) == ("either", branch)


@pytest.mark.parametrize("answer", [Answer("result", {}), Answer("hung", "x"), Answer("error", "x")])
def test_either_is_not_anything(judged, answer):
    assert judged(EITHER, answer).status not in ("pass", "either")


def test_any_of_passes_with_any(judged):
    expect = {"any_of": [{"result": {"hex": "00"}}, {"result": {"hex": "01"}}]}
    assert judged(expect, Answer("result", {"hex": "01"})).status == "pass"
    assert judged(expect, Answer("result", {"hex": "02"})).difference.expected == "00"


@pytest.mark.parametrize(
    "message",
    [
        {}, {"result": [], "id": 1}, {"result": None}, {"rejected": True}, {"rejected": {"at": -1}},
        {"rejected": {"at": True}}, {"rejected": {"condition": 1}}, {"rejected": {"message": None}},
        {"crashed": {}}, {"error": None}, {"result": {}, "rejected": {}}, {"results": {}},
    ],
)  # fmt: skip
def test_messages_that_are_no_answers(message):
    assert read_answer(message).kind == "malformed"


def test_the_five_kinds_are_read():
    values = {"result": {}, "rejected": {}}
    for kind in KINDS:
        assert read_answer({"id": 1, kind: values.get(kind, "text")}).kind == kind
