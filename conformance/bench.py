"""How fast loading and judging are, measured on this machine, in one run, as medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from conformance.adapters.inprocess import InProcess
from conformance.adapters.registry import AdapterSpec, resolve
from conformance.cases import Case
from conformance.corpus import load_corpus
from conformance.engine import undeclared, verdicts
from conformance.errors import AdapterError
from conformance.judge import Judge
from conformance.ledger import load_ledger
from conformance.protocol import Connection, Request
from conformance.stream import verdict_record


def loading(rounds: int) -> tuple[int, list[float]]:
    """The number of cases in the corpus, and milliseconds per case for each of ``rounds`` cold loads."""
    ledger = load_ledger()
    load_corpus(ledger=ledger)  # imports and compiled schemas are not what is measured
    times = []
    cases: list[Case] = []
    for _ in range(rounds):
        started = time.perf_counter()
        cases = load_corpus(ledger=ledger)
        times.append((time.perf_counter() - started) * 1000 / len(cases))
    return len(cases), times


def judging(adapter: AdapterSpec, cases: Sequence[Case], total: int, rounds: int) -> list[float]:
    """Cases a second for each round: ``total`` requests to one adapter, judged and made into records."""
    connection = adapter.connect()
    try:
        usable = usable_cases(cases, connection)
        many = (usable * (total // len(usable) + 1))[:total]
        judge = Judge(load_ledger())
        _judge_all(many[:1000], connection, judge)
        return [_rate(lambda: _judge_all(many, connection, judge), total) for _ in range(rounds)]
    finally:
        connection.close()


def engine_alone(cases: Sequence[Case], total: int, rounds: int) -> list[float]:
    """The engine against an adapter that has every answer ready: what the runner itself costs."""
    reference = resolve("reference").connect()
    ready = {}
    for number, answer in reference.exchange(Request(n, case.body) for n, case in enumerate(cases)):
        ready[number % len(cases)] = {answer.kind: answer.value}
    many = [index % len(cases) for index in range(total)]
    waiting: Iterator[int] = iter(())

    def callee(request: dict[str, Any]) -> dict[str, Any]:
        return hello if request["op"] == "hello" else ready[next(waiting)]

    hello = {
        "result": {
            "protocol": 1,
            "implementation": {"name": "answers at once"},
            "capabilities": sorted(reference.hello.capabilities),
            "editions": sorted(reference.hello.editions),
        }
    }
    connection, judge = InProcess(callee), Judge(load_ledger())
    chosen = [cases[index] for index in many]
    rates = []
    for _ in range(rounds):
        waiting = iter(many)
        rates.append(_rate(lambda: _judge_all(chosen, connection, judge), total))
    return rates


def usable_cases(cases: Sequence[Case], connection: Connection) -> list[Case]:
    """The cases that the adapter declares. Raises AdapterError if there are none."""
    usable = [case for case in cases if undeclared(case, connection.hello) is None]
    if not usable:
        raise AdapterError("declares none of the cases")
    return usable


def _judge_all(cases: Sequence[Case], connection: Connection, judge: Judge) -> None:
    for verdict in verdicts(cases, connection, judge):
        verdict_record(verdict)


def bare(adapter: AdapterSpec, cases: Sequence[Case], total: int, rounds: int) -> list[float]:
    """The same requests without judging: what the adapter and the pipe alone can do."""
    connection = adapter.connect()
    try:
        usable = usable_cases(cases, connection)
        bodies = [case.body for case in usable]

        def requests() -> Iterator[Request]:
            for number in range(1, total + 1):
                yield Request(number, bodies[number % len(bodies)])

        def drain() -> None:
            for _answer in connection.exchange(requests()):
                pass

        return [_rate(drain, total) for _ in range(rounds)]
    finally:
        connection.close()


def _rate(work: Callable[[], None], total: int) -> float:
    started = time.perf_counter()
    work()
    return total / (time.perf_counter() - started)


def middle(values: Sequence[float], digits: int = 0) -> str:
    """Median with the range beside it."""
    low, median, high = min(values), statistics.median(values), max(values)
    return f"{median:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
