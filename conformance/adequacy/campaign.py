"""All mutants, in several processes, with what is known from earlier runs left out."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import resource
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from conformance import strict_yaml
from conformance.adequacy import generic, named, trial
from conformance.adequacy.copies import sources
from conformance.adequacy.mutant import Mutant, Outcome
from conformance.adequacy.tracing import trace_cases
from conformance.cases import Case
from conformance.corpus import load_corpus
from conformance.errors import VectorError
from conformance.ledger import Ledger
from conformance.resources import PACKAGE

EQUIVALENT = Path(__file__).with_name("equivalent.yaml")
MEMORY_BYTES = 4 << 30
NO_PAGE = "beside the pages"


@dataclass
class Campaign:
    """The mutants of a run by page, what became of each, and what was noticed beside that."""

    by_page: dict[str, list[Mutant]] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    kills: dict[str, list[str]] = field(default_factory=dict)
    message_texts: int = 0
    remembered: int = 0
    stale: list[str] = field(default_factory=list)


def page_of(module: str, ledger: Ledger) -> str:
    """One page is one module: fold.py belongs to fold.md, event_log.py to event-log.md."""
    page = module.replace("_", "-")
    return page if page in ledger.pages else NO_PAGE


def gather(ledger: Ledger, page: str | None, which: str) -> Campaign:
    """The mutants of one page or of all; ``which`` is named, generic or both."""
    campaign = Campaign()
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
                campaign.message_texts += generated.message_texts
    return campaign


def run_campaign(
    ledger: Ledger, page: str | None, which: str, jobs: int, cache: Path | None, *, all_kills: bool = False
) -> Campaign:
    """Try every mutant. Raises VectorError if the reference itself does not pass the corpus."""
    campaign = gather(ledger, page, which)
    cases = load_corpus(ledger=ledger)
    lines = trace_cases(cases)
    jury = trial.select_jury(cases, lines)
    modules = {case.id: {module for module, _ in hit} for case, hit in zip(cases, lines, strict=True)}
    check_original(jury.cases)
    known = {} if cache is None or all_kills else read_cache(cache)
    keys: dict[str, str] = {}
    waiting: list[tuple[Mutant, list[Case]]] = []
    for mutant in (mutant for mutants in campaign.by_page.values() for mutant in mutants):
        able = jury.for_mutant(mutant)
        keys[mutant.id] = key_of(mutant, able, modules)
        if keys[mutant.id] in known:
            campaign.outcomes[mutant.id] = Outcome(**known[keys[mutant.id]])
            campaign.remembered += 1
        else:
            waiting.append((mutant, able))
    for mutant, outcome, kills in try_all(waiting, jobs, all_kills):
        campaign.outcomes[mutant.id] = outcome
        campaign.kills[mutant.id] = kills
    if cache is not None and not all_kills:
        write_cache(
            cache, known | {keys[name]: asdict(outcome) for name, outcome in campaign.outcomes.items()}
        )
    excuse(campaign, whole=page is None and which == "both")
    return campaign


def check_original(jury: Sequence[Case]) -> None:
    """The unchanged copy must pass; otherwise every mutant would seem to be killed."""
    original = Mutant("original", "fold", "none", "unchanged", sources()["fold"], frozenset())
    outcome, _ = trial.try_mutant(original, jury)
    if outcome.status != "survived":
        raise VectorError(
            f"the reference itself does not pass ({outcome.status}: {outcome.case or outcome.reason})"
        )


_waiting: Sequence[tuple[Mutant, list[Case]]] = ()


def try_all(
    waiting: Sequence[tuple[Mutant, list[Case]]], jobs: int, all_kills: bool
) -> Iterable[tuple[Mutant, Outcome, list[str]]]:
    """Outcomes in the order of the mutants. Children inherit the mutants; only numbers travel."""
    global _waiting
    _waiting = waiting
    if not waiting:
        return
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(jobs, context, initializer=_limit_memory) as pool:
        chunk = max(1, len(waiting) // (jobs * 16))
        flags = [all_kills] * len(waiting)
        for index, (outcome, kills) in enumerate(
            pool.map(_try_one, range(len(waiting)), flags, chunksize=chunk)
        ):
            yield waiting[index][0], outcome, kills


def _try_one(index: int, all_kills: bool) -> tuple[Outcome, list[str]]:
    mutant, able = _waiting[index]
    return trial.try_mutant(mutant, able, all_kills=all_kills)


def _limit_memory() -> None:
    """A mutant that never stops growing must not take the machine with it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def key_of(mutant: Mutant, able: Sequence[Case], modules: dict[str, set[str]]) -> str:
    """What an outcome depends on: the mutant, the code that its cases execute, and those cases."""
    total = hashlib.sha256()
    touched = set().union(*(modules[case.id] for case in able)) | {mutant.module}
    for part in (mutant.id, mutant.source, judging_digest(), *(sources()[name] for name in sorted(touched))):
        total.update(part.encode() + b"\0")
    for case in able:
        total.update(f"{case.id} {case.digest} {','.join(case.rules)}\n".encode())
    return total.hexdigest()


def judging_digest() -> str:
    """The code that stands between a case and its verdict."""
    names = ("judge.py", "compare.py", "adapters/reference.py", "adapters/inprocess.py", "adequacy/trial.py")
    return hashlib.sha256(b"".join((PACKAGE / name).read_bytes() for name in names)).hexdigest()


def read_cache(path: Path) -> dict[str, dict[str, Any]]:
    """Outcomes of earlier runs; a cache that cannot be read is no cache."""
    try:
        known: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return known


def write_cache(path: Path, known: dict[str, dict[str, Any]]) -> None:
    """Keep outcomes; where nothing can be kept, nothing is lost but time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}.new")
        draft.write_text(json.dumps(known), "utf-8")
        draft.replace(path)
    except OSError:
        return


def excuse(campaign: Campaign, *, whole: bool) -> None:
    """Survivors that are listed with a reason are equivalent; a list entry that excuses nothing is stale."""
    document, _ = strict_yaml.load(EQUIVALENT)
    for group in document["equivalent"]:
        for name in group["mutants"]:
            outcome = campaign.outcomes.get(name)
            if outcome is not None and outcome.status == "survived":
                campaign.outcomes[name] = Outcome("equivalent", reason=group["reason"])
            elif outcome is not None or whole:
                told = "is no mutant" if outcome is None else f"is {outcome.status}"
                campaign.stale.append(f"equivalent.yaml lists what {told}: {name}")
