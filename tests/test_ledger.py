"""The ledger: well formed, true to the reference, and told from its texts."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import reference_impl
from conformance.errors import VectorError
from conformance.ledger import load_ledger, pattern_of
from conformance.resources import spec_dir

REFERENCE = Path(reference_impl.__file__).parent
MAKERS = ("Rejection", "malformed")
"""What makes refusals in the reference; the condition is the first argument of each."""


def reference_trees() -> dict[str, ast.Module]:
    return {path.name: ast.parse(path.read_text()) for path in REFERENCE.glob("*.py")}


def test_conditions_of_the_reference_are_those_of_the_ledger():
    raised = set()
    for tree in reference_trees().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in MAKERS:
                if isinstance(node.args[0], ast.Name):  # malformed itself, which hands its condition on
                    continue
                raised.add(ast.literal_eval(node.args[0]))
    assert raised == set(load_ledger().conditions)


def test_the_reference_names_only_rules_of_the_ledger():
    import re

    rules = load_ledger().rules
    prefixes = {rule.split("-")[0] for rule in rules}
    named = set()
    for path in REFERENCE.glob("*.py"):
        for prefix, number in re.findall(r"\b([A-Z]{3,5})-([1-9][0-9]*)\b", path.read_text()):
            if prefix in prefixes:
                named.add(f"{prefix}-{number}")
    assert named - set(rules) == set()


def test_every_page_stands_and_holds_its_rules():
    ledger = load_ledger()
    for page in ledger.pages:
        text = (spec_dir() / f"{page}.md").read_text("utf-8")
        for rule in ledger.rules.values():
            if rule.page == page:
                level = f"({rule.level}, `{rule.condition}`)" if rule.condition else f"({rule.level})"
                assert f"**{rule.id}** {level}" in text, f"{rule.id} is not on its page as the ledger has it"


def test_texts_tell_conditions():
    ledger = load_ledger()
    told = ledger.conditions_of
    assert told("surface replace: start seq 7 not found in surface") == {"replace-start-absent"}
    assert told("start seq 7 not found in surface") == {"replace-start-absent"}
    assert told('session event "a\nb" carries an invalid surfaceOp') == {"surface-op-invalid"}
    assert told("Error: start seq 7 not found in surface") == frozenset()
    assert told("start seq 7 not found in surface!") == frozenset()


def test_patterns_take_everything_else_literally():
    assert pattern_of("a.b {x} (c)").fullmatch("a.b anything (c)")
    assert not pattern_of("a.b").fullmatch("axb")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("id: VAL-2", "id: VAL-1", "listed twice"),
        ("condition: replace-end-absent", "condition: replace-start-absent", "two rules"),
        ("page: values", "page: nowhere", "not listed"),
        ("id: VAL-2", "id: LOG-9", "begin with VAL-"),
        ("level: MUST", "level: MAY", "level"),
    ],
)
def test_a_broken_ledger_is_refused_with_its_line(tmp_path, old, new, told):
    text = (spec_dir() / "rules.yaml").read_text("utf-8")
    assert old in text
    file = tmp_path / "rules.yaml"
    file.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(VectorError, match=told) as caught:
        load_ledger(file)
    assert str(caught.value).startswith(f"{file}:")
