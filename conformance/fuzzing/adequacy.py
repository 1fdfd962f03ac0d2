"""Is the generator any good? Each named mutant of the reference, and whether fuzzing alone finds it.

``python -m conformance.fuzzing.adequacy [--page P] [--seeds N] [--inputs N] [--seconds S] [-j N] [--all]``

A mutant counts as found if ``fuzz`` would report it with more than half of the seeds, each within so many
inputs and so many seconds. The seconds are those in which it is asked; inputs that cannot tell it take none.
Recipes on files have as many turns as others, which they have not in ``fuzz`` without ``--op``. Mutants
that are not found show where the generator is blind.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from conformance.adapters.registry import resolve
from conformance.adequacy.mutant import Mutant
from conformance.adequacy.named import load_named
from conformance.cli import guarded
from conformance.cli.common import seconds, whole
from conformance.fuzzing.campaign import few_collections
from conformance.fuzzing.hunting import Hunt, copy_of, draw_inputs, hunt
from conformance.fuzzing.recipes import RECIPES, Recipe, usable
from conformance.ledger import load_ledger

PART = 20_000
"""Inputs that are drawn and held at a time."""


@dataclass
class Trail:
    """What is known of one mutant: its last hunt with each seed that it was asked for."""

    page: str
    mutant: Mutant
    hunts: dict[int, Hunt] = field(default_factory=dict)

    def successes(self) -> list[Hunt]:
        return [each for each in self.hunts.values() if each.inputs is not None]

    def is_found(self, seeds: int) -> bool:
        """Whether the median seed finds it."""
        return len(self.successes()) * 2 > seeds

    def median(self, seeds: int) -> Hunt | None:
        """The hunt with the seed in the middle, by the inputs that it took; None where that finds nothing."""
        taken = sorted(self.successes(), key=lambda each: each.inputs or 0)
        return taken[seeds // 2] if self.is_found(seeds) else None

    def seconds_left(self, seed: int, seconds: float) -> float:
        """For a seed with which it is not found yet; 0 where it is."""
        so_far = self.hunts.get(seed, Hunt(None, 0.0))
        return 0.0 if so_far.inputs is not None else seconds - so_far.seconds

    def add(self, seed: int, part: int, found: Hunt) -> None:
        """One more part of the inputs of a seed was asked."""
        before = self.hunts.get(seed, Hunt(None, 0.0))
        inputs = None if found.inputs is None else part * PART + found.inputs
        self.hunts[seed] = Hunt(inputs, before.seconds + found.seconds, found.by)


class Unit(NamedTuple):
    """A part of the inputs of one seed, and who is asked it: places among the trails, and their seconds."""

    seed: int
    part: int
    size: int
    asked: list[tuple[int, float]]


_work: tuple[Sequence[Recipe], Sequence[Trail]] = ((), ())


def hunt_part(unit: Unit) -> list[tuple[int, Hunt]]:
    """Draw a part, and ask everyone; children inherit the mutants."""
    recipes, trails = _work
    with few_collections():
        inputs = draw_inputs(recipes, f"{unit.seed}/{unit.part}", unit.size)
    gc.freeze()  # they stay to the end, so nobody has to look through them
    found = []
    for place, most in unit.asked:
        mutant = trails[place].mutant
        found.append((place, hunt(mutant, copy_of(mutant), inputs, most)))
    gc.unfreeze()
    return found


def units_of(
    trails: Sequence[Trail], batch: Sequence[int], part: int, size: int, seeds: int, seconds: float
) -> Iterator[Unit]:
    """One for each seed of a batch, with those mutants that are not found by the median seed yet."""
    for seed in batch:
        left = [(place, trail.seconds_left(seed, seconds)) for place, trail in enumerate(trails)]
        asked = [(place, most) for place, most in left if most > 0 and not trails[place].is_found(seeds)]
        if asked:
            yield Unit(seed, part, size, asked)


def hunt_all(
    recipes: Sequence[Recipe], trails: Sequence[Trail], seeds: int, inputs: int, seconds: float, jobs: int
) -> None:
    """Part by part, so many seeds at a time. What came of it is added to the trails."""
    global _work
    _work = (recipes, trails)
    for begins in range(0, inputs, PART):
        part, size = begins // PART, min(PART, inputs - begins)
        for first in range(1, seeds + 1, jobs):
            batch = range(first, min(first + jobs, seeds + 1))
            units = list(units_of(trails, batch, part, size, seeds, seconds))
            for unit, found in zip(units, outcomes_of(units, jobs), strict=True):
                for place, each in found:
                    trails[place].add(unit.seed, part, each)
        seen = sum(trail.is_found(seeds) for trail in trails)
        print(f"after {begins + size} inputs of each seed: {seen} of {len(trails)}", flush=True)


def outcomes_of(units: Sequence[Unit], jobs: int) -> list[list[tuple[int, Hunt]]]:
    if jobs == 1:
        return [hunt_part(unit) for unit in units]
    with multiprocessing.get_context("fork").Pool(jobs, leave_signals) as pool:  # ends them, however it ends
        return pool.map(hunt_part, units, chunksize=1)


def leave_signals() -> None:
    """Ctrl-C is for the parent, which ends its children by the signal that this leaves to the system."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.SIG_DFL)


def report(trails: Iterable[Trail], seeds: int, *, everything: bool) -> tuple[int, int]:
    """Print a row for each page, and the mutants that are not found; how many there are of both."""
    pages: dict[str, list[bool]] = {}
    blind: list[str] = []
    for trail in trails:
        mutant, found = trail.mutant, trail.median(seeds)
        pages.setdefault(trail.page, []).append(found is not None)
        by = f"{len(trail.successes())} of {len(trail.hunts)} seeds"
        if found is None:
            blind.append(f"{mutant.id}: {mutant.says} (found by {by})")
        if everything and found is not None:
            print(f"found {mutant.id}: after {found.inputs} inputs, {found.by}")
    for page, each in sorted(pages.items()):
        print(f"{page:<20} {sum(each):>4} of {len(each):>4}")
    for line in blind:
        print(f"not found: {line}")
    total = sum(len(each) for each in pages.values())
    return total - len(blind), total


def known_ops() -> set[str]:
    return {recipe.op for recipe in RECIPES}


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, and return 0 if at least nine in ten are found."""
    parser = argparse.ArgumentParser(prog="python -m conformance.fuzzing.adequacy", description=__doc__)
    parser.add_argument("--page", help="only mutants of one page")
    parser.add_argument("--op", action="append", help="only recipes of these operations")
    parser.add_argument("--seeds", type=partial(whole, largest=99), default=5)
    parser.add_argument("--inputs", type=partial(whole, largest=10**9), default=100_000, help="of each seed")
    parser.add_argument("--seconds", type=seconds, default=60.0, help="for each mutant and seed")
    parser.add_argument("-j", "--jobs", type=partial(whole, largest=256), default=1)
    parser.add_argument("--all", action="store_true", help="list what is found, too")
    args = parser.parse_args(argv)
    declared = resolve("reference").connect().hello.capabilities
    recipes = [
        recipe
        for recipe in usable(RECIPES, declared, None, untyped=True)
        if args.op is None or recipe.op in args.op
    ]
    pages = load_named(load_ledger())
    if not recipes:
        parser.error(f"no recipe is of {' or '.join(args.op)}; there are {', '.join(sorted(known_ops()))}")
    if args.page not in (None, *pages):
        parser.error(f"no page has named mutants under {args.page!r}; there are {', '.join(sorted(pages))}")
    trails = [
        Trail(page, mutant)
        for page in pages
        if args.page in (None, page)
        for mutant in pages[page]
        if mutant.source
    ]
    hunt_all(recipes, trails, args.seeds, args.inputs, args.seconds, args.jobs)
    seen, total = report(trails, args.seeds, everything=args.all)
    print(f"{seen} of {total} named mutants are found by fuzzing alone ({seen / max(total, 1):.1%})")
    return 0 if seen >= 0.9 * total else 1


if __name__ == "__main__":
    sys.exit(guarded(main))
