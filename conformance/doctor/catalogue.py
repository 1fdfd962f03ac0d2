"""The kinds of findings, collected from their two halves, and how a finding is made."""

from __future__ import annotations

from conformance.doctor.catalogue_answers import ANSWERS
from conformance.doctor.catalogue_lines import LINES
from conformance.doctor.findings import SHOWN_BACK, SHOWN_SENT, Entry, Finding, shorten_middle

CATALOGUE: dict[str, Entry] = {entry.id: entry for entry in (*LINES, *ANSWERS)}


def finding(
    name: str, sent: str, received: str, detail: str = "", *, severity: str | None = None, times: int = 1
) -> Finding:
    """A finding of that kind with its evidence; ``detail`` is said behind what it is."""
    entry = CATALOGUE[name]
    return Finding(
        id=name,
        severity=severity or entry.severity,
        what=f"{entry.what}: {detail}" if detail else entry.what,
        sent=shorten_middle(sent, SHOWN_SENT + 60) or "nothing",
        received=shorten_middle(received, 2 * SHOWN_BACK) or "nothing",
        why=entry.why,
        section=entry.section,
        fix=entry.fix,
        times=times,
    )
