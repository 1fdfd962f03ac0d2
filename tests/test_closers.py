"""Closers of the reference: held against an oracle without state, and against the laws of the page."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import closers_oracle as oracle

from conformance.corpus import load_corpus
from conformance.shorthand import expand_events
from reference_impl import closers as module
from reference_impl.closers import closers
from reference_impl.fold import fold

NUMBERS = st.integers(1, 3)
STEPS = st.integers(0, 3)
IDS = st.sampled_from(["A", "B", "C", "", "5", 5, None])
ANSWERED = st.sampled_from(["A", "B", "C"])  # a result of an empty call id would not be admitted
ELEMENTS = st.one_of(
    st.builds(lambda turn: {"turn/start": turn}, NUMBERS),
    st.builds(lambda turn: {"turn/end": turn}, NUMBERS),
    st.builds(lambda step: {"step/start": step}, STEPS),
    st.builds(lambda step: {"step/end": step}, STEPS),
    st.builds(lambda calls, step: {"calls": calls, "data": {"step": step}}, st.lists(IDS, max_size=3), STEPS),
    st.builds(lambda call: {"call": call}, IDS),
    st.builds(lambda call: {"result": call}, ANSWERED),
    st.sampled_from([{"user": "a"}, {"assistant": "a"}, {"chunk": "a"}, {"event": "session/title"}]),
    st.sampled_from(
        [
            {"event": "step/start", "data": {"turn": 1}},
            {"step/start": None},
            {"calls": ["A"], "data": {"step": None}},
            {"assistant": [{"type": "tool-call"}, 7, "tool-call", {"type": "tool-call", "id": "A"}]},
            {
                "event": "assistant/message",
                "data": {"message": {"content": [{"type": "tool-call", "id": "B"}]}},
                "surfaceOp": "append",
            },
            {"call": "A", "data": {"callId": None}},
            {"event": "tool/call"},
        ]
    ),
)
CALLS = st.one_of(
    st.builds(lambda calls: {"calls": calls}, st.lists(IDS, min_size=1, max_size=3)),
    st.builds(lambda call: {"call": call}, IDS),
    st.builds(lambda call: {"result": call}, ANSWERED),
)
LOGS = st.lists(ELEMENTS, max_size=25) | st.lists(CALLS, max_size=12).map(
    lambda tail: [{"turn/start": 1}, *tail]
)
TIMES = st.lists(st.integers(-50, 50), min_size=25, max_size=25)


@st.composite
def logs(draw):
    """A log that folds, of anything in any order, whose times go to and fro."""
    events = expand_events(draw(LOGS))
    return [{**event, "time": time} for event, time in zip(events, draw(TIMES), strict=False)]


def in_short(found):
    """Closers as the oracle tells them."""
    told = []
    for event in found:
        data = event["data"]
        if event["type"] == "tool/result":
            start = event.get("sourceEventSeqs", [None])
            call = data["message"]["source"].get("callId", "missing")
            told.append(("result", call, data.get("step", "missing"), *start))
        elif event["type"] == "step/end":
            told.append(("step", data.get("step", "missing")))
        else:
            told.append(("turn", data["turn"]))
    return told


@settings(max_examples=600, deadline=None)
@given(logs())
def test_the_oracle_says_the_same(events):
    assert in_short(closers(events)) == oracle.ending(events)


@settings(max_examples=400, deadline=None)
@given(logs())
def test_closing_twice_is_closing_once(events):
    assert closers([*events, *closers(events)]) == []


@settings(max_examples=400, deadline=None)
@given(logs(), st.data())
def test_closers_that_were_torn_apart_are_completed(events, data):
    found = closers(events)
    kept = data.draw(st.integers(0, len(found)))
    assert closers([*events, *found[:kept]]) == found[kept:]


@settings(max_examples=400, deadline=None)
@given(logs())
def test_a_log_folds_with_its_closers(events):
    before = copy.deepcopy(events)
    found = closers(events)
    assert events == before
    assert [event["seq"] for event in found] == list(range(len(events), len(events) + len(found)))
    assert {event["time"] for event in found} <= {event["time"] for event in events[-1:]}
    surface, _ = fold(events)
    closed, _ = fold([*events, *found])
    results = [event["seq"] for event in found if event["type"] == "tool/result"]
    assert closed.nodes == [*surface.nodes, *results]
    assert closed.replace_generation == surface.replace_generation


@settings(max_examples=200, deadline=None)
@given(logs(), st.integers(1, 1000))
def test_a_window_is_closed_as_a_log(events, base):
    moved = [{**event, "seq": event["seq"] + base} for event in events]
    assert [event["seq"] - base for event in closers(moved)] == [event["seq"] for event in closers(events)]
    assert in_short(closers(moved)) == oracle.ending(moved)


@pytest.mark.parametrize("text", ["STARTED_TEXT", "NOT_STARTED_TEXT"])
def test_the_texts_stand_on_the_page(text):
    from conformance.resources import spec_dir

    page = " ".join((spec_dir() / "closers.md").read_text("utf-8").replace("\n> ", " ").split())
    assert getattr(module, text) in page


def test_the_oracle_answers_every_ordinary_case():
    cases = [case for case in load_corpus() if case.op == "closers" and not case.optional]
    asked = 0
    for case in cases:
        (first, *others) = case.expect.alternatives
        if not others and "events" in case.request:
            assert in_short(first.value["closers"]) == oracle.ending(case.request["events"]), case.id
            asked += 1
    assert asked > 70


@pytest.mark.parametrize(
    "fault",
    [
        lambda tail, event, at: None,
        lambda tail, event, at: setattr(tail, "calls", {}) if event["type"] == "tool/result" else None,
    ],
)
def test_a_faulty_reading_is_found(monkeypatch, fault):
    events = expand_events([{"turn/start": 1}, {"calls": ["A", "B"]}, {"result": "A"}])
    assert in_short(closers(events)) == oracle.ending(events)
    take = module.take

    def faulty(tail, event, at):
        take(tail, event, at) if event["type"] != "tool/result" else None
        fault(tail, event, at)

    monkeypatch.setattr(module, "take", faulty)
    assert in_short(closers(events)) != oracle.ending(events)


def test_a_long_log_is_read_once():
    events = expand_events([{"turn/start": 1}, *({"calls": [f"c{n}"]} for n in range(20_000))])
    assert len(closers(events)) == 20_001
