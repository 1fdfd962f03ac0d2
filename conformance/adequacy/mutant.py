"""A mutant: one change to one module of the reference, and what it stands for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed module.

    ``id`` is stable while the mutated code stays as it is. ``rule`` is the rule that a named
    mutant attacks; generic ones have none. ``lines`` are the lines of the original module that
    the change touches (empty: outside any function, so every case may notice).
    """

    id: str
    module: str
    kind: str
    says: str
    source: str
    lines: frozenset[int]
    rule: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant.

    ``status``: killed (by ``case``), survived, not-applicable or broken (it cannot even be
    imported, or answers no hello); for a survivor that is listed with a ``reason``, equivalent or
    unjudged. ``by_rule`` says whether a case that names the attacked rule killed it. ``seen_by``
    is an ``either`` case that a survivor answers in another way than the original.
    """

    status: str
    case: str | None = None
    by_rule: bool | None = None
    reason: str | None = None
    seen_by: str | None = None
