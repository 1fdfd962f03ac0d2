"""What a run found, for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conformance.errors import ExitCode
from conformance.fuzzing import findings
from conformance.fuzzing.campaign import Difference
from conformance.fuzzing.comparing import BROKEN
from conformance.fuzzing.law_runs import Breach
from conformance.fuzzing.parties import Table
from conformance.fuzzing.readable import lines_of
from conformance.fuzzing.session import Result
from conformance.fuzzing.spelling import encode, request_of
from conformance.ledger import Ledger, load_ledger
from conformance.protocol import Answer
from conformance.terminal import clean

SHOWN_DIFFERENCES = 10
SHOWN_LINES = 30
SHOWN_LINE = 300
SHOWN_ANSWER = 300


class Report:
    """The report of one run, over the table that it was made with."""

    def __init__(self, result: Result, table: Table, ledger: Ledger | None = None) -> None:
        self.result, self.table, self.ledger = result, table, ledger or load_ledger()
        self.given_up = [*result.differential.given_up, *result.laws.given_up]
        self.problems = [*result.differential.faults, *result.laws.faults, *table.problems]

    def exit_code(self) -> ExitCode:
        """As of ``run``: an adapter at fault goes before a difference."""
        if self.result.interrupted:
            return ExitCode.INTERRUPTED
        found = self.result.differential.differences or self.result.laws.breaches
        if self.problems or (self.given_up and not found):
            return ExitCode.ADAPTER
        return ExitCode.DIFFERS if found else ExitCode.CONFORMS

    def show(self, write: Callable[[str], object]) -> None:
        """Write it line by line."""
        for line in self.lines():
            write(line)

    def lines(self) -> Iterator[str]:
        yield from self.counts()
        differences = self.by_count()
        for number, difference in enumerate(differences[:SHOWN_DIFFERENCES], 1):
            yield ""
            yield from self.of_difference(number, difference)
        if len(differences) > SHOWN_DIFFERENCES:
            more = len(differences) - SHOWN_DIFFERENCES
            yield f"… and {more} more kinds of difference; --save DIR keeps them all"
        for breach in self.result.laws.breaches.values():
            yield ""
            yield from self.of_breach(breach)
        for problem in self.problems:
            yield f"adapter at fault: {problem}"
        for told in self.given_up:
            yield f"given up: {told}; repair what is told above, and run again"
        yield ""
        yield self.summary()

    def by_count(self) -> list[Difference]:
        """The most frequent kind first."""
        return sorted(self.result.differential.differences.values(), key=lambda each: -each.seen)

    def counts(self) -> Iterator[str]:
        """A row for each capability: inputs, accepted, refused, and how many conditions were met."""
        outcome = self.result.differential
        if outcome.inputs:
            yield f"{'operation':<26} {'inputs':>8} {'accepted':>9} {'refused':>8}  conditions met"
        for capability, counts in sorted(outcome.counts.items()):
            refused = {name: number for name, number in counts.items() if name != "result"}
            met = len([name for name in refused if name in self.ledger.conditions])
            row = (counts.total(), counts["result"], sum(refused.values()))
            yield f"{capability:<26} {row[0]:>8} {row[1]:>9} {row[2]:>8}  {met or ''}".rstrip()
        for name, number in sorted(self.result.laws.checked.items()):
            yield f"law {name:<22} {number:>8}"
        for name, number in sorted(outcome.explained.items()):
            yield f"listed quirk {name}: {number}"

    def of_difference(self, number: int, difference: Difference) -> Iterator[str]:
        unlike = difference.unlike
        rules = findings.rules_of(difference, self.ledger)
        about = f" ({', '.join(rules)})" if rules else ""
        step = "" if unlike.at is None else f", step {unlike.at}"
        place = f", at {unlike.path}" if unlike.path else ""
        where = f"{difference.recipe.capability}{about}{step}{place}"
        yield f"difference {number}: {where}, {times(difference.seen)}"
        for name, answer in difference.answers.items():
            yield f"  {name}: {self.told(answer, difference)}"
        yield "  request:"
        yield from shown(request_of(difference.members))

    def told(self, answer: Answer, difference: Difference) -> str:
        """What an answer is, or its step that differs."""
        unlike = difference.unlike
        if unlike.at is not None and answer.kind == "result":
            steps = answer.value.get("steps")
            if isinstance(steps, list) and unlike.at < len(steps):
                return short(f"step {unlike.at}: {encode(steps[unlike.at])}", SHOWN_ANSWER)
        value = answer.value if isinstance(answer.value, str) else encode(answer.value)
        last = answer.stderr.strip().rpartition("\n")[2]
        said = f"; its last words: {clean(last)}" if answer.kind in BROKEN and last else ""
        return short(f"{answer.kind} {value}{said}", SHOWN_ANSWER)

    def of_breach(self, breach: Breach) -> Iterator[str]:
        yield f"law {breach.law.name} ({', '.join(breach.law.rules)}) does not hold, {times(breach.seen)}"
        yield f"  {breach.law.says}"
        yield f"  {breach.party.name}: {short(breach.says, SHOWN_ANSWER)}"
        yield "  input:"
        yield from shown(breach.given)

    def summary(self) -> str:
        outcome, laws = self.result.differential, self.result.laws
        names = [party.name for party in self.table.parties]
        speed = round(outcome.inputs / outcome.seconds) if outcome.seconds > 0 else 0
        asked = f"{outcome.inputs} inputs in {outcome.seconds:.1f} s ({speed} a second)"
        if laws.checked and not outcome.inputs:
            asked = ""
        checked = f"{laws.checked.total()} checks of laws" if laws.checked else ""
        found = len(outcome.differences) + len(laws.breaches)
        ending = f"{found} found" if found else "no difference"
        if self.problems or self.result.interrupted or self.given_up:
            ending = f"broken off, {ending} until then"
        parts = [part for part in (asked, checked) if part]
        return f"{' and '.join(names)}: {', '.join(parts)}, seed {self.result.wanted.seed}: {ending}"

    def save(self, folder: Path | None) -> Iterator[tuple[Path, str]]:
        """Write each finding into a file; the path and title of each."""
        if folder is None:
            return
        documents = [findings.document_of(each, self.table, self.ledger) for each in self.by_count()]
        documents += [findings.law_document(breach) for breach in self.result.laws.breaches.values()]
        for document in documents:
            yield findings.save(folder, document), document["title"]


def shown(request: dict[str, Any]) -> Iterator[str]:
    """A request in shorthand, as far as it is of any use on a screen."""
    lines = list(lines_of(request))
    for line in lines[:SHOWN_LINES]:
        yield f"    {short(line, SHOWN_LINE)}"
    if len(lines) > SHOWN_LINES:
        yield f"    … and {len(lines) - SHOWN_LINES} more lines"


def times(number: int) -> str:
    return "seen once" if number == 1 else f"seen {number} times"


def short(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
