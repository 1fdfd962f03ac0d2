"""A whole run as a person asks for it: which recipes, a differential part, and laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from conformance.errors import UsageError
from conformance.fuzzing.all_laws import LAWS
from conformance.fuzzing.campaign import Campaign, Outcome
from conformance.fuzzing.law_runs import LawOutcome, holds, run_laws
from conformance.fuzzing.laws import Law
from conformance.fuzzing.parties import Table
from conformance.fuzzing.quirks import load_quirks
from conformance.fuzzing.recipes import RECIPES, usable
from conformance.ledger import load_ledger
from conformance.ticker import silent

LAW_SHARE = 20
"""One check of a law for so many inputs; each asks two to a dozen questions."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run is to be. Either ``examples`` or ``seconds`` is given."""

    seed: str = "1"
    op: str | None = None
    examples: int | None = None
    seconds: float | None = None
    untyped: bool = False
    laws: bool = True


@dataclass
class Result:
    """What came of both parts."""

    wanted: Wanted
    differential: Outcome = field(default_factory=Outcome)
    laws: LawOutcome = field(default_factory=LawOutcome)
    interrupted: bool = False
    """Whether Ctrl-C ended it; what was found before counts."""


def run_all(table: Table, wanted: Wanted, tell: Callable[[str], None] = silent) -> Result:
    """Run. Raises UsageError where there is nothing to do."""
    subject, *others = table.parties
    known = frozenset[str]().union(*(other.capabilities for other in others))
    recipes = usable(RECIPES, subject.capabilities & known, wanted.op, untyped=wanted.untyped)
    laws = [law for law in LAWS if holds(law, subject) and about(law, wanted.op)] if wanted.laws else []
    if not recipes and not laws:
        raise UsageError(nothing_to_ask(subject.capabilities & known, wanted))
    result = Result(wanted)
    if recipes:
        campaign = Campaign(table, recipes, load_ledger(), load_quirks(), wanted.seed)
        share = None if wanted.seconds is None else wanted.seconds * (0.85 if laws else 1)
        result.differential = campaign.outcome
        try:
            campaign.run(wanted.examples, share, tell)
        except KeyboardInterrupt:
            result.interrupted = True
            return result
    if laws and not result.differential.is_over:
        checks = None if wanted.examples is None else max(1, wanted.examples // LAW_SHARE)
        rest = None if wanted.seconds is None else wanted.seconds - result.differential.seconds
        try:
            run_laws(table, subject, laws, wanted.seed, checks, rest, result.laws)
        except KeyboardInterrupt:
            result.interrupted = True
    return result


def nothing_to_ask(declared: frozenset[str], wanted: Wanted) -> str:
    """Why a run has nothing to do."""
    if wanted.op is None:
        return "nothing can be asked: no recipe and no law for what these adapters declare"
    named = sorted({recipe.capability for recipe in RECIPES if wanted.op in (recipe.op, recipe.capability)})
    if not named:
        known = sorted({recipe.op for recipe in RECIPES})
        return f"no operation is called {wanted.op!r}; there are {', '.join(known)}"
    if not declared & set(named):
        return f"nothing can be asked of {wanted.op}: the adapters do not all declare {' or '.join(named)}"
    return f"nothing can be asked of {wanted.op} without --untyped, or a capability that is not declared"


def about(law: Law, op: str | None) -> bool:
    """Whether a law asks an operation, or a capability, at all."""
    return op is None or any(op in (need, need.partition("@")[0]) for need in law.needs)
