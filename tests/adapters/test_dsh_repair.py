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
