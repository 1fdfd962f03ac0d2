"""A differential run: many requests, each put to several implementations, and what they disagree about."""

from __future__ import annotations

import contextlib
import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from conformance.fuzzing.comparing import AT_FAULT, Unlike, compare, conditions
from conformance.fuzzing.draw import Recording, Replaying, Seeded
from conformance.fuzzing.ending import Ending
from conformance.fuzzing.parties import Party, Table
from conformance.fuzzing.quirks import Quirk, explaining
from conformance.fuzzing.recipes import Recipe, wheel_of
from conformance.fuzzing.shrinking import Shrinker
from conformance.fuzzing.spelling import Members, body_of
from conformance.ledger import Ledger
from conformance.protocol import Answer
from conformance.ticker import silent

BATCH = 1000
COLLECT_AFTER = 50_000
"""Objects that are made before the garbage collector looks for cycles."""
MOST_SHRUNK = 40
"""How many kinds of difference are made small; one mistake can make a hundred, and a few tell it."""


@dataclass
class Difference:
    """One kind of difference: its smallest input so far, all answers to that, and how often it was met.

    ``pair`` are the names of the two parties that differ. ``origin`` says where it was drawn: seed,
    batch and place, so that the same command draws it again.
    """

    recipe: Recipe
    members: Members
    answers: dict[str, Answer]
    pair: tuple[str, str]
    unlike: Unlike
    origin: str
    seen: int = 1

    @property
    def key(self) -> str:
        return key_of(self.recipe.capability, self.pair, self.unlike)


@dataclass
class Outcome(Ending):
    """What a run has seen. ``counts`` are by capability: how often each verdict was agreed on."""

    inputs: int = 0
    seconds: float = 0.0
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    explained: Counter[str] = field(default_factory=Counter)
    differences: dict[str, Difference] = field(default_factory=dict)


def key_of(capability: str, pair: tuple[str, str], unlike: Unlike) -> str:
    """What differences of one kind share."""
    return f"{capability} {pair[0]} {pair[1]} {unlike.key}"


@contextlib.contextmanager
def few_collections() -> Iterator[None]:
    """Let the garbage collector look less often: requests and answers are trees, which need none."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


class Campaign:
    """A run over a table of parties. Everything that is drawn follows from the seed."""

    def __init__(
        self,
        table: Table,
        recipes: Sequence[Recipe],
        ledger: Ledger,
        quirks: tuple[Quirk, ...],
        seed: str,
        shrinks: int = MOST_SHRUNK,
    ) -> None:
        self.table, self.ledger, self.quirks, self.seed = table, ledger, quirks, seed
        self._shrinks_left = shrinks
        self.wheel = wheel_of(recipes)
        self.outcome = Outcome()
        self.who = {recipe: [party for party in table.parties if able(party, recipe)] for recipe in recipes}

    def run(
        self, examples: int | None, seconds: float | None, tell: Callable[[str], None] = silent
    ) -> Outcome:
        """Draw and compare until there were so many inputs, or so much time has passed."""
        outcome, begins, batch = self.outcome, time.monotonic(), 0
        try:
            with few_collections():
                while not outcome.is_over:
                    if seconds is not None and batch and time.monotonic() - begins >= seconds:
                        break
                    wanted = BATCH if examples is None else min(BATCH, examples - outcome.inputs)
                    if wanted <= 0:
                        break
                    self.one_batch(batch, wanted)
                    batch += 1
                    tell(f"{outcome.inputs} inputs, {len(outcome.differences)} found")
        finally:
            outcome.seconds = time.monotonic() - begins
            for key in [key for key, each in outcome.differences.items() if not each.members]:
                del outcome.differences[key]  # interrupted before it was known what was asked
        return outcome

    def one_batch(self, batch: int, wanted: int) -> None:
        """So many inputs, asked and compared; what is new among the differences is shrunk afterwards."""
        drawn: list[Recipe] = []
        bodies: list[str] = []

        def draw_all() -> Iterator[str]:
            draw = Seeded(f"{self.seed}/{batch}")
            for _ in range(wanted):
                recipe = draw.choice(self.wheel)
                body = body_of(recipe.capability, recipe.make(draw))
                drawn.append(recipe)
                bodies.append(body)
                yield body

        answers = self.table.ask_all(draw_all(), self.table.parties)
        fresh: list[tuple[int, tuple[str, str], Unlike]] = []
        for place, (recipe, found) in enumerate(zip(drawn, answers, strict=True)):
            for pair, unlike in self.judge(recipe, found):
                known = self.outcome.differences.get(key_of(recipe.capability, pair, unlike))
                if known is not None:
                    known.seen += 1
                else:
                    self.note(recipe, {}, found, pair, unlike, f"{self.seed}/{batch}/{place}")
                    fresh.append((place, pair, unlike))
        self.outcome.inputs += wanted
        if fresh:
            self.make_small(batch, fresh)

    def judge(self, recipe: Recipe, found: Sequence[Answer]) -> Iterator[tuple[tuple[str, str], Unlike]]:
        """The differences between what the parties answered; those that are known are only counted."""
        parties = self.table.parties
        counts = self.outcome.counts.setdefault(recipe.capability, Counter())
        able_to = self.who[recipe]
        pivot_at = parties.index(able_to[-1])
        pivot = found[pivot_at]
        counts[word_for(pivot, self.ledger)] += 1
        for party in able_to[:-1]:
            answer = found[parties.index(party)]
            unlike = compare(recipe.op, pivot, answer, self.ledger)
            if unlike is None:
                continue
            if unlike.first.kind in AT_FAULT or unlike.second.kind in AT_FAULT:
                if unlike.second.kind in AT_FAULT:
                    self.outcome.blame(party.name, recipe.capability, unlike.second)
                else:
                    self.outcome.blame(able_to[-1].name, recipe.capability, unlike.first)
                return
            quirk = explaining(self.quirks, recipe.capability, unlike)
            if quirk is None:
                yield (parties[pivot_at].name, party.name), unlike
            else:
                self.outcome.explained[quirk.id] += 1

    def note(
        self,
        recipe: Recipe,
        members: Members,
        found: Sequence[Answer],
        pair: tuple[str, str],
        unlike: Unlike,
        origin: str,
    ) -> Difference:
        """Keep a difference of a new kind."""
        answers = {
            party.name: answer
            for party, answer in zip(self.table.parties, found, strict=True)
            if party in self.who[recipe]
        }
        difference = Difference(recipe, members, answers, pair, unlike, origin)
        self.outcome.differences[difference.key] = difference
        return difference

    def make_small(self, batch: int, fresh: Sequence[tuple[int, tuple[str, str], Unlike]]) -> None:
        """Draw a batch again with its choices written down, and shrink what is new in it."""
        last = max(place for place, _, _ in fresh)
        found: list[tuple[Difference, list[int]]] = []
        draw = Recording(f"{self.seed}/{batch}")
        for at in range(last + 1):
            draw.clear()
            recipe = draw.choice(self.wheel)
            recipe.make(draw)
            for place, pair, unlike in fresh:
                if place == at:
                    known = self.outcome.differences[key_of(recipe.capability, pair, unlike)]
                    known.members = recipe.make(Replaying(draw.choices[1:]))
                    found.append((known, draw.choices[1:]))
        for known, choices in found:  # what hangs takes too long to be asked again and again
            if not self.outcome.is_over and "hung" not in (known.unlike.one, known.unlike.other):
                self.shrink(known, choices)

    def shrink(self, known: Difference, choices: list[int]) -> None:
        """Find a small input with the same kind of difference, and keep the answers to that one."""

        def interesting(members: Members) -> bool:
            found = self.ask(known.recipe, members)
            for pair, unlike in self.quietly(known.recipe, found):
                if key_of(known.recipe.capability, pair, unlike) == known.key:
                    best.append((members, found, unlike))
                    return True
            return False

        best: list[tuple[Members, list[Answer], Unlike]] = []
        if self._shrinks_left <= 0:
            return
        self._shrinks_left -= 1
        Shrinker(choices, known.recipe.make, interesting).run()
        if best:
            members, found, unlike = best[-1]
            known.members, known.unlike = members, unlike
            known.answers = {
                party.name: answer
                for party, answer in zip(self.table.parties, found, strict=True)
                if party in self.who[known.recipe]
            }

    def ask(self, recipe: Recipe, members: Members) -> list[Answer]:
        """All answers to one request."""
        return self.table.ask(body_of(recipe.capability, members), self.table.parties)

    def quietly(self, recipe: Recipe, found: Sequence[Answer]) -> list[tuple[tuple[str, str], Unlike]]:
        """The differences, without a trace in the counts."""
        kept = self.outcome
        self.outcome = Outcome()
        try:
            return list(self.judge(recipe, found))
        finally:
            self.outcome = kept


def able(party: Party, recipe: Recipe) -> bool:
    """Whether a party declares what a recipe asks for."""
    return {recipe.capability, *recipe.needs} <= party.capabilities


def word_for(answer: Answer, ledger: Ledger) -> str:
    """``result``, or the condition of a refusal: what the report counts."""
    if answer.kind != "rejected":
        return answer.kind
    return "|".join(sorted(conditions(answer, ledger))) or "rejected"
