"""What several test files need: small vector files, doubles, and runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from conformance.adapters.limits import Limits
from conformance.adapters.registry import AdapterSpec
from conformance.cases import Case
from conformance.corpus import load_corpus
from conformance.engine import Options, run
from conformance.ledger import load_ledger

DOUBLES = Path(__file__).with_name("doubles.py")
QUICK = Limits(answer_seconds=1.0, hello_seconds=3.0, exit_seconds=1.0, restarts=20)

HEAD = """\
format: 1
topic: sample
edition: v0
op: {op}
evidence: {{facts: made up for a test of the runner}}
cases:
"""

WRONG = (
    HEAD.format(op="fold")
    + """\
  - id: sample.wrong
    rules: [FOLD-2]
    why: It expects what is not so.
    request: {events: [{user: a}]}
    expect: {result: {nodes: [7], replacements: [], replaceGeneration: 0}}
"""
)
"""A vector file of one case, which expects what is not so: the reference fails it at nodes[0]."""


def vector_text(count: int = 1, op: str = "fold", poison: int | None = None) -> str:
    """A vector file of ``count`` cases that the reference passes; the ``poison`` one holds that word."""
    lines = [HEAD.format(op=op)]
    for index in range(count):
        word = "poison" if index == poison else f"hello {index}"
        lines.append(
            f"  - id: sample.case-{index}\n"
            "    rules: [FOLD-2]\n"
            "    why: It appends.\n"
            f"    request: {{events: [{{user: {word}}}, {{turn/end: 1}}]}}\n"
            "    expect: {result: {nodes: [0], replacements: [], replaceGeneration: 0}}\n"
        )
    return "".join(lines)


def sample_cases(folder: Path, count: int = 1, poison: int | None = None) -> list[Case]:
    file = folder / "sample.yaml"
    file.write_text(vector_text(count, poison=poison))
    return load_corpus([file])


def double_argv(*words: str) -> list[str]:
    return [sys.executable, str(DOUBLES), *words]


def double_name(*words: str) -> str:
    return "stdio:" + shlex.join(double_argv(*words))


def run_double(
    cases: Sequence[Case], *words: str, limits: Limits = QUICK, jobs: int = 1, strict: Sequence[str] = ()
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Verdict records by case id, and the end record; each case must have exactly one verdict."""
    spec = AdapterSpec("double", command=lambda: double_argv(*words), limits=limits)
    records = list(run(cases, spec, load_ledger(), Options(jobs=jobs, strict=frozenset(strict))))
    by_case: dict[str, dict[str, Any]] = {}
    for record in records[1:-1]:
        assert record["record"] == "verdict"
        assert record["case"] not in by_case
        by_case[record["case"]] = record
    assert by_case.keys() == {case.id for case in cases}
    return by_case, records[-1]


def in_process(function: Callable[[dict[str, Any]], Any]) -> AdapterSpec:
    """An adapter that is a function here."""
    return AdapterSpec("here", factory=lambda: function)
