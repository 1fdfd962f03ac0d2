"""One mutant and the inputs of one seed: which of them it answers otherwise than the original.

A mutant is asked those inputs that call the function it changes, in turn, for no other one can tell it; one
that changes no function is asked all.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from conformance.adapters.inprocess import InProcess
from conformance.adapters.limits import Limits
from conformance.adequacy.copies import load
from conformance.adequacy.mutant import Mutant
from conformance.adequacy.tracing import Line, trace_bodies
from conformance.errors import AdapterError
from conformance.fuzzing.comparing import AT_FAULT, compare
from conformance.fuzzing.draw import Seeded
from conformance.fuzzing.quirks import explaining, load_quirks
from conformance.fuzzing.recipes import Recipe, wheel_of
from conformance.fuzzing.spelling import body_of
from conformance.ledger import load_ledger
from conformance.protocol import Answer, Request
from conformance.reference_sources import sources

LIMITS = Limits(answer_seconds=2.0)
PATIENT = Limits(answer_seconds=20.0)
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


def copy_of(mutant: Mutant, limits: Limits = LIMITS) -> InProcess:
    """The reference with that mistake. Raises AdapterError where it cannot be loaded."""
    try:
        return InProcess(load({mutant.module: mutant.source}), limits)
    except Exception as error:
        raise AdapterError(f"{mutant.id} cannot be loaded: {error}") from None


def hunt(mutant: Mutant, copy: InProcess, inputs: Inputs, seconds: float) -> Hunt:
    """Ask a mutant until it answers otherwise, or the time is over."""
    begins = time.monotonic()
    places = places_for(mutant, inputs)
    for start in range(0, len(places), BATCH):
        part = places[start : start + BATCH]
        requests = (Request(place + 1, inputs.asked[place].body) for place in part)
        for number, answer in copy.exchange(requests):
            if time.monotonic() - begins > seconds:
                return Hunt(None, time.monotonic() - begins)
            each = inputs.asked[number - 1]
            if tells(each, answer) and not is_late(mutant, each, answer):
                by = f"{each.recipe.capability} {each.recipe.name}"
                return Hunt(number, time.monotonic() - begins, by)
    return Hunt(None, time.monotonic() - begins)


def tells(asked: Asked, answer: Answer) -> bool:
    """Whether ``fuzz`` would report the answer: no fault of the run's, and no listed quirk."""
    unlike = compare(asked.recipe.op, asked.answer, answer, load_ledger())
    if unlike is None or answer.kind in AT_FAULT:
        return False
    return explaining(load_quirks(), asked.recipe.capability, unlike) is None


def is_late(mutant: Mutant, asked: Asked, answer: Answer) -> bool:
    """Whether an answer that did not come in time is right when it may take longer."""
    if answer.kind != "hung":
        return False
    ((_, again),) = copy_of(mutant, PATIENT).exchange(iter([Request(1, asked.body)]))
    return not tells(asked, again)
