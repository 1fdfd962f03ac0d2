"""One mutant on trial: the cases that can notice it, until one does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.adapters.inprocess import InProcess
from conformance.adapters.limits import Limits
from conformance.adequacy.copies import load
from conformance.adequacy.mutant import Mutant, Outcome
from conformance.adequacy.tracing import Line
from conformance.cases import Case
from conformance.errors import AdapterError
from conformance.judge import PASSING, Judge
from conformance.ledger import load_ledger
from conformance.protocol import Request

LIMITS = Limits(answer_seconds=2.0)
STRICT = frozenset(("condition", "position"))


@dataclass(frozen=True, slots=True)
class Jury:
    """The cases that may judge (``either`` ones may not), and the lines that each executes."""

    cases: tuple[Case, ...]
    lines: tuple[frozenset[Line], ...]

    def for_mutant(self, mutant: Mutant) -> list[Case]:
        """The cases that execute what was changed: those of the attacked rule first, short before long."""
        touched = {(mutant.module, line) for line in mutant.lines}
        able = [
            case for case, lines in zip(self.cases, self.lines, strict=True) if not touched or touched & lines
        ]
        return sorted(able, key=lambda case: (mutant.rule not in case.rules, len(case.body), case.id))


def select_jury(cases: Sequence[Case], lines: Sequence[frozenset[Line]]) -> Jury:
    """All cases whose expectation leaves no choice."""
    kept = [(case, hit) for case, hit in zip(cases, lines, strict=True) if case.expect.kind != "either"]
    return Jury(tuple(case for case, _ in kept), tuple(hit for _, hit in kept))


def try_mutant(mutant: Mutant, jury: Sequence[Case], *, all_kills: bool = False) -> tuple[Outcome, list[str]]:
    """What becomes of a mutant, and the ids of the cases that kill it (the first, or all)."""
    if not mutant.source:
        return Outcome("not-applicable", reason="its text is not found exactly once in the module"), []
    try:
        connection = InProcess(load({mutant.module: mutant.source}), LIMITS)
    except AdapterError as error:
        return Outcome("broken", reason=str(error)), []
    except Exception as error:
        return Outcome("broken", reason=f"{type(error).__name__}: {error}"), []
    judge = Judge(load_ledger(), STRICT)
    kills: list[Case] = []
    for case in jury:
        if kill(connection, case, judge):
            kills.append(case)
            if not all_kills:
                break
    if not kills:
        return Outcome("survived"), []
    by_rule = None if mutant.rule is None else any(mutant.rule in case.rules for case in kills)
    return Outcome("killed", kills[0].id, by_rule), [case.id for case in kills]


def kill(connection: InProcess, case: Case, judge: Judge) -> bool:
    """Whether a case notices: a wrong answer, a crash, or no answer in time."""
    ((_, answer),) = connection.exchange(iter([Request(1, case.body)]))
    return judge.verdict(case, answer).status not in PASSING
