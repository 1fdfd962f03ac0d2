"""What a finding is, and the values it is made of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

SEVERITIES = ("error", "warning", "note")
"""Most severe first. An error makes verdicts wrong or the run fail."""
SHOWN_SENT = 240
SHOWN_BACK = 300


@dataclass(frozen=True, slots=True)
class Entry:
    """What the catalogue knows of one kind of finding."""

    id: str
    severity: str
    what: str
    why: str
    section: str
    """The section of the protocol page that says so."""
    fix: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of the glue, with its evidence."""

    id: str
    severity: str
    what: str
    sent: str
    received: str
    why: str
    section: str
    fix: str
    times: int = 1

    def record(self) -> dict[str, Any]:
        """The finding as JSON; see ``spec/schemas/doctor.schema.json``."""
        return asdict(self)


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """One finding per id, most severe first, otherwise in the order in which they were made."""
    merged: dict[str, Finding] = {}
    for finding in findings:
        known = merged.get(finding.id)
        if known is None or SEVERITIES.index(finding.severity) < SEVERITIES.index(known.severity):
            merged[finding.id] = finding
    return sorted(merged.values(), key=lambda finding: SEVERITIES.index(finding.severity))


def shorten_middle(text: str, width: int) -> str:
    """A text whose middle is left out where it is too long, with what it measured."""
    if len(text) <= width:
        return text
    tail = width // 4
    return f"{text[: width - tail]} … {text[-tail:]} ({len(text)} characters)"
