"""The published package and the reference close the same logs alike: random ones, many at a time."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from test_dsh_adapter import answers_to, available

from conformance.adapters.dsh import provision
from conformance.adapters.reference import answer
from conformance.compare import first_difference
from conformance.shorthand import expand_events

LOGS = 1500


def random_log(chance: random.Random) -> list[dict[str, Any]]:
    """A log of anything in any order; calls are frequent, turns are mostly open."""
    makers = [
        lambda: {"turn/start": chance.randint(1, 3)},
        lambda: {"turn/end": chance.randint(1, 3)},
        lambda: {"step/start": chance.randint(0, 3)},
        lambda: {"step/end": chance.randint(0, 3)},
        lambda: {
            "calls": chance.choices("ABC", k=chance.randint(0, 4)),
            "data": {"step": chance.randint(0, 3)},
        },
        lambda: {"call": chance.choice("ABCD")},
        lambda: {"result": chance.choice("ABCD")},
        lambda: {"chunk": "text"},
    ]
    weights = [1, 1, 3, 2, 6, 6, 4, 1]
    elements = [make() for make in chance.choices(makers, weights, k=chance.randint(0, 20))]
    events = expand_events([{"turn/start": 1}, *elements])
    return [{**event, "time": chance.randint(-9, 9), "seq": event["seq"] + 7} for event in events]


@pytest.mark.parametrize("version", provision.VERSIONS)
def test_the_reference_closes_as_every_version(version: str) -> None:
    chance = random.Random(f"closers {version}")
    requests = [
        {"id": n, "op": "closers", "edition": "v0", "events": random_log(chance)} for n in range(LOGS)
    ]
    lines = "".join(f"{json.dumps(request)}\n" for request in requests).encode()
    answered = answers_to(available(version, []), lines)
    assert len(answered) == LOGS
    closed = 0
    for request, found in zip(requests, answered, strict=True):
        expected = json.loads(json.dumps(answer(request)))
        assert first_difference(expected["result"], found["result"]) is None, request["events"]
        closed += len(found["result"]["closers"]) > 2
    assert closed > LOGS // 10


HEADER_PARTS = {
    "adapterDefaults": [
        None,
        {},
        {"maxTokens": True},
        {"reasoningEffort": True, "maxTokens": False},
        {"note": True},
    ],
    "system": ["", " ", "be kind"],
    "tools": [[], [{"name": "a", "x": 1}], [{"x": 1, "name": "a"}], [{"name": "a", "x": {"b": 1, "c": [2]}}]],
}
CONFIG_PARTS = {
    "reasoningEffort": ["low", "high"],
    "temperature": [0, 0.5, None],
    "maxTokens": [1, 2],
    "stop": [[], ["a"], ["a", "b"], ["b", "a"]],
    "topK": [1, 2],
}


def some_of(parts: dict[str, list[Any]], chance: random.Random) -> dict[str, Any]:
    return {name: chance.choice(values) for name, values in parts.items() if chance.random() < 0.4}


def random_header(chance: random.Random) -> dict[str, Any]:
    return {"config": {"provider": "p", **some_of(CONFIG_PARTS, chance)}, **some_of(HEADER_PARTS, chance)}


@pytest.mark.parametrize("version", provision.VERSIONS)
def test_the_reference_reads_headers_as_every_version(version: str) -> None:
    chance = random.Random(f"headers {version}")
    requests: list[dict[str, Any]] = []
    for _ in range(LOGS):
        left = random_header(chance)
        right = {**left, **some_of({**HEADER_PARTS, "note": [1]}, chance)}
        events = expand_events([{"event": "request/header", "data": {"header": left}}, {"user": "a"}])
        requests.append({"op": "request-header", "events": events})
        sides = [answer({"op": "request-header", "events": log})["result"]["header"]
                 for log in (events, [{**events[0], "data": {"header": right}}])]  # fmt: skip
        requests.append({"op": "request-header.equal", "left": sides[0], "right": sides[1]})
    lines = "".join(f"{json.dumps({'id': n, **request})}\n" for n, request in enumerate(requests)).encode()
    answered = answers_to(available(version, []), lines)
    assert len(answered) == len(requests)
    for request, found in zip(requests, answered, strict=True):
        assert first_difference(answer(request)["result"], found["result"]) is None, request
    equal = sum(found["result"].get("equal", False) for found in answered)
    assert LOGS // 10 < equal < LOGS
