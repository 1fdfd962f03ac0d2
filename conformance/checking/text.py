"""A report as a person reads it: what is wrong, where, what was found, and what has probably happened."""

from __future__ import annotations

import io

from rich.cells import cell_len, set_cell_size
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
    _print(console, "", heading)
    for finding in report.findings:
        _finding(finding, console)
    if report.unsound_from is not None:
        told = f"the surface could not be followed behind line {report.unsound_from}: {report.unsound_why}"
        _print(console, "  ", Text(clean(told), style="yellow"))


def text_of(report: FileReport) -> str:
    """One log with its findings, without colours and in lines as long as they are."""
    out = io.StringIO()
    show(report, Console(file=out, force_terminal=False, color_system=None, width=80))
    return out.getvalue().rstrip("\n")


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
    heading = Text()
    heading.append(finding.severity, style=COLOURS[finding.severity])
    heading.append(f" {finding.rule}", style="bold")
    name = "" if finding.rule == finding.condition else f" {finding.condition}"
    heading.append(f"{name}{_where(finding)}")
    _print(console, "  ", heading)
    _print(console, "    ", Text(clean(finding.message)))
    if finding.excerpt is not None and finding.excerpt.strip():
        _excerpt(finding, console)
    elif finding.found is not None or finding.expected is not None:
        _print(console, "    ", Text(clean(_sides(finding))))
    if finding.also is not None:
        told = f"line {finding.also.line}, byte {finding.also.byte}: {finding.also.what}"
        _print(console, "    also   ", Text(clean(told)))
    if finding.story is not None:
        _print(console, "    story  ", Text(STORIES[finding.story]))
    if finding.hint is not None:
        _print(console, "    hint   ", Text(clean(finding.hint)))
    if finding.others:
        _print(console, "    ", Text(f"… and {finding.others:,} more of this kind", style="dim"))


def _excerpt(finding: Finding, console: Console) -> None:
    """The line, and a caret under the place in it. On a terminal both fit on one line of it."""
    assert finding.excerpt is not None
    lead = f"    {finding.line} | "
    room = max(16, console.width - len(lead) - 1) if console.is_terminal else None
    shown, column = cut(clean(finding.excerpt), len(clean(finding.excerpt[: finding.column or 0])), room)
    _print(console, lead, Text(shown, style="dim"), wraps=False)
    caret = Text(" " * cell_len(shown[:column]))
    caret.append("^", style="bold red")
    sides = clean(_sides(finding))
    if room is None or caret.cell_len + 1 + cell_len(sides) <= room:
        caret.append(f" {sides}" if sides else "")
        sides = ""
    _print(console, f"{' ' * (len(lead) - 2)}| ", caret, wraps=False)
    if sides:
        _print(console, "    ", Text(sides))


def cut(text: str, column: int, room: int | None) -> tuple[str, int]:
    """A stretch of a text around a column that is at most ``room`` cells wide, and the column in it."""
    if room is None or cell_len(text) <= room:
        return text, column
    start = 0
    if cell_len(text[: column + 1]) > room * 2 // 3:
        start = column
        while start > 0 and cell_len(text[start - 1 : column]) <= room // 3:
            start -= 1
    lead = "…" if start else ""
    shown = lead + text[start:]
    if cell_len(shown) > room:
        shown = set_cell_size(shown, room - 1).rstrip() + "…"
    return shown, column - start + len(lead)


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


def _print(console: Console, lead: str, text: Text, *, wraps: bool = True) -> None:
    """One line; on a terminal that it is too wide for, several, which begin where the first one does."""
    if not wraps or not console.is_terminal or len(lead) + text.cell_len <= console.width:
        console.print(Text(lead).append_text(text), soft_wrap=True, highlight=False)
        return
    for number, line in enumerate(text.wrap(console, max(16, console.width - len(lead)))):
        line.rstrip()
        before = Text(lead if number == 0 else " " * len(lead))
        console.print(before.append_text(line), soft_wrap=True, highlight=False)
