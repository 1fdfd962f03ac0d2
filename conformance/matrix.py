"""The tracing matrix: every rule, the cases that show it kept and broken, and the code that has it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.adequacy.copies import sources
from conformance.cases import Case, Expectation
from conformance.ledger import Ledger, Rule

RULE_ID = re.compile(r"\b[A-Z]{3,5}-[1-9][0-9]*\b")


@dataclass
class Row:
    """One rule. ``refusing`` holds cases that expect its condition, ``open`` those that are ``either``."""

    rule: Rule
    accepting: list[str] = field(default_factory=list)
    refusing: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)

    def faults(self) -> Iterator[str]:
        """What keeps the rule from being traced."""
        cases = len(self.accepting) + len(self.refusing) + len(self.open)
        if self.rule.untestable is not None:
            if cases:
                yield f"{self.rule.id} is said to be untestable, but {cases} cases name it"
            return
        if self.rule.condition is not None and not self.refusing and not self.open:
            yield f"{self.rule.id}: no case expects {self.rule.condition}"
        if not self.accepting and not (self.rule.condition is None and self.refusing):
            yield f"{self.rule.id}: no case shows it kept"
        if self.rule.level == "MUST" and not self.functions:
            yield f"{self.rule.id}: no function of the reference names it"

    def document(self) -> dict[str, Any]:
        """The row as JSON."""
        rule = self.rule
        return {
            "rule": rule.id, "level": rule.level, "page": rule.page, "condition": rule.condition,
            "says": rule.says, "untestable": rule.untestable, "accepting": self.accepting,
            "refusing": self.refusing, "either": self.open, "reference": self.functions,
        }  # fmt: skip


def build_matrix(ledger: Ledger, cases: Sequence[Case]) -> list[Row]:
    """One row per rule, in the order of the ledger."""
    rows = {name: Row(rule) for name, rule in ledger.rules.items()}
    for case in cases:
        conditions = set(expected_conditions(case.expect))
        for name in case.rules:
            row = rows[name]
            if case.expect.kind == "either":
                row.open.append(case.id)
            elif row.rule.condition in conditions or (row.rule.condition is None and conditions):
                row.refusing.append(case.id)
            else:
                row.accepting.append(case.id)
    for name, functions in functions_by_rule().items():
        if name in rows:
            rows[name].functions = functions
    return list(rows.values())


def expected_conditions(expect: Expectation) -> Iterator[str]:
    """The conditions that an expectation, or any of its steps, asks for."""
    for alternative in expect.alternatives:
        if alternative.kind == "rejected" and "condition" in alternative.value:
            yield alternative.value["condition"]
    for step in expect.steps:
        yield from expected_conditions(step)


def functions_by_rule() -> dict[str, list[str]]:
    """Rule ids with the functions and classes of the reference whose docstring or code names them."""
    found: dict[str, list[str]] = {}
    for module, source in sources().items():
        lines = source.splitlines()
        tree = ast.parse(source)
        for rule in expand_ranges(ast.get_docstring(tree) or ""):
            found.setdefault(rule, []).append(module)
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            members = [node, *(inner for inner in node.body if isinstance(inner, ast.FunctionDef))]
            for member in reversed(members):
                text = "\n".join(lines[member.lineno - 1 : member.end_lineno])
                name = f"{module}.{node.name}" if member is node else f"{module}.{node.name}.{member.name}"
                for rule in dict.fromkeys(expand_ranges(text)):
                    places = found.setdefault(rule, [])
                    if not any(place.startswith(f"{name}.") for place in places):
                        places.append(name)
    return found


def expand_ranges(text: str) -> Iterator[str]:
    """Rule ids in a text; ``PROV-1 to PROV-6`` names all six."""
    for first, last in re.findall(r"\b([A-Z]{3,5}-[1-9][0-9]*) to ([A-Z]{3,5}-[1-9][0-9]*)\b", text):
        prefix, start = first.split("-")
        yield from (f"{prefix}-{number}" for number in range(int(start), int(last.split("-")[1]) + 1))
    yield from RULE_ID.findall(text)
