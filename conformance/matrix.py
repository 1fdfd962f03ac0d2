"""The tracing matrix: every rule, the cases that show it kept and broken, and the code that has it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.cases import Case, Expectation
from conformance.json_text import parse_exact
from conformance.ledger import Ledger, Rule
from conformance.phases import is_own
from conformance.reference_sources import sources

RULE_ID = re.compile(r"\b[A-Z]{3,5}-[1-9][0-9]*\b")


@dataclass
class Row:
    """One rule and the cases that name it, by what they show.

    ``accepting``: input that keeps the rule is taken. ``refusing``: the rule's condition is
    expected, or some refusal by a rule that has none of its own. ``open``: the case is ``either``
    or a family, and is on neither side. ``beside``: another rule refuses the case first, which
    shows an order only. A stepwise case can be on both sides.
    """

    rule: Rule
    accepting: list[str] = field(default_factory=list)
    refusing: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)

    def faults(self) -> Iterator[str]:
        """What keeps the rule from being traced."""
        cases = len({*self.accepting, *self.refusing, *self.open, *self.beside})
        if self.rule.untestable is not None:
            if cases:
                yield f"{self.rule.id} is said to be untestable, but {cases} cases name it"
            return
        missing = [
            *(
                [f"no case expects {self.rule.condition}"]
                if self.rule.condition and not self.refusing
                else []
            ),
            *(["no case shows it kept"] if not self.accepting else []),
        ]
        if self.rule.one_sided is None:
            yield from (f"{self.rule.id}: {told}" for told in missing)
        elif len(missing) != 1:
            shown = "nothing" if missing else "every side of it"
            yield f"{self.rule.id} is said to be one-sided, but cases show {shown}"
        if self.rule.level == "MUST" and not self.functions:
            yield f"{self.rule.id}: no function of the reference names it"

    def document(self) -> dict[str, Any]:
        """The row as JSON."""
        rule = self.rule
        return {
            "rule": rule.id, "level": rule.level, "page": rule.page, "condition": rule.condition,
            "says": rule.says, "untestable": rule.untestable, "one_sided": rule.one_sided,
            "accepting": self.accepting, "refusing": self.refusing, "either": self.open,
            "beside": self.beside, "reference": self.functions,
        }  # fmt: skip


def build_matrix(ledger: Ledger, cases: Sequence[Case]) -> list[Row]:
    """One row per rule, in the order of the ledger."""
    rows = {name: Row(rule) for name, rule in ledger.rules.items()}
    for case in cases:
        conditions, accepts = shown(case)
        for name in case.rules:
            row = rows[name]
            refuses = row.rule.condition in conditions if row.rule.condition else bool(conditions)
            if refuses:
                row.refusing.append(case.id)
            if accepts:
                row.accepting.append(case.id)
            if not refuses and not accepts:
                (row.beside if conditions else row.open).append(case.id)
    for name, functions in functions_by_rule().items():
        if name in rows:
            rows[name].functions = functions
    return list(rows.values())


def shown(case: Case) -> tuple[set[str], bool]:
    """The conditions that a case demands, and whether it demands that something is accepted."""
    if case.family is not None:
        return set(), False  # a family comes on top: each side of a rule is a case that a person can read
    if case.expect.kind != "steps":
        return demands(case.expect)
    conditions: set[str] = set()
    accepts = False
    for step, expect in zip(steps_of(case), case.expect.steps, strict=True):
        refused, taken = demands(expect)
        conditions |= refused
        accepts = accepts or (taken and decides(case.op, step))
    return conditions, accepts


def demands(expect: Expectation) -> tuple[set[str], bool]:
    """What one expectation leaves no choice about: its conditions, or that the input is accepted."""
    kinds = {alternative.kind for alternative in expect.alternatives}
    if expect.kind == "either" or len(kinds) != 1:
        return set(), False
    if kinds == {"rejected"}:
        return {alternative.value.get("condition", "any") for alternative in expect.alternatives}, False
    return set(), kinds == {"result"}


def steps_of(case: Case) -> list[Any]:
    """The steps of a case's request, in whichever spelling they stand."""
    steps: list[Any] = (
        case.request["steps"] if "steps" in case.request else parse_exact(case.request["steps_text"])
    )
    return steps


def decides(operation: str, step: dict[str, Any]) -> bool:
    """Whether a step could be refused, so that its result means something.

    A view meets what was pushed when it is read; a session has checked everything by then. A backend
    may refuse whatever it is asked.
    """
    if operation == "backend":
        return not is_own(step)
    return "append" in step or "validate" in step or (operation == "surface.live" and "observe" in step)


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
