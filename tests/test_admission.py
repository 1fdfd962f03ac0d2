"""Laws of sessions that are made of logs; the published package is asked in tests/adapters."""

from __future__ import annotations

import copy
import json
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.shorthand import expand_events
from reference_impl.admission import Admitted, admit_borrowed, admit_restored
from reference_impl.fold import fold
from reference_impl.fork import Store, fork
from reference_impl.lossless_json import is_lossless
from reference_impl.projection import derive_messages
from reference_impl.rejection import Rejection
from reference_impl.session_header import check_header, new_header

HEADER = {"version": 0, "id": "p", "createdAt": 5, "cwd": "/work"}
PIECES = [
    {"user": "a"}, {"assistant": "b"}, {"assistant": []}, {"result": "c1"}, {"call": "c1"}, {"turn/start": 1},
    {"turn/end": 1}, {"event": "note", "ignorable": True}, {"event": "session/end-seed"},
]  # fmt: skip


@st.composite
def logs(draw: st.DrawFn) -> list[Any]:
    """Logs that are admitted; a message may take the place of an earlier one."""
    written: list[dict[str, Any]] = []
    nodes: list[int] = []
    for seq, piece in enumerate(draw(st.lists(st.sampled_from(PIECES), max_size=12))):
        new: dict[str, Any] = dict(piece)
        if piece.keys() & {"user", "assistant"} and nodes and draw(st.booleans()):
            place = draw(st.integers(0, len(nodes) - 1))
            new |= {"replace": [nodes[place], nodes[place]], "sources": [nodes[place]]}
            nodes[place] = seq
        elif piece.keys() & {"user", "assistant", "result"}:
            nodes.append(seq)
        written.append(new)
    return copy.deepcopy(expand_events(written))


@given(logs())
def test_admission_changes_nothing_that_it_was_given(log):
    before = copy.deepcopy(log)
    admitted = admit_restored(HEADER, log)
    assert log == before
    assert admitted.events[: len(log)] == before
    assert admitted.first_live_seq == len(before)
    assert admitted.header == HEADER
    assert admitted.events is not log, "the session's log grows, the caller's does not"


@given(logs())
def test_what_was_admitted_is_admitted_again_as_it_is(log):
    first = admit_restored(HEADER, log)
    again = admit_restored(first.header, first.events)
    assert again == Admitted(first.events, len(first.events), first.header)
    assert first.events[-1]["type"] == "session/end-seed"
    assert len(first.events) - len(log) in (0, 1)


@given(logs())
def test_a_seeded_session_derives_the_messages_of_its_seed(log):
    assert derive_messages(admit_borrowed("p", HEADER, log).events) == derive_messages(log)
    assert fold(admit_restored(HEADER, log).events) == fold(log)


JUNK = st.sampled_from([None, True, 0, 1, -1, 0.5, "", "x", [], {}, -0.0, 2**53, float("inf")])


@st.composite
def damaged(draw: st.DrawFn) -> list[Any]:
    """Logs with up to two members set to something else, or taken away."""
    log = draw(logs())
    for _ in range(draw(st.integers(0, 2)) if log else 0):
        event = draw(st.sampled_from(log))
        name = draw(st.sampled_from([*event, "extra", "ignorable", "surfaceOp"]))
        if name in event and draw(st.booleans()):
            del event[name]
        else:
            event[name] = draw(JUNK)
        if not event:
            break
    return log


@settings(max_examples=300)
@given(damaged())
def test_what_may_be_borrowed_may_be_restored(log):
    """And what may be restored lacks nothing but being lossless."""
    try:
        restored: Any = admit_restored(HEADER, log)
    except Rejection as refusal:
        restored = refusal
    try:
        borrowed: Any = admit_borrowed("p", HEADER, log)
    except Rejection as refusal:
        borrowed = refusal
    if isinstance(borrowed, Admitted):
        assert isinstance(restored, Admitted)
        assert borrowed.events[: len(log)] == restored.events[: len(log)]
    elif borrowed.condition == "event-not-lossless":
        assert not is_lossless(log[borrowed.at])
    else:
        assert (borrowed.condition, borrowed.at) == (restored.condition, restored.at)


@given(logs(), st.booleans())
def test_a_child_is_the_beginning_of_its_parent(log, named):
    for boundary in range(len(log)):
        kinds = [event["type"] for event in log[: boundary + 1] if event["type"].startswith("turn/")]
        store = Store(HEADER, log, ["session-1"])
        child_id = "kid" if named else None
        if kinds and kinds[-1] == "turn/start":
            with pytest.raises(Rejection) as caught:
                fork(store, "p", boundary, child_id)
            assert (caught.value.condition, caught.value.at) == ("fork-open-turn", None)
            continue
        child = fork(store, "p", boundary, child_id)
        assert child.events[: boundary + 1] == log[: boundary + 1]
        assert child.first_live_seq == child.header["seedLength"] == boundary + 1
        assert child.header["id"] == ("kid" if named else "session-2")
        assert derive_messages(child.events) == derive_messages(log[: boundary + 1])


def test_omitted_is_the_last_boundary():
    log = expand_events([{"user": "a"}, {"user": "b"}])
    store = Store(HEADER, log, [])
    omitted, last = fork(store, "p"), fork(store, "p", 1)
    assert omitted.events[:2] == last.events[:2] == log
    assert omitted.first_live_seq == last.first_live_seq == 2


SCALARS = (
    st.none() | st.booleans() | st.text(max_size=3) | st.integers() | st.floats(allow_nan=False)
    | st.sampled_from([0, 0.0, -0.0, 10**400, -(10**400), 5e-324, 2**53])
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
)


def is_lossless_by_bits(value: Any) -> bool:
    """An oracle of another make: by recursion, and by the bits of a double."""
    if isinstance(value, dict):
        return all(is_lossless_by_bits(member) for member in value.values())
    if isinstance(value, list):
        return all(is_lossless_by_bits(element) for element in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return True
    try:
        bits = struct.unpack(">Q", struct.pack(">d", float(value)))[0]
    except OverflowError:
        return False
    return bits != 1 << 63 and bits >> 52 & 0x7FF != 0x7FF


@settings(max_examples=300)
@given(VALUES)
def test_lossless_by_another_oracle(value):
    assert is_lossless(value) == is_lossless_by_bits(value)


def test_depth_is_no_limit():
    deep: Any = -0.0
    for _ in range(100_000):
        deep = [{"a": deep}]
    assert not is_lossless(deep)
    assert is_lossless(json.loads("[" * 500 + "]" * 500))


def test_no_particular_id_may_be_asked_for():
    assert check_header({**HEADER, "id": "any"}, None)["id"] == "any"
    assert admit_restored({**HEADER, "id": "any"}, []).header["id"] == "any"
    with pytest.raises(Rejection):
        check_header(HEADER, "q")


def test_a_new_header_is_admitted():
    header = new_header("s")
    assert check_header(header, "s") is header
    assert list(header) == ["version", "id", "createdAt"]
