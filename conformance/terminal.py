"""What a person sees of a run, made from the result stream alone."""

from __future__ import annotations

import bisect
import json
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from conformance.adapters.limits import Limits
from conformance.judge import PASSING, STATUSES
from conformance.operations import OPERATIONS, known_capability
from conformance.selection import suggestion
from conformance.stream import Record

QUIET = frozenset((*PASSING, "undeclared", "known-failure"))
"""Statuses that are only counted."""
COLOURS = {
    "pass": "green",
    "either": "cyan",
    "undeclared": "dim",
    "not-run": "yellow",
    "known-failure": "yellow",
    "flaky": "magenta",
}
SHOWN_FAILURES = 50
SHOWN_RULES = 5
SHOWN_WIDTH = 300
NARROWEST = 40
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u202a-\u202e\u2066-\u2069]")


class PlainConsole(Console):
    """A console that leaves a closed pipe to whoever runs the command, and has a width in any case."""

    def __init__(self) -> None:
        super().__init__()
        if self.width < NARROWEST:
            self.width = NARROWEST

    def on_broken_pipe(self) -> NoReturn:
        """Rich would end the process with the code of a failed run."""
        raise BrokenPipeError


class TerminalView:
    """Feed it every record; it shows progress on a terminal, and in the end failures and a summary.

    Failures are shown in the order of the corpus, which is that of the specification; of more
    than SHOWN_FAILURES only the first are kept.
    """

    def __init__(self, console: Console, *, progress: bool) -> None:
        self.console = console
        self.with_progress = progress
        self.progress: Progress | None = None
        self.task: Any = None
        self.start: Record = {}
        self.by_topic: dict[str, Counter[str]] = defaultdict(Counter)
        self.by_rule: Counter[str] = Counter()
        self.failures: list[tuple[int, Record]] = []
        self.failed = 0
        self.seen = 0

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

    def line(self, text: str, style: str | None = None) -> None:
        """One line, whatever an adapter may have put into it."""
        self.console.print(Text(clean(text), style=style or ""), soft_wrap=True, highlight=False)

    def begin(self, record: Record) -> None:
        self.start = record
        implementation = record["implementation"]
        shown = " ".join(implementation[name] for name in ("name", "version") if name in implementation)
        language = f" ({implementation['language']})" if "language" in implementation else ""
        suite = f"session-conformance {record['suite']['version']}"
        self.line(f"{suite}: {cases_of(record['cases'])} against {record['adapter']}: {shown}{language}")
        for capability in record["capabilities"]:
            if not known_capability(capability):
                told = suggestion(capability, OPERATIONS)
                self.line(f"hello declares {capability}, which this suite does not know{told}", "yellow")
        if self.with_progress:
            columns = (
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
            )
            self.progress = Progress(*columns, console=self.console, transient=True)
            self.task = self.progress.add_task("", total=record["cases"])
            self.progress.start()

    def verdict(self, record: Record) -> None:
        self.by_topic[record["topic"]][record["status"]] += 1
        self.seen += 1
        if record["status"] not in QUIET:
            self.failed += 1
            self.by_rule.update(record["rules"])
            bisect.insort(self.failures, (record["index"], record), key=lambda pair: pair[0])
            del self.failures[SHOWN_FAILURES:]
        if self.progress is not None and self.seen % 32 == 0:
            told = f"{record['topic']}, {self.failed} failed" if self.failed else record["topic"]
            self.progress.update(self.task, completed=self.seen, description=told)

    def failure(self, record: Record) -> None:
        """One case that did not pass: what, why it matters, where it differs, whose fault, how to repeat."""
        heading = Text(f"\n{record['status'].upper()} ", style="bold red")
        heading.append(record["case"], style="bold")
        heading.append(f"  [{', '.join(record['rules'])}]", style="not bold")
        self.console.print(heading, soft_wrap=True, highlight=False)
        vectors = self.start.get("vectors", [])
        for name, text in [*details(record, vectors), ("again", self.again(record))]:
            self.line(f"  {name:<8} {text}")

    def again(self, record: Record) -> str:
        """The command that repeats just this case."""
        words = ["session-conformance", "run", self.start["adapter"], "--select", record["case"]]
        for path in self.start.get("vectors", []):
            words += ["--vectors", path]
        if self.start["strict"]:
            words += ["--strict", ",".join(self.start["strict"])]
        if "repeat" in self.start:
            words += ["--repeat", str(self.start["repeat"])]
        if record["status"] == "stale-known-failure":
            words += ["--baseline", self.start["baseline"]]
        limits = self.start.get("limits", {})
        for name, option in (("answer_seconds", "--time-limit"), ("memory_mib", "--memory-limit")):
            if name in limits and limits[name] != asdict(Limits())[name]:
                words += [option, f"{limits[name]:g}"]
        return shlex.join(words)

    def end(self, record: Record) -> None:
        self.close()
        for _, failed in self.failures:
            self.failure(failed)
        if self.failed > len(self.failures):
            more = self.failed - len(self.failures)
            self.line(f"\n… and {more} more failures; --report FILE holds all of them")
        if not record["complete"]:
            self.line(f"\ninterrupted after {self.seen} of {cases_of(self.start.get('cases', 0))}", "yellow")
            return
        self.summary(record["counts"])
        if self.failed > SHOWN_RULES:
            told = ", ".join(f"{rule} {number}" for rule, number in self.by_rule.most_common(SHOWN_RULES))
            self.line(f"rules most often: {told}")
        for problem in record["problems"]:
            self.line(f"adapter problem: {problem}", "yellow")
        for leftover in record.get("baseline", []):
            self.line(f"baseline: {leftover}", "yellow")
        counts = ", ".join(
            f"{record['counts'][name]} {name}" for name in STATUSES if record["counts"].get(name)
        )
        self.line(f"{cases_of(sum(record['counts'].values()))} in {record['seconds']:.2f} s: {counts}")
        for name, scores in (("condition", record["conditions"]), ("position", record["positions"])):
            if scores:
                told = ", ".join(
                    f"{scores[key]} {key}" for key in ("same", "other", "not-given") if key in scores
                )
                strict = "" if name in self.start["strict"] else " (not counted without --strict)"
                self.line(f"refusals by {name}: {told}{strict}")
        if record["conditions"].get("not-given") and not record["conditions"].get("same"):
            told = "no refusal names a condition or a known text: are they refusals, and not accidents?"
            self.line(told, "yellow")
        if record["counts"].get("either"):
            self.line("either: known systems differ there, and each listed answer is accepted")
        self.line(*self.outcome(record))

    def outcome(self, record: Record) -> tuple[str, str]:
        """The last line: what the run says, and its colour."""
        if record["exit"] == 0:
            if not record["counts"].get("undeclared"):
                return "conforms", "bold green"
            return "conforms in what it declares", "bold green"
        if record["exit"] == 1:
            return "does not conform", "bold red"
        if record["counts"].get("undeclared", 0) == sum(record["counts"].values()):
            declared = ", ".join(self.start["capabilities"]) or "nothing"
            return f"nothing of this selection is declared; the adapter declares: {declared}", "bold yellow"
        return "the adapter is at fault; the verdicts above cannot be relied on", "bold yellow"

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


def details(record: Record, vectors: Sequence[str] = ()) -> list[tuple[str, str]]:
    """What there is to say of a case that did not pass, as pairs of a word and a text.

    ``vectors`` are the files that were asked in place of the corpus.
    """
    told = []
    if "why" in record:
        told.append(("why", record["why"]))
    if "message" in record:
        told.append(("what", shorten(record["message"])))
    if "difference" in record:
        difference = record["difference"]
        told.append(("differs", difference["path"] or "the kind of answer"))
        told.append(("expected", _shown(difference, "expected")))
        told.append(("found", _shown(difference, "found")))
    if "diverges" in record:
        told.append(("event", f"goes wrong with event {record['diverges']} of the log (counted from 0)"))
    for name in ("baseline", "passes"):
        if name in record:
            told.append((name, record[name]))
    if "stderr" in record:
        last = record["stderr"].replace("\n", " | ")
        told.append(("stderr", last if len(last) <= SHOWN_WIDTH else f"…{last[1 - SHOWN_WIDTH :]}"))
    told.append(("fault", record["fault"]))
    if record.get("scored") is False:
        told.append(("scored", "no: the case is newer than the released profile"))
    if "file" in record:
        told.append(("case", f"{record['file']}:{record['line']}"))
        words = ["session-conformance", "show", record["case"]]
        for path in vectors:
            words += ["--vectors", path]
        told.append(("show", shlex.join(words)))
    return told


def clean(text: str) -> str:
    """The text with what could move a cursor, or cannot be written, as an escape."""
    lead = "\n" if text.startswith("\n") else ""
    return lead + _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text.removeprefix("\n"))


def cases_of(number: int) -> str:
    """A number of cases in words."""
    return "1 case" if number == 1 else f"{number} cases"


def _shown(difference: dict[str, Any], side: str) -> str:
    return shorten(json.dumps(difference[side])) if side in difference else "(absent)"


def shorten(text: str) -> str:
    """The text, cut where a screen has had enough of it."""
    return text if len(text) <= SHOWN_WIDTH else f"{text[: SHOWN_WIDTH - 1]}…"
