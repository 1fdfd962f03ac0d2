"""One mutant on trial: the cases that can notice it, until one does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from conformance.adapters.inprocess import InProcess
from conformance.adapters.limits import Limits
from conformance.adequacy.copies import load
from conformance.adequacy.mutant import Mutant, Outcome
from conformance.adequacy.tracing import Line
from conformance.cases import Case
from conformance.errors import AdapterError
from conformance.json_text import dump_canonical
from conformance.judge import PASSING, Judge
from conformance.ledger import load_ledger
from conformance.protocol import Answer, Request

LIMITS = Limits(answer_seconds=2.0)
STRICT = frozenset(("condition", "position"))


@dataclass(frozen=True, slots=True)
class Witness:
    """An ``either`` case, and what the original answers: it can see a change, but judges none."""

    case: Case
    told: str


@dataclass(frozen=True, slots=True)
class Jury:
    """The cases that judge and the witnesses, each with the lines that it executes."""

    cases: tuple[Case, ...]
    lines: tuple[frozenset[Line], ...]
    witnesses: tuple[Witness, ...]
    witness_lines: tuple[frozenset[Line], ...]

    def for_mutant(self, mutant: Mutant) -> list[Case]:
        """The cases that execute what was changed: those of the attacked rule first, cheap before costly."""
        able = [case for case, lines in zip(self.cases, self.lines, strict=True) if reaches(lines, mutant)]
        return sorted(able, key=lambda case: (mutant.rule not in case.rules, cost(case), case.id))

    def witnesses_of(self, mutant: Mutant) -> list[Witness]:
        """The witnesses that execute what was changed."""
        return [
            witness
            for witness, lines in zip(self.witnesses, self.witness_lines, strict=True)
            if reaches(lines, mutant)
        ]


DISK = 1 << 20
"""What a case costs beside its bytes if it needs a folder or a database of its own."""


def cost(case: Case) -> int:
    """Roughly what it costs to ask a case, in bytes of its request and of what it asks to be made."""
    made: int = sum(case.request.get("repeats", ()))
    return len(case.body) + made + (DISK if case.op in ("backend", "sqlite.open") else 0)


def reaches(lines: frozenset[Line], mutant: Mutant) -> bool:
    """Whether a case that executes these lines can notice the mutant at all."""
    return not mutant.lines or any((mutant.module, line) in lines for line in mutant.lines)


def select_jury(cases: Sequence[Case], lines: Sequence[frozenset[Line]]) -> Jury:
    """All cases judge whose expectation leaves no choice; the others are witnesses."""
    pairs = list(zip(cases, lines, strict=True))
    judging = [pair for pair in pairs if pair[0].expect.kind != "either"]
    seeing = [pair for pair in pairs if pair[0].expect.kind == "either"]
    original = InProcess(load({}), LIMITS)
    return Jury(
        tuple(case for case, _ in judging),
        tuple(hit for _, hit in judging),
        tuple(Witness(case, told(original, case)) for case, _ in seeing),
        tuple(hit for _, hit in seeing),
    )


def try_mutant(
    mutant: Mutant, jury: Sequence[Case], witnesses: Sequence[Witness] = (), *, all_kills: bool = False
) -> tuple[Outcome, list[str]]:
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
        seen = next((each.case.id for each in witnesses if told(connection, each.case) != each.told), None)
        return Outcome("survived", seen_by=seen), []
    by_rule = None if mutant.rule is None else any(mutant.rule in case.rules for case in kills)
    return Outcome("killed", kills[0].id, by_rule), [case.id for case in kills]


def kill(connection: InProcess, case: Case, judge: Judge) -> bool:
    """Whether a case notices: a wrong answer, a crash, or no answer in time."""
    return judge.verdict(case, ask(connection, case)).status not in PASSING


def ask(connection: InProcess, case: Case) -> Answer:
    """The answer to one case. Who hangs is asked once more, for the machine may be what was slow."""
    ((_, answer),) = connection.exchange(iter([Request(1, case.body)]))
    if answer.kind == "hung":
        ((_, answer),) = connection.exchange(iter([Request(1, case.body)]))
    return answer


def told(connection: InProcess, case: Case) -> str:
    """An answer as text that two answers share if nobody is to tell them apart: messages do not count."""
    answer = ask(connection, case)
    if answer.kind not in ("result", "rejected"):
        return answer.kind
    value: dict[str, Any] = answer.value
    return f"{answer.kind} {dump_canonical({name: value[name] for name in value if name != 'message'})}"
