"""Every piece of advice fires where it should, and is silent where a log is as it should be."""

from __future__ import annotations

import re

import pytest
from logs import (
    assistant,
    at,
    call,
    chunk,
    log,
    replace,
    result,
    step,
    step_end,
    turn,
    turn_end,
    user,
    whole_turn,
)

import conformance
from conformance.checking.catalogue import ADVICE
from conformance.resources import spec_dir

HEAD = [turn(), user(), step()]


def compaction(*sources: int) -> list[dict]:
    start, summary = {"type": "compaction/start"}, {"type": "compaction/summary"}
    return [*whole_turn(), start, summary, user("sum", name="s", **replace(1, 6, 1, 4, 6, *sources))]


FIRES = {
    "call-unanswered": [*HEAD, assistant("c1"), step_end(), turn_end()],
    "result-without-call": [*HEAD, call("c1"), result("c1", 3), step_end(), turn_end()],
    "call-id-duplicate": [*HEAD, assistant("c1", "c1"), call("c1"), result("c1", 4), step_end(), turn_end()],
    "call-id-empty": [*HEAD, assistant(""), step_end(), turn_end()],
    "result-duplicate": [
        *HEAD, assistant("c1"), call("c1"), result("c1", 4), result("c1", 4), step_end(), turn_end(),
    ],
    "replace-splits-pair": [*whole_turn(), user("cut", name="v", **replace(1, 4, 1, 4))],
    "user-message-empty": [turn(), user(None), turn_end()],
    "compaction-uncited": compaction(9),
    "chunks-uncited": [*HEAD, chunk("a"), chunk("b"), assistant(sourceEventSeqs=[3]), step_end(), turn_end()],
    "call-uncited": [*HEAD, assistant("c1"), call("c1"), result("c1"), step_end(), turn_end()],
    "turn-already-open": [turn(), turn(2), turn_end(2)],
    "turn-number": [turn(2), turn_end(2)],
    "turn-end-mismatch": [turn(), turn_end(2)],
    "turn-end-open-step": [*HEAD, turn_end()],
    "step-start-turn": [turn(), step(1, 2), step_end(1, 2), turn_end()],
    "step-already-open": [*HEAD, step(2), step_end(2), turn_end()],
    "step-number": [turn(), step(2), step_end(2), turn_end()],
    "step-mismatch": [*HEAD, step_end(2), turn_end()],
    "tool-result-no-call": [*HEAD, assistant("c1"), result("c1"), step_end(), turn_end()],
    "tool-rewrite-outside-turn": [*whole_turn(), result("c1", 6, surfaceOp=replace(6, 6)["surfaceOp"])],
    "event-outside-turn": [{"type": "todo/write"}],
    "turn-interrupted": [turn(), user()],
    "type-ignorable": [{"type": "zzz/x", "ignorable": True}],
    "lone-surrogate": [turn(), user("\ud83d"), turn_end()],
    "number-not-lossless": [{"type": "todo/write", "data": {"n": -0.0}}],
}  # fmt: skip

SILENT = {
    "call-unanswered": [*HEAD, assistant("c1"), call("c1")],
    "compaction-uncited": compaction(9, 10),
    "replace-splits-pair": [*whole_turn(), user("cut", name="v", **replace(4, 6, 4, 6))],
    "chunks-uncited": [
        *HEAD, chunk("a"), {"type": "llm/retry"}, chunk("b"), {"type": "todo/write"}, chunk("c"),
        assistant(sourceEventSeqs=[5, 7]), step_end(), turn_end(),
    ],
    "lone-surrogate": [turn(), user("\U0001f600"), turn_end()],
    "number-not-lossless": [{"type": "todo/write", "data": {"n": 0, "t": "-0 and 1e400", "e": 1e300}}],
    "turn-number": [*whole_turn(), turn(2), turn_end(2)],
    "step-number": [turn(), step(), step_end(), step(2), step_end(2), turn_end(), turn(2), step(1, 2)],
    "event-outside-turn": [turn(), {"type": "todo/write"}, turn_end()],
    "tool-rewrite-outside-turn": [
        *whole_turn(), turn(2), result("c1", 6, surfaceOp=replace(6, 6)["surfaceOp"]), turn_end(2),
    ],
}  # fmt: skip


def conditions(events, exact=False):
    from conformance.checking.check import check

    (report,) = check(log(*events), deep=True, exact=exact).files
    assert report.verdict == "accepted", report.record()
    return {each.condition for each in report.findings}


@pytest.mark.parametrize("exact", [False, True], ids=["fast", "exact"])
@pytest.mark.parametrize("name", sorted(FIRES))
def test_it_fires(name, exact):
    assert name in conditions(FIRES[name], exact)


@pytest.mark.parametrize("exact", [False, True], ids=["fast", "exact"])
@pytest.mark.parametrize("name", sorted(SILENT))
def test_it_is_silent(name, exact):
    assert name not in conditions(SILENT[name], exact)


@pytest.mark.parametrize("name", sorted(FIRES))
def test_a_sound_log_has_none(name):
    assert name not in conditions(whole_turn())


def test_every_piece_of_advice_is_tried():
    elsewhere = {"invalid-utf8", "edition-name", "encoding-name", "unreadable", "too-large", "file-changed"}
    elsewhere |= {"dictionary-missing", "db-unreadable"}
    assert FIRES.keys() | elsewhere == ADVICE.keys()


def test_the_page_lists_the_catalogue():
    page = (spec_dir() / "advice.md").read_text("utf-8")
    rows = re.findall(r"^\| ((?:ADVC|FILE)-\d+) \|(?: SHOULD \|)? `([a-z0-9-]+)` \|", page, re.MULTILINE)
    assert [(name, number) for number, name in rows] == list(ADVICE.items())


def test_closers_answer_what_a_crash_left():
    found = conditions([*HEAD, assistant("c1"), call("c1")])
    assert "turn-interrupted" in found
    assert "call-unanswered" not in found


def test_a_prefix_before_a_refused_gap_is_not_taken_for_the_end():
    (report,) = conformance.check(log(turn(), at(5, user()), at(6, turn_end()))).files
    assert [each.condition for each in report.findings] == ["jsonl-gap"]
