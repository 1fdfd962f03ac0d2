"""The first diverging event of a wrong answer, found without help from the adapter."""

from __future__ import annotations

import json

import pytest
from support import HEAD

from conformance.adapters.reference import answer
from conformance.adapters.registry import AdapterSpec
from conformance.corpus import load_corpus
from conformance.diagnose import element_ends, prefixes_of
from conformance.engine import run
from conformance.ledger import load_ledger


def by_value(request):
    """A port that orders by value: wrong as soon as a replacement stands before an older node."""
    told = answer(request)
    if request["op"] == "fold" and "result" in told:
        told["result"]["nodes"].sort()
    return told


def verdict_of(tmp_path, events, result):
    text = HEAD.format(op="fold") + (
        "  - id: sample.one\n    rules: [FOLD-2]\n"
        f"    request: {events}\n    expect: {{result: {json.dumps(result)}}}\n"
    )
    file = tmp_path / "sample.yaml"
    file.write_text(text)
    spec = AdapterSpec("by-value", factory=lambda: by_value)
    records = list(run(load_corpus([file]), spec, load_ledger()))
    assert len(records) == 3
    return records[1]


LOG = [{"user": "a"}, {"turn/start": 1}, {"user": "b"}, {"user": "c", "replace": [0, 0], "sources": [0]}]
RESULT = {
    "nodes": [3, 2],
    "replacements": [{"seq": 3, "start": 0, "end": 0, "shadowedSeqs": [0]}],
    "replaceGeneration": 1,
}


def test_the_event_is_named(tmp_path):
    record = verdict_of(tmp_path, json.dumps({"events": [*LOG, {"turn/end": 1}]}), RESULT)
    assert (record["status"], record["diverges"]) == ("fail", 3)


def test_a_log_that_travels_as_text_is_cut_by_element(tmp_path):
    from conformance.shorthand import expand_events

    text = json.dumps(expand_events([*LOG, {"turn/end": 1}])).replace('"seq": 2', '"seq": 2.0')
    record = verdict_of(tmp_path, json.dumps({"events_text": text}), RESULT)
    assert record["diverges"] == 3


def test_long_logs_are_halved(tmp_path):
    noise = [{"turn/start": 1}] * 100
    record = verdict_of(tmp_path, json.dumps({"events": [*LOG, *noise]}), RESULT)
    assert record["diverges"] == 3


def test_a_wrong_vector_has_no_diverging_event(tmp_path):
    record = verdict_of(tmp_path, json.dumps({"events": [{"user": "a"}]}), {**RESULT, "nodes": [7]})
    assert record["status"] == "fail"
    assert "diverges" not in record


@pytest.mark.parametrize(
    ("text", "prefixes"),
    [
        ("[]", []),
        ('[1, "],[", {"a": [2]} ]', ["[1]", '[1, "],["]', '[1, "],[", {"a": [2]}]']),
        (" [ 1e400\n,-0 ] ", [" [ 1e400]", " [ 1e400\n,-0]"]),
        ("{}", []),
        ("[1", []),
    ],
)
def test_text_is_cut_without_changing_it(text, prefixes):
    assert [text[:end] + "]" for end in element_ends(text)] == prefixes


def test_requests_without_a_log_have_no_prefixes():
    assert prefixes_of({"event": {}})[0] == 0
