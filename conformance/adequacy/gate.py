"""Is the corpus strong enough? What a campaign found, as sentences that say what is not."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.adequacy.campaign import Campaign
from conformance.adequacy.mutant import Mutant, Outcome
from conformance.ledger import Ledger

WANTED_NAMED = 3
"""Named mutants that every page with rules to test has at least."""
MAX_LEFT_OUT = 0.10
"""The share of sites that may be left out as message text."""
JUSTIFIED = ("killed", "equivalent", "unjudged")


def findings(campaign: Campaign, ledger: Ledger) -> list[str]:
    """What keeps the corpus from being strong enough, one sentence each."""
    return [
        *campaign.stale,
        *missing_mutants(campaign, ledger),
        *(told for mutant in campaign.mutants() for told in fault(mutant, campaign.outcomes[mutant.id])),
        *too_much_left_out(campaign),
    ]


def missing_mutants(campaign: Campaign, ledger: Ledger) -> Iterator[str]:
    """A campaign without mutants proves nothing, and neither does a page with too few named ones."""
    if next(campaign.mutants(), None) is None:
        sort = "" if campaign.which == "both" else f"{campaign.which} "
        yield f"there is no {sort}mutant of {campaign.page or 'any page'}, so nothing was shown"
    if campaign.which == "generic":
        return
    for page in ledger.pages if campaign.page is None else (campaign.page,):
        testable = any(rule.page == page and rule.untestable is None for rule in ledger.rules.values())
        count = sum(mutant.rule is not None for mutant in campaign.by_page.get(page, ()))
        if testable and count < WANTED_NAMED:
            yield f"page {page} has {count} named mutants; it takes {WANTED_NAMED} at least"


def fault(mutant: Mutant, outcome: Outcome) -> Iterator[str]:
    """A named mutant must be killed by a case of its rule, a generic one killed or justified."""
    if mutant.rule is None:
        if outcome.status not in JUSTIFIED:
            yield f"{outcome.status}: {mutant.id}{reason(outcome)}"
    elif outcome.status != "killed":
        yield f"{outcome.status}: named mutant {mutant.id} ({mutant.rule}): {mutant.says}"
    elif not outcome.by_rule:
        yield f"killed by {outcome.case}, but by no case of {mutant.rule}: named mutant {mutant.id}"


def reason(outcome: Outcome) -> str:
    """What more there is to say of an outcome."""
    if outcome.seen_by is not None:
        return f" (only the either case {outcome.seen_by} sees it)"
    return f" ({outcome.reason})" if outcome.reason else ""


def share_left_out(campaign: Campaign) -> float:
    """Sites left out as message text, of all sites that generic mutants could change."""
    return campaign.left_out / max(1, campaign.left_out + campaign.sites)


def too_much_left_out(campaign: Campaign) -> Iterator[str]:
    """The limit holds for the reference as a whole; one page may well say more than it decides."""
    share = share_left_out(campaign)
    if campaign.page is None and campaign.which != "named" and share > MAX_LEFT_OUT:
        yield f"{share:.1%} of the sites are left out as message texts; at most {MAX_LEFT_OUT:.0%} may be"
