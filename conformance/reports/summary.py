"""What every report needs of a stream: how it began and ended, counts by topic, and the failures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from conformance.errors import UsageError
from conformance.judge import PASSING
from conformance.stream import Record

NO_FAILURE = frozenset((*PASSING, "known-failure", "undeclared"))
"""Statuses that nobody needs to act on."""


@dataclass
class Summary:
    """One run. ``end`` is empty if the stream was cut off before its last record."""

    start: Record = field(default_factory=dict)
    end: Record = field(default_factory=dict)
    by_topic: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    failures: list[Record] = field(default_factory=list)
    known: list[Record] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether the stream holds a whole run."""
        return bool(self.end.get("complete"))

    @property
    def counts(self) -> Counter[str]:
        """Verdicts by status, as far as the stream goes."""
        return sum(self.by_topic.values(), Counter())

    @property
    def problems(self) -> list[str]:
        """Faults of the run beside its cases."""
        return [*self.end.get("problems", []), *self.end.get("baseline", [])]

    def outcome(self) -> str:
        """In one sentence, what the run says of the implementation."""
        if not self.complete:
            seen = self.counts.total()
            return f"cut off after {seen} of {self.start.get('cases', '?')} cases: says nothing"
        return {0: "conforms", 1: "does not conform"}.get(self.end["exit"], "adapter at fault")


def summarise(records: Iterable[Record]) -> Summary:
    """Read a stream to its end. Raises UsageError if it does not begin as one."""
    summary = Summary()
    for record in records:
        kind = record["record"]
        if kind == "start":
            summary.start = record
        elif kind == "verdict":
            summary.by_topic[record["topic"]][record["status"]] += 1
            if record["status"] == "known-failure":
                summary.known.append(record)
            elif record["status"] not in NO_FAILURE:
                summary.failures.append(record)
        elif kind == "end":
            summary.end = record
    if not summary.start:
        raise UsageError("the file is no result stream: it does not begin with a start record")
    return summary


def implementation_name(start: Record) -> str:
    """Name and version of what was judged."""
    implementation = start["implementation"]
    return " ".join(implementation[part] for part in ("name", "version") if part in implementation)
