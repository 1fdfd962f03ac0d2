"""Laws put to one implementation: many checks side by side, so that a pipe is never idle."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.fuzzing.comparing import AT_FAULT, BROKEN, compare
from conformance.fuzzing.draw import Recording, Replaying, Seeded
from conformance.fuzzing.ending import Ending
from conformance.fuzzing.laws import Check, Input, Law, Question
from conformance.fuzzing.parties import Party, Table
from conformance.fuzzing.quirks import explaining, load_quirks
from conformance.fuzzing.recipes import ON_FILES
from conformance.fuzzing.shrinking import Shrinker
from conformance.fuzzing.spelling import body_of, request_of
from conformance.ledger import load_ledger
from conformance.protocol import Answer

BATCH = 100
MORE_OFTEN = 5


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question of a check, and its answer."""

    capability: str
    request: dict[str, Any]
    answer: Answer


@dataclass
class Breach:
    """A law that does not hold: the smallest input, what was asked about it, how often it was met."""

    law: Law
    party: Party
    given: Input
    says: str
    exchanges: list[Exchange]
    origin: str
    seen: int = 1


@dataclass
class LawOutcome(Ending):
    """``checked`` counts by law."""

    checked: Counter[str] = field(default_factory=Counter)
    breaches: dict[str, Breach] = field(default_factory=dict)


def wheel_of_laws(laws: Sequence[Law]) -> list[Law]:
    """The laws, those that need no files several times, since one that does takes as long as many others."""
    return [law for law in laws for _ in range(1 if law.needs & ON_FILES else MORE_OFTEN)]


def holds(law: Law, party: Party) -> bool:
    """Whether a party declares what a law asks."""
    return law.needs <= party.capabilities


def check_one(table: Table, party: Party, law: Law, given: Input) -> tuple[str | None, list[Exchange]]:
    """Ask all questions of one check; what is wrong, and what was asked."""
    exchanges: list[Exchange] = []
    steps = law.check(given)
    question, told = advance(steps, None)
    while question is not None:
        capability, members = question
        answer = table.ask(body_of(capability, members), [party])[0]
        exchanges.append(Exchange(capability, request_of(members), answer))
        if answer.kind in BROKEN:
            return broken_down(table, party, question, answer), exchanges
        question, told = advance(steps, answer)
    return told, exchanges


def advance(steps: Check, answer: Answer | None) -> tuple[Question | None, str | None]:
    """The next question of a check, or what it found wrong in the end."""
    try:
        return (next(steps) if answer is None else steps.send(answer)), None
    except StopIteration as end:
        return None, end.value
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        return None, f"an answer cannot be read as one of its operation: {type(error).__name__}: {error}"


def broken_down(table: Table, party: Party, question: Question, answer: Answer) -> str | None:
    """What is wrong with an answer that did not come: no law holds for who breaks down.

    It is a listed quirk, and nothing for a law to judge, if it differs as one from what another party says.
    """
    capability, members = question
    for other in table.parties:
        if other is not party and capability in other.capabilities:
            told = table.ask(body_of(capability, members), [other])[0]
            unlike = compare(capability.partition("@")[0], answer, told, load_ledger())
            if unlike is not None and explaining(load_quirks(), capability, unlike) is not None:
                return None
    return f"an answer did not come: {answer.kind}: {answer.value}"[:600]


def run_laws(
    table: Table,
    party: Party,
    laws: Sequence[Law],
    seed: str,
    examples: int | None,
    seconds: float | None,
    outcome: LawOutcome | None = None,
) -> LawOutcome:
    """So many checks, or as many as there is time for; breaches are shrunk, one of each law.

    They are added to ``outcome``, which holds what was found until then if the run is interrupted.
    """
    outcome = LawOutcome() if outcome is None else outcome
    ends_at = None if seconds is None else time.monotonic() + seconds
    batch = done = 0
    while laws and not outcome.is_over:
        wanted = BATCH if examples is None else min(BATCH, examples - done)
        if wanted <= 0 or (ends_at is not None and batch and time.monotonic() >= ends_at):
            break
        one_batch(table, party, laws, f"{seed}/laws/{batch}", wanted, outcome)
        done, batch = done + wanted, batch + 1
    return outcome


def one_batch(
    table: Table, party: Party, laws: Sequence[Law], seed: str, wanted: int, outcome: LawOutcome
) -> None:
    """So many checks, their questions asked in rounds."""
    draw, wheel = Seeded(seed), wheel_of_laws(laws)
    checks = []
    for _ in range(wanted):
        law = draw.choice(wheel)
        checks.append((law, law.check(law.make(draw))))
    broken = ask_in_rounds(table, party, checks, outcome)
    for law, _ in checks:
        outcome.checked[law.name] += 1
    fresh: dict[int, str] = {}
    for place, told in broken.items():
        known = outcome.breaches.get(checks[place][0].name)
        if known is not None:
            known.seen += 1
        elif checks[place][0].name not in {checks[other][0].name for other in fresh}:
            fresh[place] = told
    if fresh and not outcome.is_over:
        record = Recording(seed)
        for place in range(max(fresh) + 1):
            record.clear()
            law = record.choice(wheel)
            law.make(record)
            if place in fresh:
                breach = smallest(table, party, law, record.choices[1:])
                if breach is not None:
                    breach.origin = f"{seed}/{place}"
                    breach.seen = sum(checks[other][0].name == law.name for other in broken)
                    outcome.breaches[law.name] = breach


def ask_in_rounds(
    table: Table, party: Party, checks: Sequence[tuple[Law, Check]], outcome: LawOutcome
) -> dict[int, str]:
    """The checks that found something wrong, by place."""
    broken: dict[int, str] = {}
    waiting: dict[int, Answer | None] = dict.fromkeys(range(len(checks)))
    while waiting and not outcome.is_over:
        asked: dict[int, Question] = {}
        for place, answer in waiting.items():
            question, told = advance(checks[place][1], answer)
            if question is not None:
                asked[place] = question
            elif told is not None:
                broken[place] = told
        answers = table.ask_all((body_of(*question) for question in asked.values()), [party])
        waiting = {}
        for (place, question), (found, *_) in zip(asked.items(), answers, strict=True):
            name = checks[place][0].name
            if found.kind in AT_FAULT:
                outcome.blame(party.name, f"law {name}", found)
            elif found.kind in BROKEN:
                wrong = broken_down(table, party, question, found)
                if wrong is not None:
                    broken[place] = wrong
            else:
                waiting[place] = found
    return broken


def smallest(table: Table, party: Party, law: Law, choices: list[int]) -> Breach | None:
    """A small input that breaks a law; None if it does not break it when asked again."""
    best: list[tuple[Input, str, list[Exchange]]] = []

    def interesting(given: Input) -> bool:
        told, exchanges = check_one(table, party, law, given)
        if told is not None:
            best.append((given, told, exchanges))
        return told is not None

    if not interesting(law.make(Replaying(choices))):
        return None
    Shrinker(choices, law.make, interesting, tries=500).run()
    given, told, exchanges = best[-1]
    return Breach(law, party, given, told, exchanges, "")
