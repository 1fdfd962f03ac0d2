"""``adequacy``: how many faulty copies of the reference the corpus notices."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from typing import TYPE_CHECKING

from conformance.cli.common import plain, positive
from conformance.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from conformance.adequacy.campaign import Campaign

STATUSES = ("killed", "equivalent", "unjudged", "survived", "not-applicable", "broken")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "adequacy", help="measure the corpus with mutants", description=plain(__doc__)
    )
    parser.add_argument("--page", metavar="P", help="only mutants of one page of the specification")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--named", dest="which", action="store_const", const="named", default="both",
        help="only the mistakes that people wrote down",
    )  # fmt: skip
    which.add_argument(
        "--generic", dest="which", action="store_const", const="generic",
        help="only the small changes made by rule",
    )  # fmt: skip
    parser.add_argument(
        "-j", "--jobs", type=positive, default=os.cpu_count() or 1, metavar="N", help="processes"
    )
    parser.add_argument("--no-cache", action="store_true", help="try everything anew")
    parser.add_argument(
        "--idle-cases", action="store_true", help="list cases that kill no mutant (tries everything)"
    )
    parser.add_argument("--all", action="store_true", help="list every mutant with its outcome")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Run the campaign, show it, and exit 1 if the corpus is too weak."""
    # Imported here, for no other command needs any of it.
    from conformance.adequacy.campaign import run_campaign
    from conformance.adequacy.gate import findings
    from conformance.cache import cache_root
    from conformance.ledger import load_ledger

    ledger = load_ledger()
    if args.page is not None and args.page not in ledger.pages:
        raise UsageError(f"unknown page {args.page}; pages are {', '.join(ledger.pages)}")
    cache = None if args.no_cache else cache_root() / "adequacy.json"
    campaign = run_campaign(ledger, args.page, args.which, args.jobs, cache, all_kills=args.idle_cases)
    show_table(campaign)
    if args.all:
        for mutant in campaign.mutants():
            outcome = campaign.outcomes[mutant.id]
            print(f"{outcome.status:<14} {mutant.id}  {outcome.case or outcome.reason or ''}")
    if args.idle_cases:
        show_idle(campaign)
    problems = findings(campaign, ledger)
    for problem in problems:
        print(problem)
    return ExitCode.DIFFERS if problems else ExitCode.CONFORMS


def show_table(campaign: Campaign) -> None:
    """One row per page and sort of mutant."""
    from conformance.adequacy.gate import share_left_out

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
    if campaign.sites:
        sites = campaign.sites + campaign.left_out
        print(
            f"{campaign.left_out} of {sites} sites left out as message text ({share_left_out(campaign):.1%})"
        )
    print(f"{campaign.remembered} of {len(campaign.outcomes)} outcomes remembered")


def row(page: str, is_named: bool, counts: Counter[str]) -> None:
    sort = "named" if is_named else "generic"
    print(f"{page:<18} {sort:<8} " + " ".join(f"{counts[status] or '':>14}" for status in STATUSES))


def show_idle(campaign: Campaign) -> None:
    """Cases that no mutant needs; they may still be there for people, or for faults no mutant makes."""
    from conformance.corpus import load_corpus

    busy = {case for kills in campaign.kills.values() for case in kills}
    judging = [case.id for case in load_corpus() if case.expect.kind not in ("either", "family")]
    idle = [case for case in judging if case not in busy]
    print(f"{len(idle)} cases kill no mutant")
    for case in idle:
        print(f"  {case}")
