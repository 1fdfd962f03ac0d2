"""``adequacy``: how many faulty copies of the reference the corpus notices."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path

from conformance.adequacy.campaign import Campaign, run_campaign
from conformance.adequacy.mutant import Mutant, Outcome
from conformance.corpus import load_corpus
from conformance.errors import ExitCode, UsageError
from conformance.ledger import load_ledger

WANTED_GENERIC = 0.99
STATUSES = ("killed", "equivalent", "survived", "not-applicable", "broken")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("adequacy", help="measure the corpus with mutants", description=__doc__)
    parser.add_argument("--page", metavar="P", help="only mutants of one page of the specification")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--named", dest="which", action="store_const", const="named", default="both")
    which.add_argument("--generic", dest="which", action="store_const", const="generic")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")
    parser.add_argument("--no-cache", action="store_true", help="try everything anew")
    parser.add_argument(
        "--idle-cases", action="store_true", help="list cases that kill no mutant (tries everything)"
    )
    parser.add_argument("--all", action="store_true", help="list every mutant with its outcome")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Run the campaign, show it, and exit 1 if the corpus is too weak."""
    ledger = load_ledger()
    if args.page is not None and args.page not in ledger.pages:
        raise UsageError(f"unknown page {args.page}; pages are {', '.join(ledger.pages)}")
    cache = None if args.no_cache else cache_file()
    campaign = run_campaign(ledger, args.page, args.which, args.jobs, cache, all_kills=args.idle_cases)
    show_table(campaign)
    problems = findings(campaign)
    if args.all:
        for mutant, outcome in each(campaign):
            print(f"{outcome.status:<11} {mutant.id}  {outcome.case or outcome.reason or ''}")
    if args.idle_cases:
        show_idle(campaign)
    for problem in problems:
        print(problem)
    return ExitCode.DIFFERS if problems else ExitCode.CONFORMS


def cache_file() -> Path:
    """Where outcomes are kept between runs."""
    root = os.environ.get("SESSION_CONFORMANCE_CACHE") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "session-conformance" / "adequacy.json"


def each(campaign: Campaign) -> list[tuple[Mutant, Outcome]]:
    return [(mutant, campaign.outcomes[mutant.id]) for page in campaign.by_page.values() for mutant in page]


def show_table(campaign: Campaign) -> None:
    """One row per page and sort of mutant."""
    print(f"{'page':<18} {'sort':<8} " + " ".join(f"{status:>14}" for status in STATUSES))
    total: Counter[tuple[bool, str]] = Counter()
    for page, mutants in sorted(campaign.by_page.items()):
        for is_named in (True, False):
            chosen = [mutant for mutant in mutants if (mutant.rule is not None) == is_named]
            counts = Counter(campaign.outcomes[mutant.id].status for mutant in chosen)
            total.update({(is_named, status): number for status, number in counts.items()})
            if chosen:
                row(page, is_named, counts)
    for is_named in (True, False):
        counts = Counter({status: number for (sort, status), number in total.items() if sort == is_named})
        if counts:
            row("all", is_named, counts)
    left_out = campaign.message_texts / max(1, campaign.message_texts + len(campaign.outcomes))
    print(
        f"{campaign.message_texts} message texts left out ({left_out:.1%});"
        f" {campaign.remembered} outcomes remembered"
    )


def row(page: str, is_named: bool, counts: Counter[str]) -> None:
    sort = "named" if is_named else "generic"
    print(f"{page:<18} {sort:<8} " + " ".join(f"{counts[status] or '':>14}" for status in STATUSES))


def findings(campaign: Campaign) -> list[str]:
    """What keeps the corpus from being strong enough, one sentence each."""
    problems = list(campaign.stale)
    generic_bad: list[str] = []
    generic_total = 0
    for mutant, outcome in each(campaign):
        if mutant.rule is None:
            generic_total += 1
            if outcome.status not in ("killed", "equivalent", "broken"):
                generic_bad.append(f"survived: {mutant.id}")
            continue
        if outcome.status != "killed":
            problems.append(f"{outcome.status}: named mutant {mutant.id} ({mutant.rule}): {mutant.says}")
        elif not outcome.by_rule:
            problems.append(
                f"killed by {outcome.case}, but by no case of {mutant.rule}: named mutant {mutant.id}"
            )
    if generic_total and len(generic_bad) > (1 - WANTED_GENERIC) * generic_total:
        problems += generic_bad
    else:
        for told in generic_bad:
            print(told)
    return problems


def show_idle(campaign: Campaign) -> None:
    """Cases that no mutant needs; they may still be there for people, or for faults no mutant makes."""
    busy = {case for kills in campaign.kills.values() for case in kills}
    idle = [case.id for case in load_corpus() if case.id not in busy and case.expect.kind != "either"]
    print(f"{len(idle)} cases kill no mutant")
    for case in idle:
        print(f"  {case}")
