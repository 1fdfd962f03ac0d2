"""Collects findings: few of each kind in full, with an excerpt and a caret; of the rest only how many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from conformance.checking.exact_json import place_of
from conformance.checking.model import LISTED, SEVERITIES, Finding, Layer, Severity

EXCERPT = 96
LONGEST_SEARCHED = 1 << 20
"""Bytes of a line up to which the place of a member in it is looked for."""


class Place(NamedTuple):
    """A line: its number from 1, where it begins, and its bytes."""

    line: int
    byte: int
    text: bytes


class Collector:
    """Findings with the rank of the check that made them, so that the first refusal can be told."""

    def __init__(self) -> None:
        self.made: list[tuple[int, int, Finding]] = []
        self.last: dict[tuple[str, Severity], tuple[int, Finding]] = {}

    def add(
        self,
        condition: str,
        severity: Severity,
        layer: Layer,
        message: str,
        place: Place | None = None,
        names: Sequence[str] = (),
        *,
        rank: int = 0,
        seq: int | None = None,
        found: str | None = None,
        expected: str | None = None,
        story: str | None = None,
        hint: str | None = None,
    ) -> Finding:
        """Take one finding. Beyond LISTED of a kind and severity the last listed one counts the others."""
        key = (condition, severity)
        number, last = self.last.get(key, (0, None))
        if last is not None and number >= LISTED and rank >= self.made[-1][0]:
            last.others += 1
            return last
        finding = Finding(condition, severity, layer, message, seq=seq, found=found, expected=expected)
        finding.story, finding.hint = story, hint
        if place is not None and place.byte >= 0:
            finding.line, finding.byte = place.line, place.byte
            finding.excerpt, finding.column = excerpt_of(place.text, names)
        self.made.append((rank, len(self.made), finding))
        self.last[key] = (number + 1, finding)
        return finding

    def refused(self) -> bool:
        """Whether an error was found."""
        return any(finding.severity == "error" for _, _, finding in self.made)

    def sorted(self) -> list[Finding]:
        """Most severe first; errors in the order in which a reader asks, the rest by their lines."""

        def key(entry: tuple[int, int, Finding]) -> tuple[int, int, int, int]:
            rank, number, finding = entry
            if finding.severity == "error":
                return 0, rank, number, 0
            return SEVERITIES.index(finding.severity), finding.line or 0, rank, number

        return [finding for _, _, finding in sorted(self.made, key=key)]


def excerpt_of(line: bytes, names: Sequence[str]) -> tuple[str, int]:
    """A stretch of a line around the member that ``names`` lead to, and the column of it in that stretch."""
    at = 0
    if names and len(line) <= LONGEST_SEARCHED:
        text = line.decode("utf-8", "replace")
        at = place_of(text, names) or 0
    else:
        text = line[: EXCERPT * 4].decode("utf-8", "replace")
    start = 0 if at < EXCERPT - 24 else at - EXCERPT // 3
    lead = "…" if start else ""
    cut = text[start : start + EXCERPT].rstrip("\r\n")
    tail = "…" if start + EXCERPT < len(text) or len(text) < len(line) // 4 else ""
    return f"{lead}{cut}{tail}", at - start + len(lead)
