"""The request header of the reference: laws that hold for any headers, and faults that they find."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl import request_header as module
from reference_impl.request_header import canonical, request_header, same_header

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([0.5, -0.0, "", "a", "b"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)
CONFIGS = st.dictionaries(
    st.sampled_from([*module.CONFIG, "topK"]), SCALARS | st.lists(st.sampled_from("ab"))
)
DEFAULTS = SCALARS | st.dictionaries(st.sampled_from([*module.MARKERS, "note"]), SCALARS)
TOOLS = st.lists(st.dictionaries(st.sampled_from(["name", "description", "parameters"]), VALUES), max_size=3)
HEADERS = st.fixed_dictionaries(
    {"config": CONFIGS},
    optional={
        "adapterDefaults": DEFAULTS,
        "system": st.sampled_from(["", " ", "a"]),
        "tools": TOOLS,
        "note": SCALARS,
    },
)


def log(*headers):
    """A log of these headers, with events of other types between them."""
    events = []
    for header in headers:
        events.append({"type": "request/header", "data": {"header": header}})
        events.append({"type": "request/context", "data": {"header": {"config": {"provider": "other"}}}})
    return events


@settings(max_examples=200, deadline=None)
@given(HEADERS)
def test_the_canonical_form_is_its_own(header):
    before = copy.deepcopy(header)
    found = canonical(header)
    assert canonical(found) == found
    assert same_header(found, found)
    assert header == before
    assert list(found) == [name for name in ("config", "adapterDefaults", "system", "tools") if name in found]


@settings(max_examples=200, deadline=None)
@given(st.lists(HEADERS, max_size=4))
def test_the_newest_counts(headers):
    assert request_header(log(*headers)) == (canonical(headers[-1]) if headers else None)


def as_text(header):
    """What two headers are compared by, as one JSON text; numbers in one spelling."""
    plain = json.loads(json.dumps(header), parse_int=float)
    config = {name: plain["config"][name] for name in module.CONFIG if name in plain["config"]}
    defaults = plain.get("adapterDefaults", {})
    markers = {name: defaults[name] for name in module.MARKERS if name in defaults}
    text = json.dumps([config, markers, plain.get("system"), plain.get("tools", [])])
    return text.replace("-0.0", "0.0")


@st.composite
def pairs(draw):
    """Two canonical headers, mostly close to each other."""
    left = canonical(draw(HEADERS))
    right = copy.deepcopy(left)
    if draw(st.booleans()):
        right = canonical({**right, **draw(HEADERS)})
    if draw(st.booleans()):
        right["tools"] = [dict(reversed(tool.items())) for tool in right.get("tools", [])]
    return left, right


@settings(max_examples=600, deadline=None)
@given(pairs())
def test_equality_is_that_of_the_texts(pair):
    left, right = pair
    assert same_header(left, right) == (as_text(left) == as_text(right))
    assert same_header(left, right) == same_header(right, left)


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("CONFIG", module.CONFIG[1:]),
        ("MARKERS", module.MARKERS[1:]),
        ("same_text", lambda left, right: True),
        ("equal_json", lambda left, right: left == right),
    ],
)
def test_a_faulty_equality_is_found(monkeypatch, name, fault):
    def answers():
        least = {
            "config": {"provider": "p"},
            "adapterDefaults": {"reasoningEffort": True},
            "tools": [{"a": True}],
        }
        others = [
            {**least, "config": {"provider": "q"}},
            {**least, "adapterDefaults": {}},
            {**least, "tools": []},
            {**least, "tools": [{"a": 1}]},
        ]
        return [same_header(least, other) for other in others]

    assert answers() == [False] * 4
    monkeypatch.setattr(module, name, fault)
    assert answers() != [False] * 4


def test_deep_tools_are_compared():
    def deep(leaf):
        return {"config": {}, "tools": [json.loads('{"a":' * 500 + leaf + "}" * 500)]}

    assert same_header(deep("1"), deep("1.0"))
    assert not same_header(deep("1"), deep("2"))
