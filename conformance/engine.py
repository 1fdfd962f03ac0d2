"""A run: cases put to one adapter, answers judged, everything told as one result stream."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from conformance import __version__, diagnose
from conformance.adapters.registry import AdapterSpec, resolve
from conformance.cases import Case
from conformance.errors import ExitCode
from conformance.judge import Judge, Verdict
from conformance.ledger import Ledger
from conformance.protocol import Connection, Hello, Request
from conformance.stream import FORMAT, Record, verdict_record


@dataclass
class Tally:
    """What a run has seen so far, and the exit code that follows from it."""

    statuses: Counter[str] = field(default_factory=Counter)
    conditions: Counter[str] = field(default_factory=Counter)
    positions: Counter[str] = field(default_factory=Counter)

    def add(self, verdict: Verdict) -> None:
        self.statuses[verdict.status] += 1
        if verdict.condition is not None:
            self.conditions[verdict.condition] += 1
        if verdict.position is not None:
            self.positions[verdict.position] += 1

    def exit_code(self, problems: Sequence[str]) -> ExitCode:
        """ADAPTER goes before DIFFERS: an adapter at fault makes every other answer doubtful."""
        statuses = self.statuses
        nothing_declared = statuses["undeclared"] == statuses.total()
        if problems or statuses["adapter-error"] or nothing_declared:
            return ExitCode.ADAPTER
        if any(statuses[name] for name in ("fail", "crashed", "timeout", "unsupported", "not-run")):
            return ExitCode.DIFFERS
        return ExitCode.CONFORMS


def run(
    cases: Sequence[Case],
    adapter: AdapterSpec,
    ledger: Ledger,
    *,
    strict: frozenset[str] = frozenset(),
    jobs: int = 1,
    described: Record | None = None,
) -> Iterator[Record]:
    """Run the cases and yield the result stream: a start, one verdict per case, an end.

    ``described`` adds members to the start record (what was selected, from which files).
    Raises AdapterError if the adapter cannot be opened; then no record was yielded. However
    the iteration ends, the adapter is closed.
    """
    connection = adapter.connect(jobs)
    started = time.perf_counter()
    tally = Tally()
    try:
        yield start_record(cases, adapter, connection.hello, strict) | (described or {})
        for verdict in verdicts(cases, connection, Judge(ledger, strict)):
            tally.add(verdict)
            yield verdict_record(verdict)
    finally:
        connection.close()
    yield end_record(tally, connection.problems, time.perf_counter() - started)


def verdicts(cases: Sequence[Case], connection: Connection, judge: Judge) -> Iterator[Verdict]:
    """Exactly one verdict per case; those that the adapter did not declare come first.

    Some failures are held back until everything was asked, and looked into then.
    """
    declared = []
    for case in cases:
        missing = undeclared(case, connection.hello)
        if missing is None:
            declared.append(case)
        else:
            yield Verdict(case, "undeclared", message=missing)
    held: list[Verdict] = []
    requests = (Request(number, case.body) for number, case in enumerate(declared, 1))
    try:
        for number, answer in connection.exchange(requests):
            verdict = judge.verdict(declared[number - 1], answer)
            if len(held) < diagnose.MAX_HELD and diagnose.can_be_located(verdict):
                held.append(verdict)
            else:
                yield verdict
        if held:
            locator = diagnose.Locator(connection, resolve("reference").connect(), count(len(declared) + 1))
            while held:
                yield diagnose.with_divergence(held[0], locator)
                held.pop(0)
    except KeyboardInterrupt:
        yield from held
        raise


def undeclared(case: Case, hello: Hello) -> str | None:
    """Why a case is not put to this adapter, or None if it is."""
    for capability in (case.capability, *case.needs):
        if capability not in hello.capabilities:
            return f"the adapter does not declare {capability}"
    if case.edition not in hello.editions:
        return f"the adapter does not declare edition {case.edition}"
    return None


def start_record(cases: Sequence[Case], adapter: AdapterSpec, hello: Hello, strict: frozenset[str]) -> Record:
    """The first record: suite, adapter, selection, and how many verdicts will follow."""
    known = {"name": hello.name, "version": hello.version, "language": hello.language, "url": hello.url}
    return {
        "record": "start",
        "format": FORMAT,
        "suite": {"name": "session-conformance", "version": __version__, "digest": selection_digest(cases)},
        "adapter": adapter.name,
        "implementation": {name: value for name, value in known.items() if value is not None},
        "capabilities": sorted(hello.capabilities),
        "editions": sorted(hello.editions),
        "strict": sorted(strict),
        "cases": len(cases),
    }


def selection_digest(cases: Sequence[Case]) -> str:
    """A digest over the selected cases, so that two runs can be known to be about the same."""
    total = hashlib.sha256()
    for case in cases:
        total.update(f"{case.id} {case.digest}\n".encode())
    return total.hexdigest()


def interrupted_record() -> Record:
    """The last record of a run that was cut off by Ctrl-C: what stands above it is not all."""
    return {"record": "end", "complete": False, "exit": int(ExitCode.INTERRUPTED)}


def end_record(tally: Tally, problems: Sequence[str], seconds: float) -> Record:
    """The last record of a run that went through."""
    return {
        "record": "end",
        "complete": True,
        "counts": dict(tally.statuses),
        "conditions": dict(tally.conditions),
        "positions": dict(tally.positions),
        "problems": list(problems),
        "exit": int(tally.exit_code(problems)),
        "seconds": round(seconds, 3),
    }
