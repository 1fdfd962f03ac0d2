"""Evidence: a case that says the published package answers it is answered by it; no other case could be."""

from __future__ import annotations

import os

import pytest

from conformance.adapters.dsh import node
from conformance.adapters.registry import resolve
from conformance.corpus import load_corpus
from conformance.engine import Options, run
from conformance.errors import AdapterError
from conformance.ledger import load_ledger


@pytest.fixture(scope="module")
def statuses() -> dict[str, str]:
    strict = frozenset(("condition", "position"))
    try:
        records = list(run(load_corpus(), resolve("dsh"), load_ledger(), Options(strict=strict)))
    except AdapterError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the published package cannot be run here: {error}")
    return {record["case"]: record["status"] for record in records[1:-1]}


def needs_storage(case) -> bool:
    """Whether the case is asked of the storage packages, which want a newer Node than the others."""
    return case.op.startswith("jsonl.")


@pytest.fixture(scope="module")
def stores() -> bool:
    """Whether a Node is here that runs the storage packages; in CI there has to be one."""
    try:
        version = node.version_of(node.find_node(node.STORAGE_NODE))
    except node.DshUnavailable as error:
        pytest.skip(str(error))
    assert version >= node.STORAGE_NODE or os.environ.get("CI") != "true"
    return version >= node.STORAGE_NODE


def test_what_the_package_is_said_to_answer_it_answers(statuses, stores):
    cases = [case for case in load_corpus() if stores or not needs_storage(case)]
    claimed = [case.id for case in cases if "dsh" in case.evidence]
    assert len(claimed) > 400
    assert {case: statuses[case] for case in claimed if statuses[case] not in ("pass", "either")} == {}


def test_what_the_package_can_answer_says_so(statuses):
    silent = [case.id for case in load_corpus() if "dsh" not in case.evidence]
    assert {case: statuses[case] for case in silent if statuses[case] != "undeclared"} == {}
