"""Killed writers: the stores of the reference lose nothing, and each broken store is found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conformance.adapters.registry import AdapterSpec, resolve
from conformance.cli import main
from conformance.trials.channel import Backend, Gone
from conformance.trials.hostile import hostile_trials
from conformance.trials.kills import Verifier, kill_trials
from conformance.trials.load import Load

HERE = str(Path(__file__).parent)


@pytest.fixture
def verifier():
    """Reads what a writer has left with an honest store."""
    return Verifier(resolve("store:jsonl").connect())


@pytest.fixture
def broken(monkeypatch):
    """A backend whose writer keeps a broken store open."""
    monkeypatch.syspath_prepend(HERE)
    return lambda name: Backend(AdapterSpec(f"store:broken_stores:{name}"), kept_open=True)


def honest(name: str, *, kept_open: bool = True) -> tuple[Backend, Verifier]:
    spec = resolve(f"store:{name}")
    return Backend(spec, kept_open=kept_open), Verifier(spec.connect())


@pytest.mark.parametrize("name", ["jsonl", "jsonl-zstd"])
def test_a_killed_writer_loses_nothing_that_it_answered_for(name):
    tally = kill_trials(*honest(name), trials=6, seed=3)
    assert (tally.trials, tally.faults) == (6, [])
    assert tally.answered > 0
    assert sum(tally.outcomes.values()) == 6


def test_nor_does_one_that_opens_the_store_for_each_batch():
    tally = kill_trials(*honest("jsonl", kept_open=False), trials=2, seed=3)
    assert (tally.trials, tally.faults) == (2, [])


@pytest.mark.parametrize("name", ["jsonl", "jsonl-zstd"])
def test_the_other_trials(name):
    told = dict(hostile_trials(*honest(name), seed=1))
    assert [each for each in told.items() if each[1] is not None] == []
    assert set(told) == {
        "disk full", "read only folder", "vanished folder", "clock back", "two writers", "signal in repair",
    }  # fmt: skip


KILLED = {
    "AnswersBeforeWriting": "answered for",
    "LosesTheLastBatch": "answered for|refused|another log|no longer loads",
    "KeepsTheTornLine": "no longer loads|answered for|another log",
    "WritesTheFileAnew": "no longer loads|answered for|refused",
    "PublishesInPieces": "no longer loads",
}


@pytest.mark.parametrize("name", KILLED)
def test_a_broken_store_is_found_by_kills(name, broken, verifier):
    tally = kill_trials(broken(name), verifier, trials=200, seed=1)  # it ends at the first
    assert tally.faults
    assert any(word in tally.faults[-1] for word in KILLED[name].split("|"))
    assert "seed 1" in tally.faults[-1]


OTHERS = {
    "LeavesHalfABatch": ("disk full", "nobody sent"),
    "TakesNoLock": ("two writers", "was let in"),
    "TrustsTheClock": ("clock back", "revisions"),
    "MakesItsFolderAnew": ("vanished folder", "was answered with"),
    "SaysItCould": ("read only folder", "was answered with"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_broken_store_is_found_by_the_other_trials(name, broken, verifier):
    trial, words = OTHERS[name]
    told = dict(hostile_trials(broken(name), verifier, seed=1))
    assert told[trial] is not None
    assert words in told[trial]


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
    channel = backend.open(tmp_path)
    channel.kill()
    with pytest.raises(Gone):
        backend.ask(channel, {"list": True})
    channel.close()


def test_the_command(capsys):
    assert main(["kill-trials", "store:jsonl", "--trials", "2", "--seed", "5"]) == 0
    told = capsys.readouterr().out
    assert "pass store:jsonl, kept-open: 2 kills in " in told
    assert "pass two writers" in told


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
