"""Ports with one fault each, for the tests of fuzzing."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from conformance.adapters import reference
from conformance.adapters.registry import AdapterSpec, resolve
from conformance.adequacy.copies import load
from conformance.adequacy.mutant import Mutant
from conformance.adequacy.named import load_named
from conformance.fuzzing.campaign import Campaign, Outcome
from conformance.fuzzing.parties import Table
from conformance.fuzzing.quirks import load_quirks
from conformance.fuzzing.recipes import RECIPES, usable
from conformance.ledger import load_ledger

Port = Callable[[dict[str, Any]], dict[str, Any]]


def mutant(name: str) -> Port:
    """The reference with a named mistake."""
    each = named()[name]
    return load({each.module: each.source})


@cache
def named() -> dict[str, Mutant]:
    """The named mutants by id: many files, read once."""
    return {each.id: each for page in load_named(load_ledger()).values() for each in page}


def spec(port: Port, name: str = "mine") -> AdapterSpec:
    return AdapterSpec(name, factory=lambda: port)


def altered(op: str, change: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]) -> Port:
    """The reference, whose answers to one operation are changed: ``change(request, answer)``."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        found = reference.answer(request)
        return change(request, found) if request["op"] == op else found

    return answer


def fuzzed(
    port: Port,
    op: str | None = None,
    *,
    examples: int = 300,
    seed: str = "1",
    shrinks: int = 2,
    untyped: bool = False,
) -> Outcome:
    """What a differential run against the reference finds."""
    with Table.open([spec(port), resolve("reference")]) as table:
        recipes = usable(RECIPES, table.parties[0].capabilities, op, untyped=untyped)
        return Campaign(table, recipes, load_ledger(), load_quirks(), seed, shrinks).run(examples, None)
