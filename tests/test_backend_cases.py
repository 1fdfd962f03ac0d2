"""What an author writes in a case about a backend, and what is refused."""

from __future__ import annotations

import pytest
import yaml

from conformance.corpus import load_corpus
from conformance.errors import VectorError
from conformance.ledger import load_ledger
from conformance.matrix import build_matrix
from conformance.shorthand import ShorthandError
from conformance.shorthand_backend import expand_batches, expand_logs

CREATE = {"create": {"version": 0, "id": "s", "createdAt": 1}}


def batch(*events, session_id="s", **members):
    return {"append": {"id": session_id, "events": list(events), **members}}


def seqs(step):
    return [event["seq"] for event in step["append"]["events"]]


def test_a_batch_goes_on_where_the_last_one_to_its_session_ended():
    steps = [batch({"user": "a"}, {"user": "b"}), batch({"user": "c"}, session_id="t"), batch({"user": "d"})]
    assert [seqs(step) for step in expand_batches(steps)] == [[0, 1], [0], [2]]


def test_a_create_begins_anew_and_first_says_otherwise():
    steps = [batch({"user": "a"}), CREATE, batch({"user": "b"}), batch({"user": "c"}, first=7)]
    expanded = expand_batches(steps)
    assert [seqs(step) for step in (expanded[0], expanded[2], expanded[3])] == [[0], [0], [7]]
    assert expanded[3]["append"].keys() == {"id", "events"}


def test_a_live_log_begins_at_0_and_events_with_a_type_stay():
    event = {"type": "x", "seq": 9}
    (step,) = expand_batches([{"live": {"header": {}, "events": [{"user": "a"}, event]}}])
    assert [each["seq"] for each in step["live"]["events"]] == [0, 9]
    assert step["live"]["events"][1] == event


def test_an_expected_log_is_expanded_where_it_stands():
    shared = {"header": {}, "events": [{"turn/start": 1}]}
    several = {"any_of": [{"result": {"events": [{"user": "a"}]}}]}
    later = {"result": {"events": [{"user": "b"}], "first": 4}}
    expect = {"steps": [{"result": shared}, {"result": shared}, several, later, {"rejected": {}}]}
    expand_logs(expect)
    found = [step.get("result", {}).get("events") for step in expect["steps"]]
    assert found[0] == found[1] == [{"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}}]
    assert expect["steps"][2]["any_of"][0]["result"]["events"][0]["seq"] == 0
    assert found[3][0]["seq"] == 4
    assert "first" not in expect["steps"][3]["result"]


def test_first_is_a_number():
    with pytest.raises(ShorthandError, match="first must be an integer"):
        expand_batches([batch({"user": "a"}, first="2")])


def load(tmp_path, steps, answers, rules=("BACK-6",)):
    case = {
        "id": "sample.case", "rules": list(rules), "why": "It is a sample.",
        "request": steps if isinstance(steps, dict) else {"steps": steps}, "expect": {"steps": answers},
    }  # fmt: skip
    document = {
        "format": 1, "topic": "sample", "edition": "v0", "op": "backend",
        "evidence": {"facts": "made up for a test"}, "cases": [case],
    }  # fmt: skip
    (tmp_path / "sample.yaml").write_text(yaml.safe_dump(document))
    return load_corpus([tmp_path / "sample.yaml"])


DONE = {"result": {}}
LISTED = {"result": {"headers": []}}
NOT_BEFORE = "step 0 names a step that is not before it"


@pytest.mark.parametrize(
    ("steps", "answers", "told"),
    [
        ([{"revision": "s"}], [{"result": {"revision": {"$same": 0}}}], NOT_BEFORE),
        ([{"revision": "s"}], [{"result": {"revision": {"$other": [1]}}}], NOT_BEFORE),
        ([{"revision": "s"}], [{"result": {"revision": {"$any": "time"}}}], "expect"),
        ([{"list": True}], [DONE, DONE], "1 steps are asked and 2 answers expected"),
        ([{"list": False}], [LISTED], "request"),
        ([{"load": "s", "create": {}}], [DONE], "request"),
        ([{"damage": [{"file": "x", "cut": 1, "append": "00"}]}], [DONE], "request"),
        ([{"damage": [{"file": "x", "append": "0"}]}], [DONE], "request"),
        ({"steps_text": '[{"reopen":true}]'}, [DONE], "holds a step of the suite's own"),
        ({"steps": [{"list": True}], "root": "/elsewhere"}, [LISTED], "request"),
    ],
)  # fmt: skip
def test_a_wrong_case_is_refused(tmp_path, steps, answers, told):
    with pytest.raises(VectorError, match=told):
        load(tmp_path, steps, answers)


def test_a_step_of_the_suites_own_shows_no_acceptance(tmp_path):
    refused = {"rejected": {"condition": "session-not-found"}}
    cases = load(tmp_path, [{"load": "s"}, {"reopen": True}, {"untouched": True}],
                 [refused, DONE, {"result": {"untouched": True}}])  # fmt: skip
    (row,) = [row for row in build_matrix(load_ledger(), cases) if row.rule.id == "BACK-6"]
    assert (row.refusing, row.accepting) == (["sample.case"], [])
    cases = load(tmp_path, [{"list": True}, {"load": "s"}], [LISTED, refused])
    (row,) = [row for row in build_matrix(load_ledger(), cases) if row.rule.id == "BACK-6"]
    assert (row.refusing, row.accepting) == (["sample.case"], ["sample.case"])
