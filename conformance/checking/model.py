"""What a check gives: findings, one report per log, and all of them together."""

from __future__ import annotations

import html
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "loss", "advice"]
Layer = Literal["file", "storage", "load", "live"]
Verdict = Literal["accepted", "refused", "not judged"]

SEVERITIES: tuple[Severity, ...] = ("error", "loss", "advice")
"""Most severe first. ``error``: a conforming reader refuses the log. ``loss``: it drops events.
``advice``: it loads the log, but a provider or a later edition may not take it."""

STORIES = {
    "two-writers": "two writers had this session open at once",
    "torn-tail": "the writer was stopped in the middle of a write",
    "lost-events": "events were lost or removed from the middle of the log",
    "remapped-seqs": "a tool has renumbered or filtered the events, and the references did not follow",
    "foreign-edition": "another edition of the format has written this",
    "rewind-tool": "a tool has rewound or edited the conversation",
    "crash-in-tool": "the writer ended while a tool was running",
    "wrong-encoding": "the file is not encoded as its name or its reader says",
    "other-platform": "the log comes from another operating system",
    "damaged": "the bytes of the file were changed after they were written",
}
"""What has probably happened, by the name that a finding carries."""


@dataclass(frozen=True, slots=True)
class Also:
    """Another line that a finding is about."""

    line: int
    byte: int
    what: str


@dataclass(slots=True)
class Finding:
    """One thing that was found.

    ``rule`` is a rule id of the specification or of the advice page; ``condition`` its stable name.
    ``line`` counts lines of the file from 1, the header included; ``byte`` is where that line begins, in
    the log as it is uncompressed, except for a fault of a compressed frame, where it is a byte of the file.
    ``excerpt`` is a stretch of the line, and ``column`` the place in it, from 0, that is meant.
    """

    condition: str
    severity: Severity
    layer: Layer
    message: str
    line: int | None = None
    byte: int | None = None
    seq: int | None = None
    found: str | None = None
    expected: str | None = None
    story: str | None = None
    hint: str | None = None
    excerpt: str | None = None
    column: int | None = None
    rule: str = ""
    also: Also | None = None
    others: int = 0
    """How many more of the same kind there are that are not listed."""

    def record(self) -> dict[str, Any]:
        """The finding as JSON; see ``spec/schemas/check.schema.json``."""
        told = {name: getattr(self, name) for name in _FIELDS}
        told = {name: value for name, value in told.items() if value is not None}
        if self.also is not None:
            told["also"] = {"line": self.also.line, "byte": self.also.byte, "what": self.also.what}
        if self.others:
            told["others"] = self.others
        return told


_FIELDS = (
    "rule", "condition", "severity", "layer", "message", "line", "byte", "seq",
    "found", "expected", "story", "hint", "excerpt",
)  # fmt: skip


@dataclass(slots=True, repr=False)
class FileReport:
    """What is known of one log.

    ``path`` names the file, and ``session`` the session where a file holds several. The numbers are those
    of the log as a reader has it, so what is torn off does not count; they are None where nobody can tell.
    ``torn_from`` is the byte from which a repair cuts. ``unsound_from`` is the line behind which the load
    rules could no longer be applied, with the reason.
    """

    path: str
    format: str = "unknown"
    session: str | None = None
    edition: str | None = None
    verdict: Verdict = "not judged"
    size: int | None = None
    events: int | None = None
    nodes: int | None = None
    messages: int | None = None
    closers: int | None = None
    torn_from: int | None = None
    dropped_lines: int = 0
    unsound_from: int | None = None
    unsound_why: str | None = None
    findings: list[Finding] = field(default_factory=list)
    header: dict[str, Any] = field(default_factory=dict, repr=False)
    """The header of a log of the JSONL store as far as it could be read; not part of the JSON."""

    def __str__(self) -> str:
        """The report as ``session-conformance check`` prints it."""
        from conformance.checking.text import text_of

        return text_of(self)

    def __repr__(self) -> str:
        return f"<FileReport {self.path!r}: {self.verdict}, {len(self.findings)} findings>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return f"<pre>{html.escape(str(self))}</pre>"

    @property
    def refusal(self) -> Finding | None:
        """What a conforming reader reports: the first error in the order of its checks."""
        return next((each for each in self.findings if each.severity == "error"), None)

    def count(self, severity: Severity) -> int:
        """How many findings of a severity there are, unlisted ones included."""
        return sum(1 + each.others for each in self.findings if each.severity == severity)

    def record(self) -> dict[str, Any]:
        """The report as JSON; see ``spec/schemas/check.schema.json``."""
        told: dict[str, Any] = {
            "path": self.path,
            "format": self.format,
            "verdict": self.verdict,
            "edition": self.edition,
            "events": self.events,
            "nodes": self.nodes,
            "messages": self.messages,
            "closers": self.closers,
            "tornFrom": self.torn_from,
            "findings": [finding.record() for finding in self.findings],
        }
        if self.session is not None:
            told["session"] = self.session
        if self.dropped_lines:
            told["droppedLines"] = self.dropped_lines
        if self.unsound_from is not None:
            told["unsoundFrom"] = {"line": self.unsound_from, "why": self.unsound_why}
        return told


@dataclass(slots=True, repr=False)
class Report:
    """All logs of one check."""

    files: list[FileReport] = field(default_factory=list)

    def __iter__(self) -> Iterator[FileReport]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __str__(self) -> str:
        """The reports as ``session-conformance check`` prints them."""
        from conformance.checking.text import summary

        return "\n".join((*map(str, self.files), summary(self)))

    def __repr__(self) -> str:
        from conformance.checking.text import summary

        return f"<Report of {summary(self)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return f"<pre>{html.escape(str(self))}</pre>"

    @property
    def exit_code(self) -> int:
        """0 where every log loads whole, 1 where one is refused or loses events, else 3."""
        if any(each.verdict == "refused" or each.count("loss") for each in self.files):
            return 1
        return 3 if any(each.verdict == "not judged" for each in self.files) else 0

    def record(self) -> dict[str, Any]:
        """The report as JSON; see ``spec/schemas/check.schema.json``."""
        return {"files": [each.record() for each in self.files]}


LISTED = 20
"""Findings of one condition and severity that a report lists; of the rest only the number is kept."""
