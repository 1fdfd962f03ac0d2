"""Tokens: values that only an implementation can choose, compared with those of other steps."""

from __future__ import annotations

import dataclasses

import pytest

from conformance.cases import expectation
from conformance.corpus import load_corpus
from conformance.judge import Judge
from conformance.ledger import load_ledger
from conformance.protocol import Answer
from conformance.tokens import references, with_tokens

SAME, OTHER, ANY = {"$same": 0}, {"$other": 0}, {"$any": "token"}
EARLIER = [{"result": {"revision": "r1", "list": [{"at": "x"}]}}, {"rejected": {}}, {"result": {}}]


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        (ANY, "r7", True),
        (ANY, "", False),
        (ANY, None, False),
        (ANY, 7, False),
        ({"$any": "time"}, 7, True),
        ({"$any": "time"}, "7", False),
        ({"$any": "time"}, True, False),
        ({"$any": "time"}, 2**53, False),
        (SAME, "r1", True),
        (SAME, "r2", False),
        (OTHER, "r2", True),
        (OTHER, "r1", False),
        (OTHER, "", False),
        (OTHER, None, False),
        ({"$other": [0, 1, 2]}, "r2", True),
        ({"$other": [2, 0]}, "r1", False),
        ({"$same": 1}, "r1", False),
        ({"$same": 2}, None, False),
    ],
)
def test_a_token_takes_what_it_stands_for(expected, found, same):
    wanted = with_tokens({"revision": expected}, {"revision": found}, EARLIER)
    assert (wanted == {"revision": found}) is same


def test_same_is_the_same_place_of_the_other_answer():
    expected = {"list": [{"at": {"$same": 0}}]}
    assert with_tokens(expected, {"list": [{"at": "x"}]}, EARLIER) == {"list": [{"at": "x"}]}
    assert with_tokens(expected, {"list": [{"at": "r1"}]}, EARLIER) == {"list": [{"at": "x"}]}


def test_what_only_looks_like_a_token_is_none():
    plain = {"$any": "colour", "beside": 1}
    assert with_tokens(plain, {"$any": "red", "beside": 1}, EARLIER) == plain


def test_the_steps_that_are_named_are_found():
    assert list(references({"a": [{"$same": 3}], "b": {"$other": [1, 2]}, "c": {"$any": "token"}})) == [
        3,
        1,
        2,
    ]


@pytest.mark.parametrize(
    ("found", "status", "place"),
    [
        (["a", "a", "b"], "pass", None),
        (["a", "b", "b"], "fail", "steps[1].revision"),
        (["a", "a", "a"], "fail", "steps[2].revision"),
        (["", "", "b"], "fail", "steps[0].revision"),
    ],
)
def test_the_judge_compares_across_steps(found, status, place):
    (case,) = [each for each in load_corpus() if each.id == "backend.contract.revision-of-others"]
    told = {"steps": [{"result": {"revision": token}} for token in ({"$any": "token"}, SAME, OTHER)]}
    case = dataclasses.replace(case, expect=expectation(told))
    answer = Answer("result", {"steps": [{"result": {"revision": each}} for each in found]})
    verdict = Judge(load_ledger()).verdict(case, answer)
    assert verdict.status == status
    assert (verdict.difference.path if verdict.difference else None) == place


def test_a_difference_shows_the_earlier_value():
    wanted = with_tokens({"revision": SAME}, {"revision": "r9"}, EARLIER)
    assert wanted == {"revision": "r1"}
