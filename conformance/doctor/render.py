"""A diagnosis as a person reads it."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from conformance.doctor.examination import Diagnosis
from conformance.doctor.findings import Finding
from conformance.terminal import clean

COLOURS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


def show(diagnosis: Diagnosis, console: Console) -> None:
    """All findings, most severe first, and one line that says what it comes to."""
    told = diagnosis.implementation
    shown = " ".join(str(told[name]) for name in ("name", "version") if name in told)
    _line(console, f"doctor of {diagnosis.adapter}" + (f": {shown}" if shown else ""))
    for finding in diagnosis.findings:
        _finding(console, finding)
    console.print(Text(f"\n{summary(diagnosis)}", style=_style(diagnosis)), soft_wrap=True, highlight=False)


def summary(diagnosis: Diagnosis) -> str:
    """The last line."""
    number = _plural(len(diagnosis.made), "check")
    left_out = ""
    if diagnosis.not_made:
        left_out = f"; {_plural(len(diagnosis.not_made), 'check')} not made"
        left_out += f" ({diagnosis.stopped})" if diagnosis.stopped else " (explained by a finding above)"
    if not diagnosis.findings:
        return clean(f"{number}, no findings: the glue is sound{left_out}")
    counts = ", ".join(_plural(diagnosis.count(name), name) for name in COLOURS if diagnosis.count(name))
    sound = "" if diagnosis.count("error") else ": nothing that would make verdicts wrong"
    return clean(f"{number}, {counts}{sound}{left_out}")


def _finding(console: Console, finding: Finding) -> None:
    heading = Text(f"\n{finding.severity.upper()} ", style=COLOURS[finding.severity])
    heading.append(finding.id, style="bold")
    console.print(heading, soft_wrap=True, highlight=False)
    times = f" ({finding.times} times)" if finding.times > 1 else ""
    for name, text in (
        ("what", finding.what + times),
        ("sent", finding.sent),
        ("back", finding.received),
        ("why", f"{finding.why} (protocol page, section {finding.section!r})"),
        ("fix", finding.fix),
    ):
        _line(console, f"  {name:<8} {text}")


def _line(console: Console, text: str) -> None:
    console.print(Text(clean(text)), soft_wrap=True, highlight=False)


def _style(diagnosis: Diagnosis) -> str:
    return next((COLOURS[name] for name in COLOURS if diagnosis.count(name)), "bold green")


def _plural(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
