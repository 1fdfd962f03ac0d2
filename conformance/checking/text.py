"""A report as a person reads it: what is wrong, where, what was found, and what has probably happened."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from conformance.checking.model import STORIES, FileReport, Finding, Report
from conformance.terminal import clean

COLOURS = {"error": "bold red", "loss": "bold yellow", "advice": "bold cyan"}
VERDICTS = {"accepted": "bold green", "refused": "bold red", "not judged": "bold yellow"}


def show(report: FileReport, console: Console) -> None:
    """One log with its findings."""
    heading = Text(clean(report.path), style="bold")
    if report.session is not None:
        heading.append(clean(f" session {report.session}"), style="not bold")
    heading.append(": ", style="not bold")
    heading.append(verdict_of(report), style=VERDICTS[report.verdict])
    heading.append(clean(f"  {numbers_of(report)}"), style="not bold")
    _print(console, heading)
    for finding in report.findings:
        _finding(finding, console)
    if report.unsound_from is not None:
        told = f"  the surface could not be followed behind line {report.unsound_from}: {report.unsound_why}"
        _print(console, Text(clean(told), style="yellow"))


def verdict_of(report: FileReport) -> str:
    """The verdict in a word or two."""
    if report.verdict == "accepted" and report.count("loss"):
        return "accepted, with losses"
    return report.verdict


def numbers_of(report: FileReport) -> str:
    """What is in the log, and what a reader would do with it."""
    told = [report.format]
    if report.edition is not None:
        told.append(report.edition)
    for number, name in ((report.events, "event"), (report.nodes, "node"), (report.messages, "message")):
        if number is not None:
            told.append(_count(number, name))
    if report.closers:
        told.append(f"a reader adds {_count(report.closers, 'closer')}")
    if report.torn_from is not None:
        told.append(f"torn from byte {report.torn_from:,}")
    return ", ".join(told)


def summary(report: Report) -> str:
    """The last line."""
    verdicts = [verdict_of(each) for each in report.files]
    told = [
        f"{verdicts.count(name)} {name}" for name in dict.fromkeys(sorted(verdicts)) if verdicts.count(name)
    ]
    advice = sum(each.count("advice") for each in report.files)
    more = f"; {_count(advice, 'piece')} of advice" if advice else ""
    return f"{_count(len(report.files), 'log')}: {', '.join(told) or 'nothing to check'}{more}"


def _finding(finding: Finding, console: Console) -> None:
    heading = Text("  ")
    heading.append(finding.severity, style=COLOURS[finding.severity])
    heading.append(f" {finding.rule}", style="bold")
    name = "" if finding.rule == finding.condition else f" {finding.condition}"
    heading.append(f"{name}{_where(finding)}")
    _print(console, heading)
    _print(console, Text(clean(f"    {finding.message}")))
    if finding.excerpt is not None and finding.excerpt.strip():
        _excerpt(finding, console)
    elif finding.found is not None or finding.expected is not None:
        _print(console, Text(clean(f"    {_sides(finding)}")))
    if finding.also is not None:
        told = f"    also   line {finding.also.line}, byte {finding.also.byte}: {finding.also.what}"
        _print(console, Text(clean(told)))
    if finding.story is not None:
        _print(console, Text(f"    story  {STORIES[finding.story]}"))
    if finding.hint is not None:
        _print(console, Text(clean(f"    hint   {finding.hint}")))
    if finding.others:
        _print(console, Text(f"    … and {finding.others:,} more of this kind", style="dim"))


def _excerpt(finding: Finding, console: Console) -> None:
    """The line, and a caret under the place in it."""
    assert finding.excerpt is not None
    number = str(finding.line)
    column = finding.column or 0
    lead = len(clean(finding.excerpt[:column]))
    _print(console, Text(clean(f"    {number} | {finding.excerpt}"), style="dim"))
    caret = Text(f"    {' ' * len(number)} | {' ' * lead}", style="dim")
    caret.append("^", style="bold red")
    caret.append(clean(f" {_sides(finding)}") if _sides(finding) else "", style="not dim")
    _print(console, caret)


def _sides(finding: Finding) -> str:
    told = []
    if finding.found is not None:
        told.append(f"found {finding.found}")
    if finding.expected is not None:
        told.append(f"expected {finding.expected}")
    return ", ".join(told)


def _where(finding: Finding) -> str:
    told = []
    if finding.line is not None:
        told.append(f"line {finding.line}")
    if finding.byte is not None:
        told.append(f"byte {finding.byte}")
    if finding.seq is not None:
        told.append(f"seq {finding.seq}")
    return f"  {', '.join(told)}" if told else ""


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}" if number == 1 else f"{number:,} {name}s"


def _print(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=True, highlight=False)
