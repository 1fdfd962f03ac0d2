"""Admission and forks: the reference against the published package, on logs and headers damaged at random."""

from __future__ import annotations

import copy
import json
import random
import subprocess
from typing import Any

import pytest
from test_dsh_adapter import TEXTS, ask, available

from conformance.adapters.dsh import provision
from conformance.adapters.reference import answer
from conformance.compare import first_difference
from conformance.ledger import load_ledger
from conformance.shorthand import expand_events
from reference_impl import admission, fork, message_shape

Json = dict[str, Any]

COUNT = 1500
"""Requests of each operation. They go through one process, so thousands take a second or two."""

EARLIEST_NOW = 10**12
"""Times of the clock are later than this; those that are drawn are earlier, or 2^53, which is no time."""

HEADER = {
    "version": 0, "id": "p", "createdAt": 5, "cwd": "/work", "parentSession": "g", "seedLength": 3,
    "origin": "subagent", "delegationDepth": 1, "agentPreset": "coder",
}  # fmt: skip
CONFIG = {"provider": "p", "model": "q", "reasoningEffort": "low", "maxTokens": 5}
REQUEST_HEADER = {
    "reason": "changed",
    "header": {"config": CONFIG, "adapterDefaults": {"maxTokens": True, "reasoningEffort": True}},
}
PIECES: list[Json] = [
    {"user": "a"},
    {"assistant": "b"},
    {"result": "c1"},
    {"turn/start": 1},
    {"turn/end": 1},
    {"event": "note", "ignorable": True},
    {"event": "request/header", "data": REQUEST_HEADER},
    {"event": "session/end-seed"},
]
JUNK: list[Any] = [None, True, False, 0, 1, -1, 0.5, "", "x", "append", [], {}, [1], {"a": 1}, 2**53, -0.0]
NAMES = ["extra", "ignorable", "surfaceOp", "sourceEventSeqs", "data", "reason", "id"]


def draw_log(rng: random.Random) -> list[Any]:
    """A log of up to six events; a message may replace what stands before it."""
    written: list[Json] = []
    for index in range(rng.randrange(7)):
        piece = dict(rng.choice(PIECES))
        if index and rng.random() < 0.2 and piece.keys() & {"user", "assistant"}:
            place = rng.randrange(index)
            piece |= {"replace": [place, place], "sources": [place]}
        written.append(piece)
    return copy.deepcopy(expand_events(written))


def damage(value: Any, rng: random.Random) -> None:
    """One change somewhere inside: another value, a member less, a member more."""
    places: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        holder = pending.pop()
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            places.append((holder, key))
            if isinstance(holder[key], dict | list):
                pending.append(holder[key])
    if not places:
        return
    holder, key = rng.choice(places)
    what = rng.random()
    if what < 0.6:
        holder[key] = copy.deepcopy(rng.choice(JUNK))
    elif what < 0.85 or not isinstance(holder, dict):
        del holder[key]
    else:
        holder[rng.choice(NAMES)] = copy.deepcopy(rng.choice(JUNK))


def draw_request(op: str, rng: random.Random) -> Json:
    name, _, source = op.partition("@")
    header, events = copy.deepcopy(HEADER), draw_log(rng)
    if name == "fork":
        request: Json = {"op": name, "edition": "v0", "header": header, "events_text": json.dumps(events)}
        if rng.random() < 0.8:
            request["boundary_text"] = json.dumps(rng.choice([0, 1, 2, 3, 4, 5, 6, *JUNK]))
        for member, values in (("childId", ["kid", "p", ""]), ("taken", [["kid"], ["session-1"]])):
            if rng.random() < 0.4:
                request[member] = rng.choice(values)
        return request
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        damage(rng.choice([header, events, events]), rng)
    request = {"op": name, "source": source, "edition": "v0", "sessionId": "p"}
    return request | {"header_text": json.dumps(header), "events_text": json.dumps(events)}


def judged(found: Json) -> Json:
    """An answer without wording, and without the times of a clock."""
    if "result" in found:
        result = copy.deepcopy(found["result"])
        for holder, name in [
            *((event, "time") for event in result["events"]),
            (result["header"], "createdAt"),
        ]:
            value = holder.get(name)
            if isinstance(value, int | float) and value > EARLIEST_NOW:
                holder[name] = "now"
        return {"result": result}
    if "rejected" in found:
        return {"rejected": {name: found["rejected"].get(name) for name in ("condition", "at")}}
    return {kind: True for kind in found if kind not in ("id", "op")}


def is_quirk(request: Json, theirs: Json) -> bool:
    """A null element, on which the package breaks."""
    return "crashed" in theirs and None in json.loads(request["events_text"])


def differences(argv: list[str], requests: list[Json]) -> list[Any]:
    lines = "".join(json.dumps({"id": index, **each}) + "\n" for index, each in enumerate(requests))
    done = subprocess.run(argv, input=lines, capture_output=True, text=True, timeout=120, check=True)
    theirs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(theirs) == len(requests)
    found = []
    for request, their in zip(requests, theirs, strict=True):
        ours = json.loads(json.dumps(answer(copy.deepcopy(request))))
        if first_difference(judged(ours), judged(their)) is not None and not is_quirk(request, their):
            found.append((request, ours, their))
    return found


@pytest.fixture(scope="session")
def argv() -> list[str]:
    rules = load_ledger().rules.values()
    texts = [{"condition": rule.condition, "texts": list(rule.texts)} for rule in rules if rule.texts]
    return available(provision.DEFAULT_VERSION, texts)


OPERATIONS = ["admit@borrowed", "admit@restored", "fork"]


@pytest.mark.parametrize("op", OPERATIONS)
def test_the_reference_answers_as_the_package_does(argv: list[str], op: str) -> None:
    rng = random.Random(op)
    requests = [draw_request(op, rng) for _ in range(COUNT)]
    assert differences(argv, requests) == []
    kinds = {(answer(copy.deepcopy(each)).get("rejected") or {}).get("condition") for each in requests}
    assert len(kinds) > (5 if op == "fork" else 20), "the damage is of many kinds"
    assert None in kinds, "and some of it does no harm"


@pytest.mark.parametrize(
    ("op", "module", "name", "fault"),
    [
        ("admit@restored", message_shape, "is_text", lambda value: isinstance(value, str)),
        ("admit@restored", admission, "is_time", lambda value: True),
        ("admit@borrowed", admission, "require_lossless_event", lambda event, index: None),
        ("admit@borrowed", message_shape, "ADAPTER_DEFAULTS", ("maxTokens",)),
        ("fork", fork, "check_turns", lambda events, source_id: None),
        ("fork", fork, "free_id", lambda in_use: "session-1"),
    ],
)
def test_a_faulty_reference_is_found(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, op: str, module: Any, name: str, fault: Any
) -> None:
    rng = random.Random(op)
    requests = [draw_request(op, rng) for _ in range(COUNT)]
    monkeypatch.setattr(module, name, fault)
    assert differences(argv, requests)


@pytest.mark.parametrize("version", provision.VERSIONS)
def test_the_first_version_offers_forks_only(version: str) -> None:
    """It has no ``ignorable``, and so another envelope than the edition."""
    capabilities = ask(available(version, TEXTS), op="hello", protocol=1)["result"]["capabilities"]
    offered = [name for name in OPERATIONS if name in capabilities]
    assert offered == (["fork"] if version == "0.0.1-rc.1" else OPERATIONS)


def test_a_store_cannot_hold_two_sessions_of_one_id(argv: list[str]) -> None:
    found = ask(argv, op="fork", header=HEADER, events=[], taken=["p"])
    assert found == {"error": "taken holds the id of the source"}
