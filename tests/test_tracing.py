"""The tracing gate: ledger, cases and reference hold together, and the corpus reaches every branch."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

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
        (row("REPL-1", accepting=["a"], open=["b"], functions=["f"]), "no case expects"),
        (row("REPL-1", refusing=["a"], functions=["f"]), "no case shows it kept"),
        (row("REPL-1", refusing=["a"], beside=["b"], functions=["f"]), "no case shows it kept"),
        (row("REPL-1", accepting=["a"], refusing=["b"]), "no function of the reference names it"),
        (row("REPL-4", functions=["f"]), "no case shows it kept"),
        (row("VIEW-4", refusing=["a"], functions=["f"]), "no case shows it kept"),
        (row("FOLD-6", accepting=["a"]), "said to be untestable, but 1 cases"),
        (row("FOLD-6", beside=["a"]), "said to be untestable, but 1 cases"),
        (row("LOG-1", accepting=["a"], refusing=["b"], functions=["f"]), "but cases show every side of it"),
        (row("LOG-1", open=["b"], functions=["f"]), "but cases show nothing"),
        (row("REPL-4", rule={"one_sided": "why"}, accepting=["a"], functions=["f"]), "every side of it"),
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
        row("VIEW-4", rule={"one_sided": "why"}, refusing=["a"], functions=["f"]),
        row("PROD-1", accepting=["a"]),
        row("FOLD-6"),
    ],
)
def test_the_gate_can_be_passed(traced):
    assert list(traced.faults()) == []


HEAD = """\
format: 1
topic: sample
edition: v0
op: {op}
evidence: {{facts: made up for a test of the matrix}}
cases:
  - id: sample.case
    rules: [REPL-1, REPL-4]
    why: It is a sample.
"""
FOLDED = """\
    request: {events: [{user: a}]}
    expect: EXPECT
"""
NODES = "{result: {nodes: [0], replacements: [], replaceGeneration: 0}}"
START = "{rejected: {condition: replace-start-absent, at: 0}}"
END = "{rejected: {condition: replace-end-absent, at: 0}}"


def sides(folder: Path, op: str, text: str) -> dict[str, list[str]]:
    """Where a sample case stands: for each side, the rules that it shows so."""
    (folder / "sample.yaml").write_text(HEAD.format(op=op) + text)
    rows = build_matrix(load_ledger(), load_corpus([folder / "sample.yaml"]))
    return {
        side: names
        for side in ("accepting", "refusing", "open", "beside")
        if (names := [row.rule.id for row in rows if getattr(row, side)])
    }


@pytest.mark.parametrize(
    ("expect", "shown"),
    [
        (NODES, {"accepting": ["REPL-1", "REPL-4"]}),
        (START, {"refusing": ["REPL-1", "REPL-4"]}),
        (END, {"refusing": ["REPL-4"], "beside": ["REPL-1"]}),
        (f"{{either: [{NODES}, {START}], reason: they differ}}", {"open": ["REPL-1", "REPL-4"]}),
        (f"{{any_of: [{NODES}, {NODES}]}}", {"accepting": ["REPL-1", "REPL-4"]}),
        (f"{{any_of: [{NODES}, {START}]}}", {"open": ["REPL-1", "REPL-4"]}),
    ],
)
def test_a_case_counts_for_what_it_leaves_no_choice_about(tmp_path, expect, shown):
    assert sides(tmp_path, "fold", FOLDED.replace("EXPECT", expect)) == shown


TAKEN = "{result: {}}"
GONE = "{rejected: {condition: replace-start-absent}}"
SURFACE = "{result: {nodes: [0], replaceGeneration: 0}}"


@pytest.mark.parametrize(
    ("steps", "expected", "shown"),
    [
        ("[{validate: {user: a}}]", f"[{TAKEN}]", {"accepting": ["REPL-1", "REPL-4"]}),
        (
            "[{push: {user: a}}, {observe: true}]",
            f"[{TAKEN}, {SURFACE}]",
            {"accepting": ["REPL-1", "REPL-4"]},
        ),
        ("[{push: {user: a}}, {observe: true}]", f"[{TAKEN}, {GONE}]", {"refusing": ["REPL-1", "REPL-4"]}),
        (
            "[{validate: {user: a}}, {validate: {user: b}}]",
            f"[{GONE}, {TAKEN}]",
            {"accepting": ["REPL-1", "REPL-4"], "refusing": ["REPL-1", "REPL-4"]},
        ),
    ],
)
def test_a_stepwise_case_can_stand_on_both_sides(tmp_path, steps, expected, shown):
    """A push is never refused, so it shows nothing; what it brought is met by the next read."""
    text = f"    request: {{baseSeq: 0, steps: {steps}}}\n    expect: {{steps: {expected}}}\n"
    assert sides(tmp_path, "surface.live", text) == shown


def test_reading_a_session_shows_no_acceptance(tmp_path):
    text = """\
    request: {steps: [{append: {user: a, replace: [0, 0]}}, {observe: [nodes]}]}
    expect: {steps: [{rejected: {condition: replace-start-absent}}, {result: {nodes: []}}]}
"""
    assert sides(tmp_path, "session.live", text) == {"refusing": ["REPL-1", "REPL-4"]}


def test_ranges_of_rules_are_read():
    assert {"PROV-1", "PROV-2", "PROV-3"} <= set(expand_ranges("PROV-1 to PROV-3, in this order"))


RUN = """
import sys
from conformance.adapters.inprocess import InProcess
from conformance.adapters.registry import resolve
from conformance.corpus import load_corpus
from conformance.protocol import Request
connection = InProcess(resolve("reference").factory())
asked = [case for case in load_corpus() if case.family is None and case.topic not in sys.argv[1:]]
for _ in connection.exchange(Request(number, case.body) for number, case in enumerate(asked, 1)):
    pass
"""


def branches_missed(folder, *without: str) -> list[str]:
    """Lines and branches of the reference that the corpus (without some topics) does not reach.

    Every case counts: optional ones, and ``either`` ones too, which reach a branch but do not judge
    what it answers. Whether a branch is right is for the mutants to ask.
    """
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
        if "/stores/"
        not in name  # what a disk may do to a store is no case; sweeps and kill trials are for it
        for missed in (*file["missing_lines"], *file["missing_branches"])
    ]


def test_all_cases_together_reach_every_branch_of_the_reference(tmp_path):
    assert branches_missed(tmp_path) == []


def test_a_branch_without_a_case_is_noticed(tmp_path):
    missed = branches_missed(tmp_path, "surface/linear-fallback")
    assert any("linear_fallback.py" in place for place in missed)
