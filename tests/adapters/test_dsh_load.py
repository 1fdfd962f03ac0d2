"""The published package and the reference read the same stored logs alike: random old ones, many at once."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

from test_dsh_adapter import answers_to, available

from conformance.adapters.dsh import provision
from conformance.adapters.reference import answer
from conformance.compare import first_difference
from conformance.ledger import load_ledger

EVENTS = 6000
FILES = 250

ODD = (None, True, 0, 1, -1, 1.5, 2**53 - 1, "", "x", [], {}, {"kind": "k"}, {"kind": ""}, {"kind": "user"})
STRAY = ("x", "id", "role", "message", "error", "reason", "code", "turn")
USER = {"id": "u", "role": "user", "source": {"kind": "user"}, "content": []}
OLD_USER = {"source": {"kind": "user"}, "content": []}
MODEL = {"provider": "p", "model": "m"}
CALL = {"type": "tool-call", "id": "c", "name": "read", "arguments": "{}"}
BLOCK = {"type": "tool-result", "toolCallId": "c", "content": [], "isError": False}
RESULT = {"id": "t", "role": "user", "source": {"kind": "tool", "callId": "c"}, "content": [BLOCK]}
FAILURE = {"message": "m", "code": "c", "status": 500, "providerRetryAfterMs": 0.5, "requestId": "r"}
REASONS: tuple[dict[str, Any], ...] = (
    {"kind": "completed"}, {"kind": "interrupted"}, {"kind": "aborted"}, {"kind": "aborted", "reason": 1},
    {"kind": "disposed"}, {"kind": "error", "error": {}}, {"kind": "odd", "x": 1},
    {"kind": "error", "step": 1, "message": "m"}, {"kind": "error", "step": 1, "message": "m", "code": "c"},
    {"kind": "error", "step": 0, "failure": FAILURE},
    {"kind": "error", "step": 0, "failure": {"message": "m", "code": "c"}},
)  # fmt: skip


class Maker:
    """Makes events; with ``damage`` it changes about every tenth member."""

    def __init__(self, chance: random.Random, damage: float) -> None:
        self.chance = chance
        self.damage = damage

    def hurt(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record with a member gone, another in its place, or one too many now and then."""
        changed = dict(record)
        for name in record:
            if self.chance.random() < self.damage:
                changed[name] = self.chance.choice(ODD)
            elif self.chance.random() < self.damage / 2:
                del changed[name]
        if self.chance.random() < self.damage:
            changed[self.chance.choice(STRAY)] = self.chance.choice(ODD)
        return changed

    def data(self, kind: str) -> dict[str, Any]:
        """The payload of one event, old or of today."""
        if kind == "turn/start":
            return self.either({"turn": 1}, {"turn": 1, "trigger": self.hurt({"kind": "user", "z": 1})})
        if kind == "turn/end":
            reason = self.hurt(self.chance.choice(REASONS))
            if isinstance(reason.get("failure"), dict):
                reason["failure"] = self.hurt(reason["failure"])
            return {"turn": 1, "reason": reason}
        if kind == "steering/message":
            return self.either(
                {"turn": -3, **OLD_USER}, {"turn": 1, "message": self.hurt(self.either(USER, OLD_USER))}
            )
        if kind == "user/message":
            return self.either(USER, {**OLD_USER, "note": 1})
        if kind == "assistant/message":
            message = {
                "id": "a",
                "role": "assistant",
                "source": {"kind": "model", **MODEL},
                "content": [CALL],
            }
            return self.either(
                {"turn": 1, "step": 1, "message": self.hurt(message)},
                {"turn": 1, "step": 1, "content": [CALL], "provenance": self.hurt({"kind": "z", **MODEL})},
            )
        if kind == "tool/result":
            return self.either(
                {"message": RESULT}, {"turn": 1, "callId": "c", "content": [], "isError": True}
            )
        return {"turn": 1, "step": 1, "callId": "c"}

    def either(self, *choices: dict[str, Any]) -> dict[str, Any]:
        return self.chance.choice(choices)

    def event(self, seq: int) -> dict[str, Any]:
        kind = self.chance.choice(KINDS)
        event = {"type": kind, "seq": seq, "time": seq, "data": self.hurt(self.data(kind))}
        if kind in ("steering/message", "user/message", "assistant/message", "tool/result"):
            replace = {"op": "replace", "start": self.chance.choice((0, 1, 2, 0.5, "0", 9)), "end": 0}
            event["surfaceOp"] = replace if self.chance.random() < self.damage * 2 else "append"
        if self.chance.random() < self.damage / 4:
            event["type"] = self.chance.choice(("zzz/x", "mode/set", "request/header-delta", "team/task"))
        if self.chance.random() < self.damage / 4:
            event["ignorable"] = self.chance.choice((True, True, False, 1))
        return event


KINDS = (
    "turn/start", "turn/end", "steering/message", "user/message", "assistant/message", "tool/result",
    "step/start", "step/end", "tool/call",
)  # fmt: skip


def texts() -> list[dict[str, Any]]:
    rules = load_ledger().rules.values()
    return [{"condition": rule.condition, "texts": list(rule.texts)} for rule in rules if rule.condition]


def answers_differ(requests: list[dict[str, Any]]) -> tuple[list[Any], Counter[str]]:
    """Requests that the two answer differently, and how often each kind of answer came."""
    lines = "".join(f"{json.dumps(request)}\n" for request in requests).encode()
    found = {each["id"]: each for each in answers_to(available(provision.DEFAULT_VERSION, texts()), lines)}
    differing = []
    kinds: Counter[str] = Counter()
    for request in requests:
        expected = json.loads(json.dumps(answer(request)))
        told = found[request["id"]]
        if "rejected" in expected and "rejected" in told:
            kinds[expected["rejected"]["condition"]] += 1
            places = [
                (each["rejected"]["condition"], each["rejected"].get("at")) for each in (expected, told)
            ]
            same = places[0] == places[1]
        else:
            kinds["accepted" if "result" in expected else "other"] += 1
            same = "result" in told and first_difference(expected.get("result"), told["result"]) is None
        if not same:
            differing.append((request, expected, told))
    return differing, kinds


def test_random_events_are_brought_up_to_date_alike() -> None:
    maker = Maker(random.Random("normalise"), 0.06)
    requests = [
        {
            "id": number,
            "op": "normalise",
            "edition": "v0",
            "sessionId": "s",
            "events": [maker.event(seq) for seq in range(maker.chance.randint(1, 5))],
        }
        for number in range(EVENTS)
    ]
    differing, kinds = answers_differ(requests)
    assert differing == []
    assert kinds["accepted"] > EVENTS // 10
    assert kinds["legacy-malformed"] > EVENTS // 10
    assert len(kinds) > 10


def test_random_files_are_loaded_alike() -> None:
    maker = Maker(random.Random("load"), 0.004)
    requests = []
    for number in range(FILES):
        events = [{"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}}]
        events += [maker.event(seq) for seq in range(1, maker.chance.randint(2, 9))]
        header = {"type": "session", "version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
        content = "".join(f"{json.dumps(line)}\n" for line in (header, *events))
        requests.append(
            {
                "id": number,
                "op": "jsonl.load",
                "edition": "v0",
                "sessionId": "s",
                "compression": "none",
                "hex": content[: len(content) - maker.chance.choice((0, 0, 0, 9))].encode().hex(),
            }
        )
    differing, kinds = answers_differ(requests)
    assert differing == []
    assert kinds["accepted"] > FILES // 3
    assert len(kinds) > 3
