"""Shorthand for closers: each form, and what is refused."""

from __future__ import annotations

import pytest

from conformance.shorthand import ShorthandError, expand_event
from conformance.shorthand_closers import expand_closer
from conformance.shorthand_expect import expand_expect


def test_a_message_that_asks_for_calls():
    event = expand_event({"calls": ["a", "b"], "data": {"step": 4}}, 7)
    assert event["type"] == "assistant/message"
    assert event["data"]["step"] == 4
    assert event["data"]["message"]["content"] == [
        {"type": "tool-call", "id": call, "name": "read", "arguments": "{}"} for call in ("a", "b")
    ]
    with pytest.raises(ShorthandError, match="calls takes a list"):
        expand_event({"calls": "a"}, 0)


def test_a_result():
    event = expand_closer({"not-started": "a", "seq": 7, "time": 3, "turn": 2, "step": 5})
    assert (event["type"], event["seq"], event["time"], event["surfaceOp"]) == ("tool/result", 7, 3, "append")
    assert "sourceEventSeqs" not in event
    assert (event["data"]["turn"], event["data"]["step"]) == (2, 5)
    assert event["data"]["message"]["id"] == "interrupted-tool-result-a-7"
    assert event["data"]["error"]["code"] == "TOOL_NOT_STARTED"
    unknown = expand_closer({"unknown": "a", "sources": [4], "seq": 7, "time": 3})
    assert unknown["sourceEventSeqs"] == [4]
    assert unknown["data"]["error"]["code"] == "TOOL_OUTCOME_UNKNOWN"
    assert unknown["data"]["message"]["content"] != event["data"]["message"]["content"]


def test_boundaries():
    assert expand_closer({"step/end": 2, "turn": 3, "seq": 1, "time": 0}) == {
        "type": "step/end", "seq": 1, "time": 0, "data": {"turn": 3, "step": 2},
    }  # fmt: skip
    assert expand_closer({"interrupted": 3, "seq": 1, "time": 0}) == {
        "type": "turn/end", "seq": 1, "time": 0, "data": {"turn": 3, "reason": {"kind": "interrupted"}},
    }  # fmt: skip


@pytest.mark.parametrize("element", [{"type": "turn/end"}, {"type": 1, "interrupted": 2}, "text", None])
def test_what_is_no_shorthand_stays(element):
    assert expand_closer(element) == element


@pytest.mark.parametrize(
    ("element", "told"),
    [
        ({}, "exactly one of the shorthands"),
        ({"interrupted": 1, "step/end": 1, "seq": 1, "time": 0}, "exactly one of the shorthands"),
        ({"interrupted": 1, "time": 0}, "interrupted needs seq"),
        ({"interrupted": 1, "seq": 0}, "interrupted needs time"),
        ({"unknown": "a", "seq": 1, "time": 0}, "unknown needs sources"),
        ({"not-started": "a", "sources": [1], "seq": 1, "time": 0}, "not-started knows no sources"),
        ({"step/end": 1, "step": 1, "seq": 1, "time": 0}, "step/end knows no step"),
    ],
)
def test_faults(element, told):
    with pytest.raises(ShorthandError, match=told):
        expand_closer(element)


def test_closers_are_expanded_wherever_a_result_stands():
    short = {"result": {"closers": [{"interrupted": 1, "seq": 1, "time": 0}]}}
    full = {"result": {"closers": [expand_closer({"interrupted": 1, "seq": 1, "time": 0})]}}
    assert expand_expect("closers", {}, short) == full
    assert expand_expect("closers", {}, {"either": [short, {"crashed": True}], "reason": "r"}) == {
        "either": [full, {"crashed": True}], "reason": "r",
    }  # fmt: skip
    other = {"result": {"nodes": [], "closers_text": "[]"}}
    assert expand_expect("closers", {}, other) == other
