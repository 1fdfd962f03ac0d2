"""A run: cases put to one adapter, answers judged, everything told as one result stream."""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import perf_counter
from typing import Any

from conformance import __version__, diagnose
from conformance.adapters.registry import AdapterSpec, resolve
from conformance.baseline import Baseline, fingerprint
from conformance.cases import Case
from conformance.errors import AdapterError, ExitCode
from conformance.families.judging import FamilyTally
from conformance.judge import PASSING, Judge, Verdict
from conformance.ledger import Ledger
from conformance.profiles import Profile
from conformance.protocol import Answer, Connection, Hello, Request
from conformance.stream import FORMAT, Record, verdict_record

RecordGenerator = Generator[Record, None, None]
LOCATING_SECONDS = 20.0
"""How long a run may look for the events with which answers go wrong."""
FAILING = frozenset(("fail", "crashed", "timeout", "unsupported", "flaky", "stale-known-failure", "not-run"))


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is, beside its cases and its adapter.

    ``strict`` may hold condition and position. With a ``profile`` only the cases that it froze
    are scored. ``repeat`` puts every case that often, one round after the other. ``whole`` says
    that nothing was left out by selection. ``described`` adds members to the start record.
    """

    strict: frozenset[str] = frozenset()
    jobs: int = 1
    repeat: int = 1
    profile: Profile | None = None
    baseline: Baseline | None = None
    whole: bool = False
    not_selected: int = 0
    described: dict[str, Any] = field(default_factory=dict)


@dataclass
class Tally:
    """What a run has seen so far, and the exit code that follows from it."""

    statuses: Counter[str] = field(default_factory=Counter)
    conditions: Counter[str] = field(default_factory=Counter)
    positions: Counter[str] = field(default_factory=Counter)
    scored: Counter[str] = field(default_factory=Counter)

    def add(self, record: Record) -> None:
        status = record["status"]
        self.statuses[status] += 1
        if record.get("scored", True):
            self.scored[status] += 1
        if "condition" in record:
            self.conditions[record["condition"]] += 1
        if "position" in record:
            self.positions[record["position"]] += 1

    def exit_code(self, problems: Sequence[str], leftovers: Sequence[str]) -> ExitCode:
        """ADAPTER goes before DIFFERS: an adapter at fault makes every other answer doubtful."""
        nothing_declared = self.statuses["undeclared"] == self.statuses.total()
        if problems or self.scored["adapter-error"] or nothing_declared:
            return ExitCode.ADAPTER
        if leftovers or any(self.scored[name] for name in FAILING):
            return ExitCode.DIFFERS
        return ExitCode.CONFORMS


def run(
    cases: Sequence[Case], adapter: AdapterSpec, ledger: Ledger, options: Options | None = None
) -> Iterator[Record]:
    """Run the cases and yield the result stream: a start, one verdict per case, an end.

    Raises AdapterError if the adapter cannot be opened; then no record was yielded. However
    the iteration ends, the adapter is closed.
    """
    chosen = options or Options()
    connection = adapter.connect(chosen.jobs)
    started = perf_counter()
    tally = Tally()
    try:
        yield start_record(cases, adapter, connection.hello, chosen)
        for record in records(cases, connection, Judge(ledger, chosen.strict), adapter, chosen):
            tally.add(record)
            yield record
    finally:
        connection.close()
    leftovers: list[str] = []
    if chosen.baseline is not None:
        leftovers = list(chosen.baseline.leftovers((case.id for case in cases), whole=chosen.whole))
    yield end_record(tally, connection.problems, leftovers, chosen, perf_counter() - started)


def records(
    cases: Sequence[Case], connection: Connection, judge: Judge, adapter: AdapterSpec, options: Options
) -> Iterator[Record]:
    """One verdict record per case, as profile, repetition and baseline make it."""
    plain: RecordGenerator
    if options.repeat == 1:
        plain = with_divergences(verdicts(cases, connection, judge), adapter)
    else:
        plain = repeated(lambda: verdicts(cases, connection, judge), options.repeat)
    profile = options.profile
    by_id = {case.id: case for case in cases} if profile is not None else {}
    places = {case.id: index for index, case in enumerate(cases)}
    with contextlib.closing(plain):
        for record in plain:
            record["index"] = places[record["case"]]
            if record["status"] not in PASSING:
                record["fingerprint"] = fingerprint(record)
            if profile is not None and not profile.counts(by_id[record["case"]]):
                record["scored"] = False
            yield record if options.baseline is None else options.baseline.apply(record)


def repeated(one_round: Callable[[], Iterator[Verdict]], rounds: int) -> RecordGenerator:
    """One record per case over several rounds; a case that passes in some of them only is flaky."""
    seen: dict[str, tuple[Record, int]] = {}
    for _ in range(rounds):
        for verdict in one_round():
            record = verdict_record(verdict)
            first, passes = seen.get(verdict.case.id, (record, 0))
            passes += record["status"] in PASSING
            seen[verdict.case.id] = (first if first["status"] not in PASSING else record, passes)
    for record, passes in seen.values():
        if record["status"] == "undeclared" or passes in (0, rounds):
            yield record
        else:
            yield {**record, "status": "flaky", "passes": f"{passes} of {rounds}"}


def verdicts(cases: Sequence[Case], connection: Connection, judge: Judge) -> Iterator[Verdict]:
    """Exactly one verdict per case; those that the adapter did not declare come first."""
    declared = []
    for case in cases:
        missing = undeclared(case, connection.hello)
        if missing is None:
            declared.append(case)
        else:
            yield Verdict(case, "undeclared", message=missing)
    asked = Questions(declared, judge)
    for number, answer in connection.exchange(asked.requests()):
        verdict = asked.verdict(number, answer)
        if verdict is not None:
            yield verdict


class Questions:
    """The requests of many cases, one each, or many for a family; and what the answers make of them."""

    def __init__(self, cases: Sequence[Case], judge: Judge, number: int = 0) -> None:
        self.number = number
        self._cases = cases
        self._judge = judge
        self._open: dict[int, tuple[Case, FamilyTally | None, int]] = {}

    def requests(self) -> Iterator[Request]:
        """Every request; ``number`` is that of the last one, for no id is given twice."""
        for case in self._cases:
            if case.family is None:
                self.number += 1
                self._open[self.number] = case, None, 0
                yield Request(self.number, case.body)
                continue
            tally = FamilyTally(case, self._judge)
            for index, body in enumerate(tally.requests()):
                self.number += 1
                self._open[self.number] = case, tally, index
                yield Request(self.number, body)

    def verdict(self, number: int, answer: Answer) -> Verdict | None:
        """The verdict that an answer completes; None while members of its family are unanswered."""
        case, tally, index = self._open.pop(number)
        if tally is None:
            return self._judge.verdict(case, answer)
        tally.take(index, answer)
        return tally.verdict() if tally.complete else None


def with_divergences(verdicts: Iterator[Verdict], adapter: AdapterSpec) -> RecordGenerator:
    """Verdicts as records. Some failures are held back until all was asked, and looked into then."""
    held: list[tuple[Case, Record]] = []
    try:
        for verdict in verdicts:
            record = verdict_record(verdict)
            if len(held) < diagnose.MAX_HELD and diagnose.can_be_located(verdict):
                held.append((verdict.case, record))
            else:
                yield record
        if held:
            yield from located(held, adapter)
    except KeyboardInterrupt:
        yield from (record for _, record in held)
        raise


def located(held: list[tuple[Case, Record]], adapter: AdapterSpec) -> RecordGenerator:
    """The held records, each with its first diverging event if that can be told; ``held`` empties."""
    limits = replace(adapter.limits, restarts=2, total_seconds=LOCATING_SECONDS)
    connection: Connection | None = None
    try:
        with contextlib.suppress(AdapterError):
            connection = replace(adapter, limits=limits).connect()
        reference = resolve("reference").connect()
        while held:
            case, record = held[0]
            index = diagnose.first_divergence(case, connection, reference) if connection is not None else None
            yield record if index is None else {**record, "diverges": index}
            held.pop(0)
    finally:
        if connection is not None:
            connection.close()


def undeclared(case: Case, hello: Hello) -> str | None:
    """Why a case is not put to this adapter, or None if it is."""
    for capability in (case.capability, *case.needs):
        if capability not in hello.capabilities:
            return f"the adapter does not declare {capability}"
    if case.edition not in hello.editions:
        return f"the adapter does not declare edition {case.edition}"
    return None


def start_record(cases: Sequence[Case], adapter: AdapterSpec, hello: Hello, options: Options) -> Record:
    """The first record: suite, adapter, selection, and how many verdicts will follow."""
    known = {"name": hello.name, "version": hello.version, "language": hello.language, "url": hello.url}
    record: Record = {
        "record": "start",
        "format": FORMAT,
        "suite": {"name": "session-conformance", "version": __version__, "digest": selection_digest(cases)},
        "adapter": adapter.name,
        "implementation": {name: value for name, value in known.items() if value is not None},
        "capabilities": sorted(hello.capabilities),
        "editions": sorted(hello.editions),
        "whole": options.whole,
        "strict": sorted(options.strict),
        "limits": {name: value for name, value in asdict(adapter.limits).items() if value is not None},
        "cases": len(cases),
        **options.described,
    }
    if options.profile is not None:
        record |= {"profile": options.profile.name, "release": options.profile.release}
    if options.repeat > 1:
        record["repeat"] = options.repeat
    return record


def selection_digest(cases: Sequence[Case]) -> str:
    """A digest over the selected cases, so that two runs can be known to be about the same."""
    total = hashlib.sha256()
    for case in cases:
        total.update(f"{case.id} {case.digest}\n".encode())
    return total.hexdigest()


def interrupted_record(*, interrupted: bool = True) -> Record:
    """The last record of a run that was cut off, by Ctrl-C or by a fault: what stands above is not all."""
    code = ExitCode.INTERRUPTED if interrupted else ExitCode.ADAPTER
    return {"record": "end", "complete": False, "exit": int(code)}


def end_record(
    tally: Tally, problems: Sequence[str], leftovers: Sequence[str], options: Options, seconds: float
) -> Record:
    """The last record of a run that went through. Three scores: verdicts, conditions, positions."""
    record: Record = {
        "record": "end",
        "complete": True,
        "counts": dict(tally.statuses),
        "conditions": dict(tally.conditions),
        "positions": dict(tally.positions),
        "notSelected": options.not_selected,
        "problems": list(problems),
        "exit": int(tally.exit_code(problems, leftovers)),
        "seconds": round(seconds, 3),
    }
    if options.profile is not None:
        record["scored"] = dict(tally.scored)
    if options.baseline is not None:
        record["baseline"] = list(leftovers)
    return record
