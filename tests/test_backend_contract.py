"""The contract of storage backends: an honest one keeps it, and each broken one is found."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from broken_backends import CAUGHT_BY
from miniature_backend import Miniature, Refused

from conformance.adapters.registry import AdapterSpec
from conformance.cases import Case
from conformance.corpus import load_corpus
from conformance.engine import Options, run
from conformance.json_text import parse_exact
from conformance.ledger import load_ledger

CAPABILITIES = ["backend", "backend.borrowed", "storage.jsonl"]
STRICT = frozenset(("condition",))


def adapter_of(kind: type[Miniature]):
    """A function from a request to an answer, over one sort of backend."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if request["op"] == "hello":
            told = {"protocol": 1, "implementation": {"name": kind.__name__}, "editions": ["v0"]}
            return {"result": {**told, "capabilities": CAPABILITIES}}
        store = kind(Path(request["root"]))
        steps = request["steps"] if "steps" in request else parse_exact(request["steps_text"])
        answers = [answer_to(store, step) for step in steps]
        store.close()
        return {"result": {"steps": answers}}

    return answer


def answer_to(store: Miniature, step: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"result": take(store, step)}
    except Refused as refusal:
        return {"rejected": {"condition": str(refusal)}}
    except Exception as error:  # a broken backend may well fall over its own files
        return {"crashed": f"{type(error).__name__}: {error}"}


def take(store: Miniature, step: dict[str, Any]) -> dict[str, Any]:
    match step:
        case {"create": header}:
            store.create(header)
        case {"append": {"id": session_id, "events": events}, **others}:
            store.append(session_id, events)
            if "spoil" in others:
                for event in events:
                    event["data"] = {"spoilt": True}
                events.append({"spoilt": True})
        case {"load": session_id}:
            return store.load(session_id)
        case {"inspect": session_id}:
            return store.inspect(session_id)
        case {"readFrom": {"id": session_id, "from": first}}:
            return store.read_from(session_id, first)
        case {"list": True}:
            return {"headers": store.list()}
        case {"revision": session_id}:
            return {"revision": store.revision(session_id)}
        case _:
            raise AssertionError(f"no step {step}")
    return {}


@cache
def contract() -> list[Case]:
    return [case for case in load_corpus() if case.op == "backend"]


def failures(kind: type[Miniature], only: str | None = None) -> list[str]:
    """The cases that a backend does not pass, among those that it declares, or of one case alone."""
    spec = AdapterSpec(kind.__name__, factory=lambda: adapter_of(kind))
    cases = [case for case in contract() if only in (None, case.id)]
    records = list(run(cases, spec, load_ledger(), Options(strict=STRICT)))
    good = ("pass", "undeclared")
    return [record["case"] for record in records[1:-1] if record["status"] not in good]


def test_an_honest_backend_passes_all_that_it_declares():
    assert failures(Miniature) == []


@pytest.mark.parametrize("kind", CAUGHT_BY, ids=lambda kind: kind.__name__)
def test_a_broken_backend_is_found(kind):
    assert failures(kind, CAUGHT_BY[kind]) == [CAUGHT_BY[kind]]


def test_there_are_enough_of_them():
    assert len(CAUGHT_BY) >= 30
    assert len(set(CAUGHT_BY.values())) >= 15
