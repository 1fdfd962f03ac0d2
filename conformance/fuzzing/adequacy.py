"""Is the generator any good? Each named mutant of the reference, and whether fuzzing alone finds it.

``python -m conformance.fuzzing.adequacy [--page P] [--seeds N] [--inputs N] [--seconds S] [-j N] [--all]``

The inputs of a seed are drawn once, with as many turns for recipes on files as for others, and answered by
the original. A mutant is asked those that call the function it changes, in turn, until it answers otherwise:
no other input can tell it. It counts as found if it is in more than half of the seeds, each within so many
seconds.
Those that are not found show where the generator is blind.
"""

from __future__ import annotations

import argparse
import ast
import gc
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from statistics import median

from conformance.adapters.inprocess import InProcess
from conformance.adapters.limits import Limits
from conformance.adapters.registry import resolve
from conformance.adequacy.copies import load
from conformance.adequacy.mutant import Mutant
from conformance.adequacy.named import load_named
from conformance.adequacy.tracing import Line, trace_bodies
from conformance.errors import AdapterError
from conformance.fuzzing.campaign import few_collections
from conformance.fuzzing.comparing import compare
from conformance.fuzzing.draw import Seeded
from conformance.fuzzing.recipes import RECIPES, Recipe, usable, wheel_of
from conformance.fuzzing.spelling import body_of
from conformance.ledger import Ledger, load_ledger
from conformance.protocol import Answer, Request
from conformance.reference_sources import sources

LIMITS = Limits(answer_seconds=2.0)
BATCH = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """One input, and what the original answers."""

    recipe: Recipe
    body: str
    answer: Answer


@dataclass(frozen=True, slots=True)
class Inputs:
    """The inputs of one seed, and the places of those that call a function, by where that begins."""

    asked: list[Asked]
    places: dict[Line, list[int]]


@dataclass(frozen=True, slots=True)
class Hunt:
    """What became of one mutant with one seed: how many inputs it took, or None, and how long."""

    inputs: int | None
    seconds: float
    by: str = ""


def draw_inputs(recipes: Sequence[Recipe], seed: str, inputs: int) -> Inputs:
    """So many inputs, with the answers of the original, and which of its functions each of them calls."""
    wheel, draw = wheel_of(recipes, evenly=True), Seeded(seed)
    drawn = []
    for _ in range(inputs):
        recipe = draw.choice(wheel)
        drawn.append((recipe, body_of(recipe.capability, recipe.make(draw))))
    found = Inputs([], {})
    traced = trace_bodies((body for _, body in drawn), calls_only=True)
    for place, ((recipe, body), (hit, answer)) in enumerate(zip(drawn, traced, strict=True)):
        if answer.kind not in ("result", "rejected"):  # every mutant would seem to be found by it
            raise AdapterError(f"the original answers {answer.kind} ({answer.value}): {body[:500]}")
        found.asked.append(Asked(recipe, body, answer))
        for line in hit:
            found.places.setdefault(line, []).append(place)
    return found


def places_for(mutant: Mutant, inputs: Inputs) -> Sequence[int]:
    """The inputs that may tell a mutant: those that call a function with its lines; or all of them."""
    if not mutant.lines:
        return range(len(inputs.asked))
    reached = [inputs.places.get((mutant.module, line), ()) for line in beginnings(mutant)]
    return sorted({place for places in reached for place in places})


def beginnings(mutant: Mutant) -> set[int]:
    """Where the functions begin that the lines of a mutant stand in."""
    return {
        first for first, last in functions_of(mutant.module) if mutant.lines & set(range(first, last + 1))
    }


@cache
def functions_of(module: str) -> list[tuple[int, int]]:
    """The first line, decorators included, and the last one of each function of a module of the reference."""
    return [
        (min([node.lineno, *(each.lineno for each in node.decorator_list)]), node.end_lineno or node.lineno)
        for node in ast.walk(ast.parse(sources()[module]))
        if isinstance(node, ast.FunctionDef)
    ]


def copy_of(mutant: Mutant) -> InProcess:
    """The reference with that mistake. Raises AdapterError where it cannot be loaded."""
    try:
        return InProcess(load({mutant.module: mutant.source}), LIMITS)
    except Exception as error:
        raise AdapterError(f"{mutant.id} cannot be loaded: {error}") from None


def hunt(mutant: Mutant, copy: InProcess, inputs: Inputs, seconds: float, ledger: Ledger) -> Hunt:
    """Ask a mutant until it answers otherwise, or the time is over."""
    begins = time.monotonic()
    places = places_for(mutant, inputs)
    for start in range(0, len(places), BATCH):
        part = places[start : start + BATCH]
        requests = (Request(place + 1, inputs.asked[place].body) for place in part)
        answers = dict(copy.exchange(requests))
        for place in part:
            each = inputs.asked[place]
            if compare(each.recipe.op, each.answer, answers[place + 1], ledger) is not None:
                by = f"{each.recipe.capability} {each.recipe.name}"
                return Hunt(place + 1, time.monotonic() - begins, by)
        if time.monotonic() - begins > seconds:
            break
    return Hunt(None, time.monotonic() - begins)


_work: tuple[list[Inputs], float] = ([], 0.0)


def hunt_all(mutants: Sequence[Mutant], jobs: int) -> Iterator[tuple[Mutant, list[Hunt]]]:
    """Each mutant with each seed; children inherit the inputs."""
    if jobs == 1:
        for mutant in mutants:
            yield mutant, _hunt_one(mutant)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("fork")) as pool:
        yield from zip(mutants, pool.map(_hunt_one, mutants), strict=True)


def _hunt_one(mutant: Mutant) -> list[Hunt]:
    """Seed by seed, as long as the rest of them can change the verdict."""
    every, seconds = _work
    copy = copy_of(mutant)
    hunts: list[Hunt] = []
    for inputs in every:
        hunts.append(hunt(mutant, copy, inputs, seconds, load_ledger()))
        successes = sum(each.inputs is not None for each in hunts)
        if max(successes, len(hunts) - successes) * 2 > len(every):
            break
    return hunts


def found(hunts: Sequence[Hunt]) -> bool:
    """Whether the median seed finds it."""
    return sum(each.inputs is not None for each in hunts) * 2 > len(hunts)


def report(outcomes: Iterable[tuple[str, Mutant, list[Hunt]]], *, everything: bool) -> tuple[int, int]:
    """Print a row for each page, and the mutants that are not found; how many there are of both."""
    pages: dict[str, list[bool]] = {}
    blind: list[str] = []
    for page, mutant, hunts in outcomes:
        seen = found(hunts)
        pages.setdefault(page, []).append(seen)
        taken = [each.inputs for each in hunts if each.inputs is not None]
        told = f"after {median(taken):.0f} inputs, {hunts[0].by}" if taken else "never"
        if not seen:
            blind.append(f"{mutant.id}: {mutant.says} (found by {len(taken)} of {len(hunts)} seeds asked)")
        if everything:
            print(f"{'found' if seen else 'not found':<10} {mutant.id}: {told}", flush=True)
    for page, each in sorted(pages.items()):
        print(f"{page:<20} {sum(each):>4} of {len(each):>4}")
    for line in blind:
        print(f"not found: {line}")
    total = sum(len(each) for each in pages.values())
    return total - len(blind), total


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print, and return 0 if at least nine in ten are found."""
    parser = argparse.ArgumentParser(prog="python -m conformance.fuzzing.adequacy", description=__doc__)
    parser.add_argument("--page", help="only mutants of one page")
    parser.add_argument("--op", action="append", help="only recipes of these operations")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--inputs", type=int, default=20_000, help="of each seed")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each mutant and seed")
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="list every mutant")
    args = parser.parse_args(argv)
    declared = resolve("reference").connect().hello.capabilities
    recipes = [
        recipe
        for recipe in usable(RECIPES, declared, None, untyped=True)
        if args.op is None or recipe.op in args.op
    ]
    pages = load_named(load_ledger())
    chosen = [
        (page, mutant)
        for page in pages
        if args.page in (None, page)
        for mutant in pages[page]
        if mutant.source
    ]
    global _work
    with few_collections():
        drawn = [draw_inputs(recipes, f"{seed}/0", args.inputs) for seed in range(1, args.seeds + 1)]
    _work = (drawn, args.seconds)
    gc.freeze()  # they stay to the end, so nobody has to look through them
    hunts = hunt_all([mutant for _, mutant in chosen], args.jobs)
    outcomes = ((page, mutant, each) for (page, mutant), (_, each) in zip(chosen, hunts, strict=True))
    seen, total = report(outcomes, everything=args.all)
    print(f"{seen} of {total} named mutants are found by fuzzing alone ({seen / max(total, 1):.1%})")
    return 0 if seen >= 0.9 * total else 1


if __name__ == "__main__":
    sys.exit(main())
