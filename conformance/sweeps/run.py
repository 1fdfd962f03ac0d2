"""Puts the damaged logs of a sweep to an adapter, and gives one verdict and the first that failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from conformance.errors import AdapterError, UsageError
from conformance.protocol import Answer, Connection, Request
from conformance.sweeps.answers import read_scan
from conformance.sweeps.damages import Damage, damages
from conformance.sweeps.good_log import GoodLog
from conformance.sweeps.laws import fault_of, is_unseen
from conformance.sweeps.repair import faults_of_repairs
from conformance.ticker import silent

HELPLESS = frozenset(("error", "malformed", "unsupported", "hung", "not-run"))
"""Kinds of answers that tell nothing of a damaged log, or take their time to say nothing."""
PATIENCE = 3


@dataclass(frozen=True)
class Failure:
    """One damaged log that was not treated as it should be."""

    damage: Damage
    told: str


@dataclass
class Verdict:
    """What a sweep found. ``outcomes`` counts answers, ``repaired`` different repaired logs that were loaded.

    ``unseen`` counts damages to committed events that the format itself cannot tell from a crash,
    ``unloadable`` torn last writes that it takes for damage, so that the events before them are refused too.
    """

    name: str
    checks: int = 0
    repaired: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: int = 0
    unseen: int = 0
    unloadable: int = 0
    first: Failure | None = None

    def fail(self, damage: Damage, told: str) -> None:
        """Count a failure; the one with the lowest offset is kept."""
        self.failures += 1
        place = (damage.offset, damage.bit or 0)
        if self.first is None or place < (self.first.damage.offset, self.first.damage.bit or 0):
            self.first = Failure(damage, told)

    def require_checks(self) -> None:
        """Raises UsageError where nothing was asked, for that is no pass."""
        if self.checks == 0:
            raise UsageError(f"{self.name}: there is no such damage to this log; leave the kind out")


def scan_request(number: int, data: bytes, compression: str) -> Request:
    """One question of ``jsonl.scan``."""
    body = f'"op":"jsonl.scan","edition":"v0","compression":"{compression}","hex":"{data.hex()}"}}'
    return Request(number, body)


def sweep(
    connection: Connection,
    log: GoodLog,
    kind: str,
    stride: int = 1,
    only: Damage | None = None,
    tell: Callable[[str], None] = silent,
) -> Verdict:
    """One sweep in memory.

    Raises AdapterError where the adapter does not offer ``jsonl.scan``, or cannot answer it.
    """
    if "jsonl.scan" not in connection.hello.capabilities:
        raise AdapterError("a sweep in memory asks jsonl.scan, which this adapter does not declare")
    if only is not None:
        only.require_within(log)
    verdict = Verdict(f"{kind}, {'plain' if log.compression == 'none' else 'compressed'}")
    asked: dict[int, Damage] = {}
    repairs: dict[bytes, Damage] = {}
    helpless = 0

    def requests() -> Iterator[Request]:
        chosen = damages(kind, log, stride) if only is None else iter([only])
        for number, damage in enumerate(chosen, 1):
            asked[number] = damage
            yield scan_request(number, damage.apply(log.data), log.compression)

    for number, told_of in connection.exchange(requests()):
        answer = read_scan(told_of)
        damage = asked.pop(number)
        data = damage.apply(log.data)
        verdict.checks += 1
        tell(f"{verdict.name}: {verdict.checks} damaged logs, {verdict.failures} failed")
        verdict.outcomes[outcome(answer)] += 1
        helpless = helpless + 1 if told_of.kind in HELPLESS else 0
        if helpless == PATIENCE:
            given_up = f"{PATIENCE} logs in a row were answered with {told_of.kind}: {told_of.value}"
            raise AdapterError(f"{verdict.name}: {given_up}"[:400])
        told = fault_of(log, damage, data, answer)
        if told is not None:
            verdict.fail(damage, told)
        elif answer.kind == "result" and log.data.startswith(data[: answer.value["tornFrom"]]):
            repairs.setdefault(data[: answer.value["tornFrom"]], damage)
        verdict.unseen += told is None and is_unseen(log, damage, answer)
        verdict.unloadable += told is None and damage.kind == "tear" and answer.kind == "rejected"
    verdict.require_checks()
    check_repairs(connection, log, verdict, repairs)
    return verdict


def check_repairs(
    connection: Connection, log: GoodLog, verdict: Verdict, repairs: dict[bytes, Damage]
) -> None:
    """Each log that a repair leaves is checked once, whatever damage led to it, if the adapter can load."""
    if log.compression != "none" or "jsonl.load" not in connection.hello.capabilities:
        return
    verdict.repaired = len(repairs)
    led_to = list(repairs.values())
    for place, told in faults_of_repairs(connection, list(repairs)):
        verdict.fail(led_to[place], told)


def outcome(answer: Answer) -> str:
    """What became of a log, in a word or two."""
    if answer.kind == "result":
        return "kept whole" if answer.value["tornFrom"] is None else "kept, tail cut"
    if answer.kind == "rejected":
        return f"refused, {answer.value.get('condition', 'no condition')}"
    return answer.kind
