"""What a person sees of a run, made from the result stream alone."""

from __future__ import annotations

import json
import shlex
from collections import Counter, defaultdict
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from conformance.judge import PASSING, STATUSES
from conformance.stream import Record

COLOURS = {"pass": "green", "either": "cyan", "undeclared": "dim", "not-run": "yellow"}
SHOWN_FAILURES = 50
SHOWN_WIDTH = 300


class TerminalView:
    """Feed it every record; it shows progress on a terminal, failures as they come, and a summary."""

    def __init__(self, console: Console, progress_console: Console) -> None:
        self.console = console
        self.progress: Progress | None = None
        self.progress_console = progress_console
        self.task: Any = None
        self.start: Record = {}
        self.by_topic: dict[str, Counter[str]] = defaultdict(Counter)
        self.seen = 0
        self.failures = 0

    def feed(self, record: Record) -> None:
        """Take the next record of the stream."""
        kind = record["record"]
        if kind == "start":
            self.begin(record)
        elif kind == "verdict":
            self.verdict(record)
        elif kind == "end":
            self.end(record)

    def close(self) -> None:
        """Put the progress bar away; safe to call at any time."""
        if self.progress is not None:
            self.progress.stop()
            self.progress = None

    def line(self, text: str | Text, style: str | None = None) -> None:
        self.console.print(text, style=style, soft_wrap=True, highlight=False, markup=False)

    def begin(self, record: Record) -> None:
        self.start = record
        implementation = record["implementation"]
        shown = " ".join(implementation[name] for name in ("name", "version") if name in implementation)
        language = f" ({implementation['language']})" if "language" in implementation else ""
        suite = f"session-conformance {record['suite']['version']}"
        self.line(f"{suite}: {record['cases']} cases against {record['adapter']}: {shown}{language}")
        if self.progress_console.is_terminal:
            columns = (
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
            )
            self.progress = Progress(*columns, console=self.progress_console, transient=True)
            self.task = self.progress.add_task("", total=record["cases"])
            self.progress.start()

    def verdict(self, record: Record) -> None:
        self.by_topic[record["topic"]][record["status"]] += 1
        self.seen += 1
        if record["status"] not in PASSING and record["status"] != "undeclared":
            self.failures += 1
            if self.failures <= SHOWN_FAILURES:
                self.failure(record)
            elif self.failures == SHOWN_FAILURES + 1:
                self.line(f"\nmore than {SHOWN_FAILURES} failures; --report FILE holds all of them")
        if self.progress is not None and self.seen % 32 == 0:
            self.progress.update(self.task, completed=self.seen, description=record["topic"])

    def failure(self, record: Record) -> None:
        """One case that did not pass: what, why it matters, where it differs, whose fault, how to repeat."""
        heading = Text(f"\n{record['status'].upper()} ", style="bold red")
        heading.append(record["case"], style="bold")
        heading.append(f"  [{', '.join(record['rules'])}]")
        self.line(heading)
        for name, text in [*details(record), ("again", self.again(record))]:
            self.line(f"  {name:<8} {text}")

    def again(self, record: Record) -> str:
        """The command that repeats just this case."""
        words = ["session-conformance", "run", self.start["adapter"], "--select", record["case"]]
        for path in self.start.get("vectors", []):
            words += ["--vectors", path]
        if self.start["strict"]:
            words += ["--strict", ",".join(self.start["strict"])]
        return shlex.join(words)

    def end(self, record: Record) -> None:
        self.close()
        if not record["complete"]:
            self.line(f"\ninterrupted after {self.seen} of {self.start.get('cases', '?')} cases", "yellow")
            return
        self.summary(record["counts"])
        for problem in record["problems"]:
            self.line(f"adapter problem: {problem}", "yellow")
        counts = ", ".join(
            f"{record['counts'][name]} {name}" for name in STATUSES if record["counts"].get(name)
        )
        self.line(f"{sum(record['counts'].values())} cases in {record['seconds']:.2f} s: {counts}")
        for name, scores in (("condition", record["conditions"]), ("position", record["positions"])):
            if scores:
                told = ", ".join(
                    f"{scores[key]} {key}" for key in ("same", "other", "not-given") if key in scores
                )
                strict = "" if name in self.start["strict"] else " (not counted without --strict)"
                self.line(f"refusals by {name}: {told}{strict}")
        self.line(Text(*_outcome(record["exit"])))

    def summary(self, counts: dict[str, int]) -> None:
        """One row per topic, one column per status that occurred."""
        columns = [name for name in STATUSES if counts.get(name)]
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column("topic", no_wrap=True)
        for name in columns:
            table.add_column(name, justify="right", style=COLOURS.get(name, "red"), no_wrap=True)
        for topic in sorted(self.by_topic):
            row = self.by_topic[topic]
            table.add_row(topic, *(str(row[name]) if row[name] else "" for name in columns))
        self.console.print()
        self.console.print(table, highlight=False)
        self.console.print()


def details(record: Record) -> list[tuple[str, str]]:
    """What there is to say of a case that did not pass, as pairs of a word and a text."""
    told = []
    if "why" in record:
        told.append(("why", record["why"]))
    if "message" in record:
        told.append(("what", _shorten(record["message"])))
    if "difference" in record:
        difference = record["difference"]
        told.append(("differs", difference["path"] or "the kind of answer"))
        told.append(("expected", _shown(difference, "expected")))
        told.append(("found", _shown(difference, "found")))
    if "diverges" in record:
        told.append(("event", f"goes wrong with event {record['diverges']} of the log (counted from 0)"))
    if "stderr" in record:
        told.append(("stderr", _shorten(record["stderr"][-SHOWN_WIDTH:].replace("\n", " | "))))
    told.append(("fault", record["fault"]))
    told.append(("case", f"{record['file']}:{record['line']}"))
    return told


def _outcome(code: int) -> tuple[str, str]:
    if code == 0:
        return "conforms", "bold green"
    if code == 1:
        return "does not conform", "bold red"
    return "the adapter is at fault; the verdicts above cannot be relied on", "bold yellow"


def _shown(difference: dict[str, Any], side: str) -> str:
    return _shorten(json.dumps(difference[side])) if side in difference else "(absent)"


def _shorten(text: str) -> str:
    return text if len(text) <= SHOWN_WIDTH else f"{text[: SHOWN_WIDTH - 1]}…"
