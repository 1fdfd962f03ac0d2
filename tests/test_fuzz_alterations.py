"""Changes somewhere inside a value: every place is reached, and nothing that was given is touched."""

from __future__ import annotations

import copy
import json

from conformance.fuzzing import messages, old_shapes
from conformance.fuzzing.alterations import altered, places_in
from conformance.fuzzing.draw import Replaying, Seeded

DATA = messages.result(3, "c1", ("a", "b"))


def test_places_are_outer_ones_first():
    assert places_in({"a": [1, {"b": 2}], "c": 3}) == [("a",), ("c",), ("a", 0), ("a", 1), ("a", 1, "b")]
    assert places_in(5) == []


def at(value, path):
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def test_every_place_is_changed_now_and_then_and_the_value_is_not():
    before = copy.deepcopy(DATA)
    draw = Seeded("tests")
    changed = [altered(draw, DATA) for _ in range(1500)]
    assert before == DATA
    for path in places_in(DATA):
        assert any(at(each, path) != at(DATA, path) for each in changed), path
    assert sum(each != DATA for each in changed) > 1300
    hoisted = {**DATA["message"], "turn": 1, "step": 1}
    assert hoisted in changed  # the members of the message, one level too high


def test_a_value_without_an_inside_becomes_another_one():
    draw = Seeded("tests")
    assert {json.dumps(altered(draw, "text")) for _ in range(300)} >= {"null", "[]", "{}", "true", "0"}


def test_the_simplest_old_log_is_empty_and_seqs_stay():
    assert old_shapes.old_events(Replaying([])) == []
    draw = Seeded("tests")
    for _ in range(300):
        seqs = [event["seq"] for event in old_shapes.old_events(draw)]
        spelled = [
            seq if isinstance(seq, int) else int(float(seq.strip("\0").removeprefix("raw:"))) for seq in seqs
        ]
        assert spelled == list(range(len(seqs)))
