"""How fast loading and judging are, measured on this machine, in one run, as medians."""

from __future__ import annotations

import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from conformance.adapters.inprocess import InProcess
from conformance.adapters.registry import AdapterSpec, resolve
from conformance.cases import Case
from conformance.corpus import load_corpus
from conformance.engine import undeclared, verdicts
from conformance.errors import AdapterError
from conformance.json_text import dump_ascii
from conformance.judge import Judge
from conformance.ledger import load_ledger
from conformance.protocol import Answer, Connection, Request
from conformance.resources import vectors_dir
from conformance.stream import verdict_record


def loading(rounds: int) -> tuple[int, list[float]]:
    """The number of cases in the corpus, and milliseconds per case for each of ``rounds`` cold loads."""
    ledger = load_ledger()
    load_corpus([vectors_dir()], ledger)  # imports and compiled schemas are not what is measured
    times = []
    cases: list[Case] = []
    for _ in range(rounds):
        started = time.perf_counter()
        cases = load_corpus([vectors_dir()], ledger)
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

        return [_rate(lambda: _drain(connection, requests()), total) for _ in range(rounds)]
    finally:
        connection.close()


def codec(adapter: AdapterSpec, total: int, rounds: int) -> dict[str, list[float]]:
    """Small lists a second written and read by schema 19, whole answers included, for each round.

    Empty if the adapter declares no such codec.
    """
    connection = adapter.connect()
    try:
        if not {"seqs.encode@19", "seqs.decode@19"} <= connection.hello.capabilities:
            return {}
        chance = random.Random(19)  # noqa: S311 - nothing secret: the same lists in every run
        lists = [_small_list(chance) for _ in range(1000)]
        head = {"schema": 19, "edition": "v0"}
        encode = [dump_ascii({"op": "seqs.encode", **head, "values": values})[1:] for values in lists]
        cells = [answer.value["hex"] for _, answer in connection.exchange(_endless(encode, len(encode)))]
        decode = [
            dump_ascii({"op": "seqs.decode", **head, "hex": cell, "rowSeq": 10**6})[1:] for cell in cells
        ]
        return {
            name: [_rate(partial(_drain, connection, _endless(bodies, total)), total) for _ in range(rounds)]
            for name, bodies in (("written", encode), ("read", decode))
        }
    finally:
        connection.close()


def _small_list(chance: random.Random) -> list[int]:
    """Up to eight seqs, as a message cites them: a run, or a few that are scattered."""
    start = chance.randrange(100_000)
    if chance.random() < 0.5:
        return list(range(start, start + chance.randrange(9)))
    return sorted(chance.sample(range(start, start + 1000), chance.randrange(9)))


def million(adapter: AdapterSpec) -> tuple[float, float, int]:
    """Seconds to write and to read 1,000,000 consecutive seqs, and bytes to refuse a run of 2^53-1 of them.

    For an adapter in this process, of which the bytes can be known.
    """
    connection = adapter.connect()

    def ask(body: str) -> Answer:
        ((_, answer),) = connection.exchange(iter([Request(1, body)]))
        return answer

    head = '"schema":19,"edition":"v0"'
    written = f'"op":"seqs.encode",{head},"values":{dump_ascii(list(range(1_000_000)))}}}'
    read = f'"op":"seqs.decode",{head},"hex":"0100c0843d","rowSeq":1000000}}'
    endless = f'"op":"seqs.decode",{head},"hex":"0100ffffffffffffff0f","rowSeq":1000000}}'
    started = time.perf_counter()
    ask(written)
    between = time.perf_counter()
    ask(read)
    ended = time.perf_counter()
    tracemalloc.start()
    refused = ask(endless)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if refused.kind != "rejected":
        raise AdapterError("did not refuse a run of 2^53-1 values")
    return between - started, ended - between, peak


def _endless(bodies: Sequence[str], total: int) -> Iterator[Request]:
    return (Request(number, bodies[number % len(bodies)]) for number in range(total))


def _drain(connection: Connection, requests: Iterator[Request]) -> None:
    for _answer in connection.exchange(requests):
        pass


def _rate(work: Callable[[], None], total: int) -> float:
    started = time.perf_counter()
    work()
    return total / (time.perf_counter() - started)


def middle(values: Sequence[float], digits: int = 0) -> str:
    """Median with the range beside it."""
    low, median, high = min(values), statistics.median(values), max(values)
    return f"{median:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
