"""Every store of the reference answers as the model does, whatever it keeps."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.adapters.reference_backend import answers_of
from conformance.adapters.reference_stores import STORES, open_store
from reference_impl.backend import BackendModel

HEADER = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
START = {"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1}}
END = {"type": "turn/end", "seq": 1, "time": 6, "data": {"turn": 1, "reason": {"kind": "completed"}}}
TITLE = {"type": "session/title", "seq": 0, "time": 0, "data": {"title": "t"}}
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.sampled_from("st"), st.integers(0, 4), st.integers(-1, 1)),
        st.tuples(st.just("readFrom"), st.sampled_from("st"), st.integers(0, 4), st.just(0)),
        st.tuples(st.sampled_from(["load", "inspect", "create", "reopen"]), st.sampled_from("st")),
    ),
    max_size=12,
)


@pytest.mark.parametrize("name", STORES)
@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_it_answers_as_the_model_does(name, tmp_path_factory, steps):
    mine, model = tmp_path_factory.mktemp("store"), tmp_path_factory.mktemp("model")
    store, simple = open_store(name, mine), BackendModel(model)
    counts = {"s": 0, "t": 0}
    for kind, session_id, *rest in steps:
        if kind == "reopen":
            store.close()
            store, simple = open_store(name, mine), BackendModel(model)
            continue
        step = {kind: session_id}
        if kind == "create":
            step = {"create": {**HEADER, "id": session_id}}
        elif kind == "readFrom":
            step = {"readFrom": {"id": session_id, "from": rest[0]}}
        elif kind == "append":
            first = counts[session_id] + rest[1]
            kinds = [START, TITLE, END, TITLE][: rest[0]]
            batch = [{**event, "seq": first + place} for place, event in enumerate(kinds) if first >= 0]
            step = {"append": {"id": session_id, "events": batch}}
        (told,) = answers_of(store, [step])["steps"]
        assert told == answers_of(simple, [step])["steps"][0]
        if kind == "load" and "result" in told:
            counts[session_id] = len(told["result"]["events"])
        elif kind == "append" and "result" in told and batch:
            counts[session_id] = first + len(batch)
    store.close()
