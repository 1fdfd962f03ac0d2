"""Shorthand for events: each form and each modifier."""

from __future__ import annotations

import pytest

from conformance.shorthand import ShorthandError, expand_event, expand_events, expand_expect


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


def test_expected_events_are_expanded_wherever_a_result_stands():
    long = {"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}}
    written = {"result": {"events": [{"turn/start": 1}], "firstLiveSeq": 1}}
    assert expand_expect(written) == {"result": {"events": [long], "firstLiveSeq": 1}}
    refused = {"rejected": {"condition": "c"}}
    for kind in ("either", "any_of"):
        expanded = expand_expect({kind: [refused, written], "reason": "they differ"})
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
        assert expand_expect(written) == written
