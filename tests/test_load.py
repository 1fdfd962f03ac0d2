"""Loading and old shapes: the laws of the two pages, and what no case can say."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.adapters.reference import answer
from conformance.corpus import load_corpus
from conformance.json_text import parse_exact
from conformance.shorthand import expand_events
from reference_impl.jsonl import scan
from reference_impl.legacy import normalise
from reference_impl.load import KNOWN_TYPES, load_scanned, read_events
from reference_impl.rejection import Rejection

ROOT = Path(__file__).resolve().parent.parent
HEADER = {"type": "session", "version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}


def stored_logs():
    """The events of every case of ``normalise`` that is accepted."""
    found = []
    for case in load_corpus():
        if case.op == "normalise" and case.expect.alternatives[0].kind == "result" and not case.optional:
            text = case.request.get("events_text")
            found.append(
                pytest.param(case.request["events"] if text is None else parse_exact(text), id=case.id)
            )
    assert len(found) > 40
    return found


@pytest.mark.parametrize("events", stored_logs())
def test_normalising_twice_is_normalising_once(events):
    once = normalise(events, "s", 0)
    assert normalise(once, "s", 0) == once


@pytest.mark.parametrize("events", stored_logs())
def test_normalising_changes_nothing_that_it_was_given(events):
    before = copy.deepcopy(events)
    normalise(events, "s", 0)
    assert events == before


def file_of(events, header=HEADER):
    return "".join(f"{json.dumps(line)}\n" for line in (header, *events)).encode()


ELEMENTS = st.sampled_from(
    [
        {"turn/start": 1}, {"turn/end": 1}, {"step/start": 1}, {"step/end": 1}, {"user": "hi"}, {"call": "c"},
        {"assistant": [{"type": "tool-call", "id": "c", "name": "read", "arguments": "{}"}]}, {"result": "c"},
        {"event": "zzz/x", "ignorable": True}, {"event": "session/end-seed"}, {"chunk": "a"},
        {"event": "steering/message", "data": {"turn": 1, "content": [], "source": {"kind": "user"}},
         "surfaceOp": "append"},
        {"event": "turn/end", "data": {"turn": 1, "reason": {"kind": "disposed"}}},
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(ELEMENTS, max_size=15))
def test_a_log_that_was_closed_loads_whole(elements):
    first = load_scanned(scan(file_of(expand_events(elements))), "s")
    assert len(first.events) == len(elements)
    again = load_scanned(scan(file_of([*first.events, *first.closers])), "s")
    assert (again.events, again.closers) == ([*first.events, *first.closers], [])
    assert again.torn_from is None


@settings(max_examples=300, deadline=None)
@given(st.lists(ELEMENTS, max_size=8), st.data())
def test_wherever_a_file_is_cut_its_whole_lines_load(elements, data):
    content = file_of(expand_events(elements))
    first = content.index(b"\n") + 1
    cut = data.draw(st.integers(first, len(content)))
    loaded = load_scanned(scan(content[:cut]), "s")
    whole = content.rindex(b"\n", 0, cut) + 1
    assert len(loaded.events) == content[:whole].count(b"\n") - 1
    assert loaded.torn_from == (None if whole == cut else whole)


@settings(max_examples=200, deadline=None)
@given(st.text(min_size=1, max_size=12))
def test_every_text_but_the_types_of_the_edition_is_unknown(kind):
    event = {"type": kind, "seq": 0, "time": 0, "data": {}}
    assert read_events([{**event, "ignorable": True}], "s") == [{**event, "ignorable": True}]
    if kind not in KNOWN_TYPES:
        with pytest.raises(Rejection, match="unknown to this harness"):
            read_events([event], "s")


def test_infinite_numbers_inside_data_load():
    """The value itself; that it is answered as text is asked by load.endings.infinite-number."""
    line = b'{"type":"todo/write","seq":0,"time":0,"data":{"a":1e400,"b":[-1e400]}}\n'
    loaded = load_scanned(scan(file_of([]) + line), "s")
    assert loaded.events[0]["data"] == {"a": float("inf"), "b": [float("-inf")]}


def test_the_page_lists_the_types_of_the_reference():
    page = (ROOT / "spec" / "load.md").read_text("utf-8")
    (listed,) = [part for part in page.split("\n\n") if part.startswith("`agent-preset/selected`")]
    types = re.findall(r"`([^`]+)`", listed)
    assert len(types) == len(set(types)) == 48
    assert set(types) == KNOWN_TYPES


def test_a_file_may_be_given_by_its_path(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(file_of([{"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1}}]))
    request = {"op": "jsonl.load", "edition": "v0", "sessionId": "s", "compression": "none"}
    assert len(answer({**request, "path": str(path)})["result"]["closers"]) == 1
    assert "No such file" in answer({**request, "path": str(tmp_path / "none")})["error"]
