"""The tracing gate: ledger, cases and reference hold together, and the corpus reaches every branch."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import pytest

from conformance.corpus import load_corpus
from conformance.ledger import load_ledger
from conformance.matrix import Row, build_matrix, expand_ranges


def test_every_rule_is_traced():
    rows = build_matrix(load_ledger(), load_corpus())
    assert [fault for row in rows for fault in row.faults()] == []


def row(name: str, **changes) -> Row:
    rule = load_ledger().rules[name]
    return Row(dataclasses.replace(rule, **changes.pop("rule", {})), **changes)


@pytest.mark.parametrize(
    ("traced", "told"),
    [
        (row("REPL-1", accepting=["a"], functions=["f"]), "no case expects replace-start-absent"),
        (row("REPL-1", refusing=["a"], functions=["f"]), "no case shows it kept"),
        (row("REPL-1", accepting=["a"], refusing=["b"]), "no function of the reference names it"),
        (row("REPL-4", functions=["f"]), "no case shows it kept"),
        (row("FOLD-6", accepting=["a"]), "said to be untestable, but 1 cases"),
    ],
)
def test_the_gate_can_fail(traced, told):
    (fault,) = traced.faults()
    assert told in fault


@pytest.mark.parametrize(
    "traced",
    [
        row("REPL-1", accepting=["a"], refusing=["b"], functions=["f"]),
        row("LOG-1", accepting=["a"], open=["b"], functions=["f"]),
        row("VIEW-4", refusing=["a"], functions=["f"]),
        row("PROD-1", accepting=["a"]),
        row("FOLD-6"),
    ],
)
def test_the_gate_can_be_passed(traced):
    assert list(traced.faults()) == []


def test_ranges_of_rules_are_read():
    assert {"PROV-1", "PROV-2", "PROV-3"} <= set(expand_ranges("PROV-1 to PROV-3, in this order"))


RUN = """
import sys
from conformance.adapters.inprocess import InProcess
from conformance.adapters.registry import resolve
from conformance.corpus import load_corpus
from conformance.protocol import Request
connection = InProcess(resolve("reference").factory())
for number, case in enumerate(load_corpus(), 1):
    if not sys.argv[1:] or case.topic not in sys.argv[1:]:
        connection.ask(Request(number, case.body))
"""


def branches_missed(folder, *without: str) -> list[str]:
    """Lines and branches of the reference that the corpus (without some topics) does not reach."""
    script = folder / "run.py"
    script.write_text(RUN)
    data, report = folder / "data", folder / "report.json"
    base = [sys.executable, "-m", "coverage"]
    options = ["--branch", "--source=reference_impl", f"--data-file={data}"]
    subprocess.run([*base, "run", *options, str(script), *without], check=True, capture_output=True)
    subprocess.run(
        [*base, "json", f"--data-file={data}", "-o", str(report), "--include=*/reference_impl/*"],
        check=True,
        capture_output=True,
    )
    files = json.loads(report.read_text())["files"]
    assert len(files) > 10
    return [
        f"{name}: {missed}"
        for name, file in files.items()
        for missed in (*file["missing_lines"], *file["missing_branches"])
    ]


def test_the_corpus_alone_reaches_every_branch_of_the_reference(tmp_path):
    assert branches_missed(tmp_path) == []


def test_a_branch_without_a_case_is_noticed(tmp_path):
    missed = branches_missed(tmp_path, "surface/linear-fallback")
    assert any("linear_fallback.py" in place for place in missed)
