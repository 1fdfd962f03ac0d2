"""Shorthand for events: each form and each modifier."""

from __future__ import annotations

import pytest

from conformance.shorthand import (
    ShorthandError,
    expand_event,
    expand_events,
    expand_request,
)
from conformance.shorthand_expect import expand_expect


def test_seq_and_time_follow_the_place():
    events = expand_events([{"user": "a"}, {"chunk": "b"}], base=300)
    assert [(event["seq"], event["time"]) for event in events] == [(300, 3000), (301, 3010)]


@pytest.mark.parametrize(
    ("written", "kind", "marked"),
    [
        ({"user": "a"}, "user/message", True),
        ({"assistant": "a"}, "assistant/message", True),
        ({"result": "c1"}, "tool/result", True),
        ({"call": "c1"}, "tool/call", False),
        ({"chunk": "x"}, "assistant/chunk", False),
        ({"reasoning": "x"}, "assistant/chunk", False),
        ({"arguments": "x"}, "assistant/chunk", False),
        ({"turn/start": 1}, "turn/start", False),
        ({"step/end": 2}, "step/end", False),
        ({"event": "todo/write"}, "todo/write", False),
    ],
)
def test_kinds(written, kind, marked):
    event = expand_event(written, 0)
    assert event["type"] == kind
    assert ("surfaceOp" in event) is marked


def test_an_event_with_a_type_is_sent_as_written():
    written = {"type": "user/message"}
    assert expand_event(written, 5) == {"type": "user/message"}
    assert expand_event("text", 5) == "text"


def test_modifiers():
    event = expand_event(
        {
            "result": "c1",
            "text": "out",
            "block": {"isError": True},
            "replace": [3, 4],
            "sources": [3, 4],
            "seq": 9,
            "ignorable": True,
            "data": {"meta": {"a": 1}},
            "message": {"extra": 1},
            "without": ["time"],
        },
        0,
    )
    assert event["surfaceOp"] == {"op": "replace", "start": 3, "end": 4}
    assert event["sourceEventSeqs"] == [3, 4]
    assert event["seq"] == 9
    assert "time" not in event
    assert event["data"]["meta"] == {"a": 1}
    assert event["data"]["message"]["extra"] == 1
    assert event["data"]["message"]["content"][0] == {
        "type": "tool-result",
        "toolCallId": "c1",
        "content": [{"type": "text", "text": "out"}],
        "isError": True,
    }


def test_null_is_written_as_null():
    assert expand_event({"user": "a", "surfaceOp": None}, 0)["surfaceOp"] is None
    assert "surfaceOp" not in expand_event({"user": "a", "without": ["surfaceOp"]}, 0)


@pytest.mark.parametrize(
    "written",
    [{}, {"user": "a", "assistant": "b"}, {"user": "a", "text": "b"}, {"chunk": "a", "message": {}},
     {"user": "a", "replace": [1]}, {"user": "a", "without": ["nothing"]}],
)  # fmt: skip
def test_refused(written):
    with pytest.raises(ShorthandError):
        expand_event(written, 0)


def test_deltas():
    event = expand_event({"arguments": "{", "delta": {"name": "read", "id": "c2"}, "data": {"turn": 3}}, 4)
    delta = {"type": "tool-call-delta", "index": 0, "id": "c2", "argumentsDelta": "{", "name": "read"}
    assert event["data"] == {"turn": 3, "step": 1, "chunk": delta}
    reasoning = expand_event({"reasoning": "x"}, 0)["data"]["chunk"]
    assert reasoning == {"type": "reasoning-delta", "index": 0, "text": "x"}


def test_a_run_of_chunks_moves_what_stands_behind_it():
    events = expand_events([{"user": "a"}, {"chunks": 3}, {"turn/end": 1}], base=5)
    assert [event["seq"] for event in events] == [5, 6, 7, 8, 9]
    assert events[1:4] == [expand_event({"chunk": "a"}, seq) for seq in (6, 7, 8)]
    assert expand_events([{"chunks": 3, "type": "x"}]) == [{"chunks": 3, "type": "x"}]


@pytest.mark.parametrize(
    "run", [{"chunks": 0}, {"chunks": True}, {"chunks": "3"}, {"chunks": 3, "time": 0}, {"chunks": 10**6}]
)
def test_no_run_of_chunks(run):
    with pytest.raises(ShorthandError, match="chunks takes a number from 1 to 100000"):
        expand_events([run])


def test_a_row_of_chunks():
    record = expand_request({"record": {"chunks": 3}})["record"]
    data = {"turn": 1, "step": 1, "index": 0, "dt": [10, 10], "texts": ["a", "a", "a"]}
    assert record == {"type": "text-chunks", "seq0": 0, "time0": 0, "data": data}
    other = {"record": {"chunks": 3, "type": "x"}}
    assert expand_request(other) == other


def test_records_and_events_that_are_expected():
    request = {"events": expand_events([{"user": "a"}, {"chunk": "b"}])}
    expected = {"result": {"records": [{"verbatim": 1}, {"verbatim": 0, "more": 1}, {"verbatim": 0}]}}
    told = expand_expect("chunks.pack", request, expected)["result"]["records"]
    assert told == [request["events"][1], {"verbatim": 0, "more": 1}, request["events"][0]]
    either = expand_expect("chunks.pack", request, {"either": [expected, {"crashed": True}], "reason": "r"})
    assert either == {"either": [{"result": {"records": told}}, {"crashed": True}], "reason": "r"}
    row = {"record": {"type": "text-chunks", "seq0": 7}}
    shown = {"result": {"events": [{"chunk": "a"}, {"reasoning": "b", "time": 0}, {"a": 1}]}}
    events = expand_expect("chunks.unpack", row, shown)["result"]["events"]
    assert [event.get("seq") for event in events] == [7, 8, None]
    assert [event.get("time") for event in events] == [70, 0, None]
    assert expand_expect("chunks.unpack", {"record": {"seq0": True}}, shown) == shown


@pytest.mark.parametrize("index", [2, -1, True, "0", None])
def test_no_such_event_to_be_left_as_it_is(index):
    expected = {"result": {"records": [{"verbatim": index}]}}
    for request in ({"events": [{}, {}]}, {"events_text": "[]"}):
        with pytest.raises(ShorthandError, match="verbatim takes the index of an event"):
            expand_expect("chunks.pack", request, expected)


def test_expected_events_are_expanded_wherever_a_result_stands():
    long = {"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}}
    written = {"result": {"events": [{"turn/start": 1}], "firstLiveSeq": 1}}
    assert expand_expect("admit", {}, written) == {"result": {"events": [long], "firstLiveSeq": 1}}
    refused = {"rejected": {"condition": "c"}}
    for kind in ("either", "any_of"):
        expanded = expand_expect("admit", {}, {kind: [refused, written], "reason": "they differ"})
        assert expanded == {
            kind: [refused, {"result": {"events": [long], "firstLiveSeq": 1}}],
            "reason": "they differ",
        }
    assert written["result"]["events"] == [{"turn/start": 1}], "what was written stays as it is"


def test_an_expected_time_may_be_any():
    marker = expand_event({"event": "session/end-seed", "time": {"$any": "time"}}, 3)
    assert marker == {"type": "session/end-seed", "seq": 3, "time": {"$any": "time"}, "data": {}}


def test_what_expects_no_events_stays():
    for written in ({"result": {"events_text": "[]"}}, {"steps": [{"result": {"events": [{"a": 1}]}}]}):
        assert expand_expect("admit", {}, written) == written
