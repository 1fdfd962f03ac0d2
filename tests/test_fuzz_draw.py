"""Sources of choices, and what all recipes owe them."""

from __future__ import annotations

import json
from statistics import median

import pytest

from conformance import schemas
from conformance.adapters.registry import resolve
from conformance.fuzzing import faults, logs
from conformance.fuzzing.draw import Recording, Replaying, Seeded
from conformance.fuzzing.recipes import ON_FILES, RECIPES, SELDOM, Recipe, usable, wheel_of
from conformance.fuzzing.spelling import Spelled, again, body_of, odd, raw, request_of
from conformance.json_text import not_plain, parse_exact
from conformance.operations import OPERATIONS
from conformance.protocol import Request

IDS = [f"{recipe.capability}-{recipe.name}" for recipe in RECIPES]


def bodies(recipe: Recipe, number: int, seed: str = "tests") -> list[str]:
    draw = Seeded(seed)
    return [body_of(recipe.capability, recipe.make(draw)) for _ in range(number)]


@pytest.mark.parametrize("recipe", RECIPES, ids=IDS)
def test_what_is_drawn_can_be_written_down_and_drawn_again(recipe):
    seeded, recording = Seeded("tests"), Recording("tests")
    for _ in range(60):
        recording.clear()
        first = body_of(recipe.capability, recipe.make(seeded))
        assert body_of(recipe.capability, recipe.make(recording)) == first
        replaying = Replaying(recording.choices)
        assert body_of(recipe.capability, recipe.make(replaying)) == first
        assert replaying.choices == recording.choices
        assert replaying.spans == recording.spans


@pytest.mark.parametrize("recipe", RECIPES, ids=IDS)
def test_requests_are_plain_and_of_the_shape_of_their_operation(recipe):
    operation = OPERATIONS[recipe.op]
    for body in bodies(recipe, 150):
        request = json.loads("{" + body)
        assert not_plain(request) is None, body
        for name, value in request.items():
            if name.endswith("_text"):
                parse_exact(value)
        members = {
            name: value for name, value in request.items() if name not in ("op", "edition", operation.variant)
        }
        assert schemas.fault(f"op/{recipe.op}#/$defs/request", members) is None, body


@pytest.mark.parametrize("recipe", RECIPES, ids=IDS)
def test_the_reference_answers_whatever_is_drawn(recipe):
    connection = resolve("store:jsonl" if "storage.jsonl" in recipe.needs else "reference").connect()
    asked = bodies(recipe, 300 if recipe.op not in ("backend", "sqlite.open") else 60)
    for number, answer in connection.exchange(Request(number, body) for number, body in enumerate(asked, 1)):
        assert answer.kind in ("result", "rejected"), (answer, asked[number - 1])


def test_the_simplest_choices_give_the_smallest_input():
    for recipe in RECIPES:
        simplest = body_of(recipe.capability, recipe.make(Replaying([])))
        others = sorted(len(body) for body in bodies(recipe, 100))
        assert len(simplest) <= others[60], recipe


def test_another_seed_draws_something_else():
    (recipe,) = [recipe for recipe in RECIPES if (recipe.capability, recipe.name) == ("fold", "valid")]
    assert bodies(recipe, 20) != bodies(recipe, 20, "others")


def test_a_log_has_about_ten_events():
    draw = Seeded("tests")
    assert 9 <= median(len(logs.valid_log(draw)) for _ in range(2000)) <= 13


def test_valid_logs_fold_and_typed_ones_are_admitted():
    connection = resolve("reference").connect()
    draw = Seeded("tests")
    header = {"version": 0, "id": "s", "createdAt": 0}
    drawn = [logs.valid_log(draw) for _ in range(400)]
    asked = [body_of("fold", {"events": log}) for log in drawn]
    asked += [body_of("admit@borrowed", {"sessionId": "s", "header": header, "events": log}) for log in drawn]
    for number, answer in connection.exchange(Request(number, body) for number, body in enumerate(asked, 1)):
        assert answer.kind == "result", (answer, asked[number - 1])


@pytest.mark.parametrize("kind", faults.KINDS)
@pytest.mark.parametrize("typed", [True, False])
def test_a_fault_hits_the_condition_that_it_is_named_after(kind, typed):
    connection = resolve("reference").connect()
    draw = Seeded("tests")
    asked = [
        body_of("fold", {"events": Spelled(faults.nearly_valid_log(draw, kind, typed=typed))})
        for _ in range(200)
    ]
    answers = connection.exchange(Request(number, body) for number, body in enumerate(asked, 1))
    met = [answer.value.get("condition") for _, answer in answers]
    assert met.count(kind) > 80, met


def test_what_is_not_plain_travels_as_text():
    members = {
        "event": Spelled({again("seq"): 7, "seq": raw("-0"), odd("\ud800"): [raw("1e400"), odd("\ud83d")]})
    }
    assert request_of(members) == {"event_text": '{"seq":7,"seq":-0,"\\ud800":[1e400,"\\ud83d"]}'}


def test_what_is_plain_travels_as_it_is():
    value = {"seq": 0, "text": "a\0b", "emoji": "😀"}
    assert request_of({"event": Spelled(value)}) == {"event": value}


def test_recipes_are_chosen_by_what_is_declared():
    everything = frozenset(recipe.capability for recipe in RECIPES)
    assert {recipe.op for recipe in usable(RECIPES, everything, "seqs.decode", untyped=True)} == {
        "seqs.decode"
    }
    named = usable(RECIPES, everything, "seqs.decode@17", untyped=True)
    assert {recipe.capability for recipe in named} == {"seqs.decode@17"}
    plain = usable(RECIPES, everything, None, untyped=False)
    assert all(recipe.typed or recipe.make is recipe.plain for recipe in plain)
    assert {recipe.op for recipe in plain} == {recipe.op for recipe in RECIPES}  # nothing is asked of no one
    assert not any("isolation" in recipe.needs for recipe in usable(RECIPES, everything, None, untyped=True))
    assert usable(RECIPES, frozenset(), None, untyped=True) == []


def test_a_wheel_holds_each_recipe_by_its_weight_and_those_on_files_seldom():
    wheel = wheel_of(RECIPES)
    assert all(
        wheel.count(recipe) == recipe.weight * (1 if recipe.op in ON_FILES else SELDOM) for recipe in RECIPES
    )
    assert {recipe.op for recipe in RECIPES} > ON_FILES


def test_every_operation_has_a_recipe():
    assert set(OPERATIONS) == {recipe.op for recipe in RECIPES}
