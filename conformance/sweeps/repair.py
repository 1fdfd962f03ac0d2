"""What has to hold for a log that a repair left: it loads, and a second repair finds nothing to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conformance.json_text import dump_ascii
from conformance.protocol import Answer, Connection, Request
from conformance.sweeps.answers import read_any, read_load
from conformance.sweeps.good_log import HEADER, line_of


def load_request(number: int, data: bytes) -> Request:
    body = '"op":"jsonl.load","edition":"v0","compression":"none","sessionId":"'
    return Request(number, f'{body}{HEADER["id"]}","hex":"{data.hex()}"}}')


def fold_request(number: int, events: list[Any]) -> Request:
    return Request(number, dump_ascii({"op": "fold", "edition": "v0", "events": events})[1:])


def faults_of_repairs(connection: Connection, logs: list[bytes]) -> Iterator[tuple[int, str]]:
    """By the place of a log in the list, what is wrong with it.

    A repaired log loads whole. With its closers written behind it, it loads as the same events and lacks
    nothing more, so a second repair finds nothing to do. The fold of the two is the same.
    """
    balanced: dict[int, list[Any]] = {}
    first = [load_request(place, data) for place, data in enumerate(logs)]
    for place, answer in asked(connection, first, read_load):
        found = answer.value if answer.kind == "result" else None
        if found is None or found["tornFrom"] is not None:
            yield place, f"the repaired log does not load whole: {told(answer)}"
        else:
            balanced[place] = found["events"] + found["closers"]
            logs[place] += b"".join(line_of(event) for event in found["closers"])
    again = [load_request(place, logs[place]) for place in balanced]
    for place, answer in asked(connection, again, read_load):
        found = answer.value if answer.kind == "result" else None
        if found is None or found["closers"] or found["tornFrom"] is not None:
            yield place, f"a second repair finds something to do: {told(answer)}"
        elif found["events"] != balanced[place]:
            yield place, "the repaired log gives other events when it is loaded again"
    if "fold" in connection.hello.capabilities:
        yield from faults_of_folds(connection, balanced)


def faults_of_folds(connection: Connection, balanced: dict[int, list[Any]]) -> Iterator[tuple[int, str]]:
    """A log that was repaired folds, and folds to the same surface as often as it is asked."""
    requests = [fold_request(place, events) for place, events in balanced.items()]
    first = dict(asked(connection, requests, read_any))
    for place, answer in asked(connection, requests, read_any):
        if answer.kind != "result" or answer != first[place]:
            yield place, f"the fold of the repaired log is not stable: {told(answer)}"


def asked(
    connection: Connection, requests: list[Request], read: Callable[[Answer], Answer]
) -> Iterator[tuple[int, Answer]]:
    return ((place, read(answer)) for place, answer in connection.exchange(iter(requests)))


def told(answer: Answer) -> str:
    """An answer in short."""
    text = f"{answer.kind} {answer.value}"
    return text if len(text) <= 200 else f"{text[:197]}..."
