"""The published backends against the contract: they answer as they are said to, known failures apart."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance.adapters.dsh import hosting
from conformance.adapters.registry import resolve
from conformance.baseline import load_baseline
from conformance.corpus import load_corpus
from conformance.engine import Options, run
from conformance.errors import AdapterError
from conformance.ledger import load_ledger

KNOWN_FAILURES = Path(hosting.__file__).parent / "known_failures"
STRICT = frozenset(("condition", "position"))


@cache
def records_of(name: str) -> list[dict[str, Any]]:
    """The records of a run of all cases about backends."""
    cases = [case for case in load_corpus() if case.op == "backend"]
    listed = KNOWN_FAILURES / f"{name}.yaml"
    baseline = load_baseline(listed) if listed.exists() else None
    options = Options(strict=STRICT, baseline=baseline, whole=True)
    try:
        return list(run(cases, resolve(f"dsh-backend:{name}"), load_ledger(), options))
    except AdapterError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the published backend cannot be run here: {error}")


@pytest.mark.parametrize("name", hosting.PUBLISHED)
def test_a_published_backend_keeps_the_contract(name):
    *_, end = records_of(name)
    assert (end["exit"], end["problems"], end.get("baseline", [])) == (0, [], [])
    assert end["counts"]["pass"] >= 45


@pytest.mark.parametrize("name", ["jsonl-zstd", "sqlite14"])
def test_what_it_is_said_to_answer_it_answers_and_no_other_case_could_be(name):
    statuses = {record["case"]: record["status"] for record in records_of(name)[1:-1]}
    claimed = {case.id for case in load_corpus() if case.evidence.get("backend") == name}
    assert claimed
    assert {case: statuses[case] for case in claimed if statuses[case] != "pass"} == {}
    others = {
        case.id for case in load_corpus() if case.op == "backend" and "dsh" not in case.evidence
    } - claimed
    silent = ("undeclared", "known-failure")
    assert {case: statuses[case] for case in others if statuses[case] not in silent} == {}


def test_only_what_the_published_package_does_not_answer_is_said_of_a_backend():
    both = [case.id for case in load_corpus() if {"dsh", "backend"} <= case.evidence.keys()]
    assert both == []
