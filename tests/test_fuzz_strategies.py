"""Strategies for Hypothesis, the measure of the generator, and inputs made of bytes."""

from __future__ import annotations

import json
import time

import pytest
from fuzz_ports import altered
from hypothesis import find, given, settings
from hypothesis.errors import NoSuchExample

from conformance.adapters import reference
from conformance.adapters.inprocess import InProcess
from conformance.adequacy.mutant import Mutant
from conformance.adequacy.named import load_named
from conformance.errors import UsageError
from conformance.fuzzing import adequacy, guided, hunting, strategies
from conformance.fuzzing.comparing import compare
from conformance.fuzzing.recipes import RECIPES
from conformance.ledger import load_ledger
from conformance.protocol import Answer, Request
from conformance.reference_sources import sources

FEW = settings(max_examples=15, deadline=None)


def ask(op, **members):
    return reference.answer({"op": op, "edition": "v0", **members})


@FEW
@given(strategies.valid_logs())
def test_valid_logs_fold(log):
    assert "result" in ask("fold", events=log)


@FEW
@given(strategies.old_logs())
def test_old_logs_are_brought_up_to_date_or_refused(log):
    answer = ask("normalise", sessionId="s", events=log)
    assert answer.keys() <= {"result", "rejected"}
    if "result" in answer:
        assert ask("normalise", sessionId="s", **answer["result"]) == answer


def test_an_old_message_is_found_among_old_logs():
    def is_old(log):
        answer = ask("normalise", sessionId="s", events=log)
        return "result" in answer and answer["result"].get("events") != log

    (event,) = find(strategies.old_logs(), is_old, settings=settings(max_examples=500, database=None))
    assert event["type"] in ("turn/start", "turn/end", "user/message", "assistant/message", "tool/result")


@FEW
@given(strategies.altered({"a": [1, {"b": "c"}]}))
def test_an_altered_value_is_a_value(value):
    assert json.loads(json.dumps(value)) == value


def test_the_simplest_change_of_an_element_takes_it_away():
    value = {"a": [1, {"b": "c"}]}
    changed = find(strategies.altered(value), lambda other: other.get("a", value["a"]) != value["a"])
    assert changed == {"a": [{"b": "c"}]}
    assert value == {"a": [1, {"b": "c"}]}


@FEW
@given(strategies.windows())
def test_windows_are_valid(window):
    base, log = window
    assert "result" in ask("window", baseSeq=base, events=log)


@FEW
@given(strategies.view_scripts(), strategies.live_scripts())
def test_scripts_can_be_played(view, live):
    assert "result" in ask("surface.live", baseSeq=0, steps=view)
    assert "result" in ask("session.live", steps=live)


@FEW
@given(strategies.seq_lists())
def test_lists_come_back(values):
    written = ask("seqs.encode", schema=19, values=values)["result"]
    assert ask("seqs.decode", schema=19, rowSeq=len(values), **written)["result"] == {"values": values}


@FEW
@given(strategies.requests("seqs.decode@17"))
def test_whole_requests_are_answered(request):
    assert reference.answer(request).keys() <= {"result", "rejected"}


@FEW
@given(strategies.row_batches(), strategies.stored_rows(17))
def test_batches_are_written_and_rows_are_read(batch, rows):
    written = ask("rows.encode", schema=17, events=batch)["result"]["rows"]
    base = batch[0]["seq"] if batch else 0
    read = ask("rows.scan", schema=17, rows=written, base=base)["result"]
    assert read == {"events": batch, "tornFrom": None}
    assert ask("rows.scan", schema=17, rows=rows, base=0).keys() <= {"result", "rejected"}


@FEW
@given(strategies.log_files(), strategies.log_files(compressed=True))
def test_files_are_read_or_refused(plain, frames):
    for data, compression in ((plain, "none"), (frames, "zstd")):
        found = ask("jsonl.load", hex=data.hex(), compression=compression, sessionId="s")
        assert found.keys() <= {"result", "rejected"}


@FEW
@given(strategies.backend_scripts())
def test_scripts_of_a_backend_begin_with_a_session(steps):
    assert "create" in steps[0]
    assert {"load": steps[0]["create"]["id"]} in steps


def refused_with(condition):
    return lambda log: ask("fold", events=log).get("rejected", {}).get("condition") == condition


def test_hypothesis_shrinks_to_logs_that_people_can_read():
    shortest = find(strategies.nearly_valid_logs("surface-op-missing"), refused_with("surface-op-missing"))
    assert len(shortest) == 1
    assert "surfaceOp" not in shortest[0]


def test_a_fault_that_there_is_not():
    with pytest.raises(UsageError, match="no fault nothing; there are seq-not-contiguous"):
        strategies.nearly_valid_logs("nothing")
    with pytest.raises(UsageError, match="no recipe makes requests of nothing"):
        strategies.requests("nothing")


def test_what_is_given_may_be_changed():
    for _ in range(2):
        with pytest.raises(NoSuchExample):
            find(strategies.valid_logs(), grown, settings=settings(max_examples=10, database=None))


def grown(log):
    """Spoil what was given; the next one must not show it."""
    seen = any(event["data"] == "spoiled" for event in log)
    for event in log:
        event["data"] = "spoiled"
    return seen


def test_a_named_mutant_is_found_and_the_original_is_not():
    recipes = [recipe for recipe in RECIPES if recipe.op == "fold"]
    found = next(each for each in load_named(load_ledger())["fold"] if each.id == "fold.log-only-joins")
    asked = hunting.draw_inputs(recipes, "1/0", 150)
    assert 0 < len(hunting.places_for(found, asked)) < 150
    hunt = hunting.hunt(found, hunting.copy_of(found), asked, 20.0)
    assert hunt.inputs is not None
    assert hunt.inputs - 1 in hunting.places_for(found, asked)
    assert hunt.by.startswith("fold ")
    original = Mutant("original", "fold", "none", "unchanged", sources()["fold"], frozenset())
    assert len(hunting.places_for(original, asked)) == 150
    lost = hunting.hunt(original, hunting.copy_of(original), asked, 20.0)
    assert lost.inputs is None


def test_found_is_found_with_most_seeds_and_within_their_time():
    trail = adequacy.Trail("fold", Mutant("a", "fold", "none", "a", "", frozenset()))
    trail.add(1, 0, hunting.Hunt(7, 1.0, "fold valid"))
    trail.add(2, 0, hunting.Hunt(None, 50.0))
    assert not trail.is_found(3)
    assert trail.seconds_left(1, 60.0) == 0
    assert trail.seconds_left(2, 60.0) == 10
    assert trail.seconds_left(3, 60.0) == 60
    trail.add(2, 1, hunting.Hunt(5, 3.0, "fold valid"))
    assert trail.hunts[2] == hunting.Hunt(adequacy.PART + 5, 53.0, "fold valid")
    assert trail.is_found(3)
    assert not trail.is_found(4)


def named(name):
    return next(each for each in load_named(load_ledger())[name.partition(".")[0]] if each.id == name)


def original_of(module):
    return Mutant(f"{module}.original", module, "none", "unchanged", sources()[module], frozenset())


@pytest.mark.parametrize("jobs", [1, 2])
def test_whoever_is_found_is_not_asked_again(capsys, jobs):
    trails = [
        adequacy.Trail("fold", named("fold.log-only-joins")),
        adequacy.Trail("fold", original_of("fold")),
    ]
    recipes = [recipe for recipe in RECIPES if recipe.op == "fold"]
    adequacy.hunt_all(recipes, trails, 3, 60, 20.0, jobs)
    assert [sorted(trail.hunts) for trail in trails] == [[1, 2], [1, 2, 3]]
    assert adequacy.report(trails, 3, everything=True) == (1, 2)
    told = capsys.readouterr().out
    assert "after 60 inputs of each seed: 1 of 2" in told
    assert "found fold.log-only-joins: after " in told
    assert "not found: fold.original: unchanged (found by 0 of 3 seeds)" in told


def test_every_part_has_inputs_of_its_own(monkeypatch):
    monkeypatch.setattr(adequacy, "PART", 20)
    drawn = []

    def draw(*args):
        drawn.append(args[1:])
        return hunting.draw_inputs(*args)

    monkeypatch.setattr(adequacy, "draw_inputs", draw)
    late = adequacy.Trail("replace", named("replace.order-unchecked"))
    recipes = [recipe for recipe in RECIPES if recipe.op == "fold"]
    adequacy.hunt_all(recipes, [late, adequacy.Trail("fold", original_of("fold"))], 2, 50, 20.0, 1)
    assert drawn == [("1/0", 20), ("2/0", 20), ("1/1", 20), ("2/1", 20), ("1/2", 10), ("2/2", 10)]
    assert [20 < hunt.inputs <= 40 for hunt in late.hunts.values()] == [True, True]  # not by the first part
    parts = [[asked.body for asked in hunting.draw_inputs(recipes, f"1/{part}", 20).asked] for part in (0, 1)]
    assert parts[0] != parts[1]


def test_the_seed_in_the_middle_is_the_one_that_is_told():
    trail = adequacy.Trail("fold", original_of("fold"))
    for seed, inputs in enumerate((10, None, 90, 20, None), 1):
        trail.add(seed, 0, hunting.Hunt(inputs, 1.0, f"recipe {seed}"))
    middle = trail.median(5)
    assert middle is not None
    assert (middle.inputs, middle.by) == (90, "recipe 3")
    assert trail.median(6) is None


class Copy:
    """A port that answers as it is told, and takes its time."""

    def __init__(self, answer, seconds=0.0):
        self.answer, self.seconds = answer, seconds

    def exchange(self, requests):
        for request in requests:
            time.sleep(self.seconds)
            yield request.number, self.answer


@pytest.mark.parametrize(
    ("answer", "is_found"),
    [
        (Answer("crashed", "TypeError"), True),
        (Answer("died", "killed"), True),
        (Answer("error", "the disk is full"), False),
        (Answer("not-run", "given up"), False),
        (Answer("hung", "no answer in time"), False),  # the original answers in time when it may take longer
    ],
)
def test_a_fault_of_the_run_is_no_find(answer, is_found):
    asked = hunting.draw_inputs([recipe for recipe in RECIPES if recipe.op == "fold"], "1/0", 20)
    found = hunting.hunt(original_of("fold"), Copy(answer), asked, 20.0)
    assert (found.inputs is not None) == is_found


def test_what_is_found_after_its_time_is_not_found():
    asked = hunting.draw_inputs([recipe for recipe in RECIPES if recipe.op == "fold"], "1/0", 20)
    late = hunting.hunt(original_of("fold"), Copy(Answer("crashed", "late"), 0.03), asked, 0.02)
    assert late.inputs is None
    assert late.seconds < 1


def test_a_listed_quirk_is_no_find():
    recipes = [recipe for recipe in RECIPES if recipe.name == "shapeless" and recipe.op == "project"]
    quirk = named("projection.other-types-refused")
    asked = hunting.draw_inputs(recipes, "1/0", 300)
    answers = dict(
        hunting.copy_of(quirk).exchange(Request(place, each.body) for place, each in enumerate(asked.asked))
    )
    assert any(
        compare("project", each.answer, answers[place], load_ledger())
        for place, each in enumerate(asked.asked)
    )
    assert hunting.hunt(quirk, hunting.copy_of(quirk), asked, 20.0).inputs is None


@pytest.mark.parametrize("make", [lambda: strategies.cells(20), lambda: strategies.stored_rows(16)])
def test_a_schema_that_nothing_is_drawn_for_is_refused(make):
    with pytest.raises(UsageError, match="nothing is drawn for schema"):
        make()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--page", "nosuch"], "no page has named mutants under 'nosuch'; there are admission"),
        (["--op", "nosuch"], "no recipe is of nosuch; there are admit"),
        (["-j", "0"], "must be a whole number from 1"),
        (["--seconds", "nan"], "must be a number of seconds above 0"),
        (["--inputs", "0"], "must be a whole number from 1"),
    ],
)
def test_the_measure_refuses_what_it_cannot_ask(capsys, words, told):
    with pytest.raises(SystemExit) as ended:
        adequacy.main(words)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err


def test_bytes_are_choices_and_choices_are_requests():
    assert guided.choices_of(bytes([1, 255, 0, 0, 0, 0, 0, 1, 0, 7])) == [1, 256, 7]
    sound = InProcess(reference.answer)
    for data in (b"", b"\1\2\3", bytes(range(256))):
        assert guided.put("seqs.decode@19", data, sound).kind in ("result", "rejected")
    broken = InProcess(altered("seqs.decode", lambda request, answer: {"crashed": "TypeError"}))
    with pytest.raises(guided.BadAnswerError, match="crashed: TypeError"):
        guided.put("seqs.decode@19", b"", broken)


def test_a_guided_run_needs_a_capability():
    with pytest.raises(UsageError, match="name one of"):
        guided.main(["nothing"])
