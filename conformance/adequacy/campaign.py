"""All mutants, in several processes, with what is known from earlier runs left out."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from conformance.adapters.inprocess import InProcess
from conformance.adequacy import generic, known, named, trial
from conformance.adequacy.copies import load
from conformance.adequacy.excuses import excuse, load_excuses
from conformance.adequacy.mutant import Mutant, Outcome
from conformance.adequacy.tracing import trace_cases
from conformance.cases import Case
from conformance.corpus import load_corpus
from conformance.engine import undeclared
from conformance.errors import VectorError
from conformance.ledger import Ledger
from conformance.reference_sources import sources

MEMORY_BYTES = 4 << 30
NO_PAGE = "beside the pages"

Trial = tuple[Mutant, list[Case], list[trial.Witness]]
"""A mutant that waits, and the cases and witnesses that execute what it changes."""


@dataclass
class Campaign:
    """The mutants of a run by page, what became of each, and what was noticed beside that.

    ``page`` is None for all pages; ``which`` is named, generic or both. ``sites`` counts the places
    that generic mutants change, ``left_out`` those that belong to message texts.
    """

    page: str | None
    which: str
    by_page: dict[str, list[Mutant]] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    kills: dict[str, list[str]] = field(default_factory=dict)
    sites: int = 0
    left_out: int = 0
    remembered: int = 0
    stale: list[str] = field(default_factory=list)

    def mutants(self) -> Iterator[Mutant]:
        """All of them, page by page."""
        for page in self.by_page.values():
            yield from page

    @property
    def whole(self) -> bool:
        """Whether no mutant was left aside."""
        return self.page is None and self.which == "both"


def page_of(module: str, ledger: Ledger) -> str:
    """One page is one module: fold.py belongs to fold.md, event_log.py to event-log.md."""
    page = module.replace("_", "-")
    return page if page in ledger.pages else NO_PAGE


def gather(ledger: Ledger, page: str | None, which: str) -> Campaign:
    """The mutants of one page or of all; ``which`` is named, generic or both."""
    campaign = Campaign(page, which)
    if which != "generic":
        for name, mutants in named.load_named(ledger).items():
            if page in (None, name):
                campaign.by_page.setdefault(name, []).extend(mutants)
    if which != "named":
        for module, source in sources().items():
            name = page_of(module, ledger)
            if page in (None, name):
                generated = generic.generate(module, source)
                campaign.by_page.setdefault(name, []).extend(generated.mutants)
                campaign.sites += generated.sites
                campaign.left_out += generated.left_out
    return campaign


def run_campaign(
    ledger: Ledger, page: str | None, which: str, jobs: int, cache: Path | None, *, all_kills: bool = False
) -> Campaign:
    """Try every mutant. Raises VectorError if the reference itself does not pass the corpus."""
    campaign = gather(ledger, page, which)
    excuses = load_excuses()
    cases = askable(load_corpus(ledger=ledger))
    jury = trial.select_jury(cases, trace_cases(cases))
    check_original(jury.cases)
    remembered = {} if cache is None or all_kills else known.read(cache)
    base = known.foundation(known.foundation_files())
    keys: dict[str, str] = {}
    waiting: list[Trial] = []
    for mutant in campaign.mutants():
        able, witnesses = jury.for_mutant(mutant), jury.witnesses_of(mutant)
        keys[mutant.id] = known.key_of(mutant, able, witnesses, base)
        key, outcome = remembered.get(mutant.id, ("", None))
        if outcome is not None and key == keys[mutant.id]:
            campaign.outcomes[mutant.id] = outcome
            campaign.remembered += 1
        else:
            waiting.append((mutant, able, witnesses))
    for mutant, outcome, kills in try_all(waiting, jobs, all_kills):
        campaign.outcomes[mutant.id] = outcome
        campaign.kills[mutant.id] = kills
    if cache is not None and not all_kills:
        found = {name: (keys[name], outcome) for name, outcome in campaign.outcomes.items()}
        known.write(cache, remembered | found, keys if campaign.whole else None)
    campaign.outcomes, campaign.stale = excuse(campaign.outcomes, excuses, whole=campaign.whole)
    return campaign


def askable(corpus: Sequence[Case]) -> list[Case]:
    """The cases that a mutant is asked: what the reference declares, and single cases alone.

    A family repeats what single cases show, and these have to be strong without it.
    """
    hello = InProcess(load({})).hello
    return [case for case in corpus if case.family is None and undeclared(case, hello) is None]


def check_original(jury: Sequence[Case]) -> None:
    """The unchanged copy must pass; otherwise every mutant would seem to be killed."""
    original = Mutant("original", "fold", "none", "unchanged", sources()["fold"], frozenset())
    outcome, _ = trial.try_mutant(original, jury)
    if outcome.status != "survived":
        raise VectorError(
            f"the reference itself does not pass ({outcome.status}: {outcome.case or outcome.reason})"
        )


_waiting: Sequence[Trial] = ()


def try_all(
    waiting: Sequence[Trial], jobs: int, all_kills: bool
) -> Iterable[tuple[Mutant, Outcome, list[str]]]:
    """Outcomes in the order of the mutants. Children inherit the mutants; only numbers travel.

    A system without fork tries them here, one after the other.
    """
    global _waiting
    _waiting = waiting
    if not waiting:
        return
    numbers, flags = range(len(waiting)), [all_kills] * len(waiting)
    if "fork" not in multiprocessing.get_all_start_methods():
        for index in numbers:
            yield waiting[index][0], *_try_one(index, all_kills)
        return
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, context, initializer=_limit_memory) as pool:
        chunk = max(1, len(waiting) // (jobs * 16))
        for index, found in enumerate(pool.map(_try_one, numbers, flags, chunksize=chunk)):
            yield waiting[index][0], *found


def _try_one(index: int, all_kills: bool) -> tuple[Outcome, list[str]]:
    mutant, able, witnesses = _waiting[index]
    return trial.try_mutant(mutant, able, witnesses, all_kills=all_kills)


def _limit_memory() -> None:
    """A mutant that never stops growing must not take the machine with it, where that can be prevented."""
    try:
        import resource
    except ImportError:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
