"""Killed writers: the stores of the reference lose nothing, and each broken store is found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conformance.adapters.reference_stores import STORES
from conformance.adapters.registry import AdapterSpec, resolve
from conformance.cli import main
from conformance.trials import channel
from conformance.trials.channel import Backend, Gone, in_words
from conformance.trials.hostile import hostile_trials
from conformance.trials.kills import Verifier, kill_trials
from conformance.trials.load import Load

HERE = str(Path(__file__).parent)


def verifier_of(name: str) -> Verifier:
    """Reads what a writer has left with an honest store of the same files."""
    honest_one = "sqlite15" if name.startswith("broken_sqlite") else "jsonl"
    return Verifier(resolve(f"store:{honest_one}").connect())


@pytest.fixture
def broken(monkeypatch):
    """A backend whose writer keeps a broken store open."""
    monkeypatch.syspath_prepend(HERE)
    return lambda name: Backend(AdapterSpec(f"store:{name}"), kept_open=True)


def honest(name: str, *, kept_open: bool = True) -> tuple[Backend, Verifier]:
    spec = resolve(f"store:{name}")
    return Backend(spec, kept_open=kept_open), Verifier(spec.connect())


@pytest.mark.parametrize("name", STORES)
def test_a_killed_writer_loses_nothing_that_it_answered_for(name):
    tally = kill_trials(*honest(name), trials=6, seed=3)
    assert (tally.trials, tally.faults) == (6, [])
    assert tally.answered > 0
    assert sum(tally.outcomes.values()) == 6


@pytest.mark.parametrize("name", ["jsonl", "sqlite20"])
def test_nor_does_one_that_opens_the_store_for_each_batch(name):
    tally = kill_trials(*honest(name, kept_open=False), trials=3, seed=3)
    assert (tally.trials, tally.faults) == (3, [])


@pytest.mark.parametrize("name", STORES)
def test_the_other_trials(name):
    told = dict(hostile_trials(*honest(name), seed=1))
    assert [each for each in told.items() if each[1] is not None] == []
    assert set(told) == {
        "disk full", "read only folder", "vanished folder", "clock back", "two writers", "signal in repair",
    }  # fmt: skip


KILLED = {
    "broken_stores:AnswersBeforeWriting": "answered for",
    "broken_stores:LosesTheLastBatch": "answered for|refused|another log|no longer loads",
    "broken_stores:KeepsTheTornLine": "no longer loads|answered for|another log",
    "broken_stores:WritesTheFileAnew": "no longer loads|answered for|refused",
    "broken_stores:PublishesInPieces": "no longer loads",
    "broken_sqlite:CommitsLater": "answered for",
    "broken_sqlite:KeepsTheTornRow": "refused|no longer loads|answered for|another log",
    "broken_sqlite:LosesTheLastRow": "answered for|refused|another log|no longer loads|nobody sent",
    "broken_sqlite:WritesTheLogAnew": "answered for",
}


@pytest.mark.parametrize("name", KILLED)
def test_a_broken_store_is_found_by_kills(name, broken):
    tally = kill_trials(broken(name), verifier_of(name), trials=200, seed=1)  # it ends at the first
    assert tally.faults
    assert any(word in " ".join(tally.faults) for word in KILLED[name].split("|"))
    assert all("seed 1" in fault for fault in tally.faults)


OTHERS = {
    "broken_stores:LeavesHalfABatch": ("disk full", "nobody sent"),
    "broken_stores:TakesNoLock": ("two writers", "was let in"),
    "broken_stores:TrustsTheClock": ("clock back", "revisions"),
    "broken_stores:MakesItsFolderAnew": ("vanished folder", "was answered with"),
    "broken_stores:SaysItCould": ("read only folder", "was answered with"),
    "broken_sqlite:CommitsRowByRow": ("disk full", "nobody sent"),
    "broken_sqlite:TakesNoLock": ("two writers", "was let in"),
    "broken_sqlite:CountsNoRepairs": ("clock back", "revisions"),
    "broken_sqlite:WritesIntoNothing": ("vanished folder", "was answered with"),
    "broken_sqlite:SaysItCould": ("read only folder", "was answered with"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_broken_store_is_found_by_the_other_trials(name, broken):
    trial, words = OTHERS[name]
    told = dict(hostile_trials(broken(name), verifier_of(name), seed=1))
    assert told[trial] is not None
    assert words in told[trial]


def test_a_store_that_never_answers_has_not_passed(broken, monkeypatch):
    name = "broken_stores:NeverAnswers"
    tally = kill_trials(broken(name), verifier_of(name), trials=2, seed=1)
    assert tally.answered == 0
    assert tally.faults == ["the store never answered for a batch, so no kill could show a loss"]
    monkeypatch.setattr(channel, "PATIENCE", 1.0)
    told = dict(hostile_trials(broken(name), verifier_of(name), seed=1))
    assert set(told.values()) == {"the store did not answer within 1 seconds"}


def test_what_may_stand_behind_what_was_answered_for():
    load = Load(random.Random(1))
    load.batch()
    load.answered()
    load.batch()
    sent = load.sent[0]

    def closer(seq, kind="interrupted"):
        return {"type": "turn/end", "seq": seq, "time": 0, "data": {"turn": 1, "reason": {"kind": kind}}}

    count = len(load.stored)
    assert load.fault_of(load.stored) is None
    assert load.fault_of([*load.stored, *sent, closer(count + len(sent))]) is None
    assert load.fault_of([*load.stored, closer(count)]) is None
    assert "nobody sent" in str(load.fault_of([*load.stored, closer(count + 1)]))
    assert "nobody sent" in str(load.fault_of([*load.stored, closer(count, "blocked")]))
    assert "answered for" in str(load.fault_of(load.stored[:-1]))
    assert "nobody sent" in str(load.fault_of([*load.stored, {**closer(count), "type": "x"}]))
    assert "nobody sent" in str(load.fault_of([*load.stored, closer(count), *sent]))


def test_a_writer_that_is_gone_answers_nothing(tmp_path):
    backend, _ = honest("jsonl")
    writer = backend.open(tmp_path)
    writer.kill()
    with pytest.raises(Gone):
        backend.ask(writer, {"list": True})
    writer.close()


def test_the_command(capsys):
    assert main(["kill-trials", "store:jsonl", "--trials", "5", "--seed", "5"]) == 0
    told = capsys.readouterr().out
    assert "pass store:jsonl, kept-open: 5 kills in " in told
    assert "pass two writers" in told


CRASHING = """\
from conformance.adapters.reference_stores import adapter

right = adapter("jsonl")


def create():
    return answer


def answer(request):
    told = right(request)
    for step, found in zip(request.get("steps", []), told["result"].get("steps", [])):
        if "load" in step:
            found.clear()
            found["crashed"] = "no such table: events"
    return told
"""


def test_a_failed_run_tells_in_words_what_was_answered_and_how_to_repeat_it(tmp_path, monkeypatch, capsys):
    (tmp_path / "crashing.py").write_text(CRASHING)
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["kill-trials", "python:crashing:create", "--trials", "4", "--seed", "5"]
    assert main([*words, "--mode", "opened-anew"]) == 1
    *lines, last = capsys.readouterr().out.splitlines()
    assert any(
        line.endswith("of seed 5: the log no longer loads: crashed: no such table: events") for line in lines
    )
    assert "FAIL disk full: the log no longer loads: crashed: no such table: events" in lines
    assert last == f"again, with the same seed: session-conformance {' '.join(words)} --mode opened-anew"


def test_answers_in_words():
    assert in_words({"id": 1, "crashed": "no such table"}) == "crashed: no such table"
    refused = {"rejected": {"condition": "jsonl-line", "at": 3}}
    assert in_words(refused) == "rejected: condition jsonl-line, at 3"
    assert in_words({"id": 1}) == 'what is no answer: {"id":1}'


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["python:x:y", "--mode", "kept-open"], 2, "only a store of the reference"),
        (["store:paper"], 2, "known are"),
    ],
)
def test_wrong_use(words, code, told, capsys):
    assert main(["kill-trials", *words]) == code
    assert told in capsys.readouterr().err
