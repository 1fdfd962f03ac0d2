"""Every kind of fault that people have met is found, with its severity, its story and its verdict."""

from __future__ import annotations

import pytest
from kinds import KINDS
from logs import at, log, turn, turn_end, user, whole_turn

import conformance
from conformance import schemas
from conformance.checking.model import STORIES


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_kind_is_found(kind):
    (report,) = conformance.check(kind.data).files
    assert report.verdict == kind.verdict
    assert report.torn_from == kind.torn_from
    if kind.events is not None:
        assert report.events == kind.events
    found = {(each.condition, each.severity, each.story) for each in report.findings}
    if kind.finds is None:
        assert [each for each in report.findings if each.severity != "advice"] == []
    else:
        assert kind.finds in found
    if kind.verdict == "refused":
        assert kind.finds is not None
        assert report.refusal is not None
        assert report.refusal.condition == kind.finds[0]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_report_fits_its_schema(kind):
    report = conformance.check(kind.data)
    assert schemas.fault("check", report.record()) is None
    for each in report.files[0].findings:
        assert each.rule
        assert each.story is None or each.story in STORIES


def test_a_good_log_has_no_findings():
    (report,) = conformance.check(log(*whole_turn())).files
    assert report.findings == []
    assert (report.verdict, report.edition, report.events, report.nodes) == ("accepted", "v0", 9, 3)
    assert (report.messages, report.closers, report.torn_from) == (3, 0, None)


def kind(name):
    (found,) = [each for each in KINDS if each.name == name]
    return conformance.check(found.data).files[0]


def test_two_writers_are_both_shown():
    refusal = kind("two writers on one session").refusal
    assert refusal.line == 6
    assert (refusal.found, refusal.expected) == ("3", "4")
    assert (refusal.also.line, refusal.also.what) == (5, "the first that has seq 3")


def test_a_gap_tells_how_much_is_dropped():
    report = kind("a gap, nothing committed behind it")
    (finding,) = [each for each in report.findings if each.severity == "loss"]
    assert "drops 1 line with 1 event" in finding.hint
    assert report.dropped_lines == 1


def test_missing_nodes_are_told_by_position():
    refusal = kind("remapped log: one shadowed node uncited").refusal
    assert refusal.message.endswith("does not cite: 4")
    assert "0, 4, 2, 3" in refusal.expected


def test_the_member_that_differs_is_named():
    refusal = kind("tool rewrite hits another call's result").refusal
    assert "data.message" in refusal.message


def test_a_caret_points_at_the_member():
    refusal = kind("ranges in a v0 log").refusal
    assert refusal.excerpt[refusal.column :].startswith('"sourceEventSeqs":[[3,4]]')


def test_other_findings_follow_the_refusal():

    events = [
        turn(),
        user(sourceEventSeqs=[9]),
        at(5, user()),
        {"type": "zzz/x", "seq": 7},
        at(8, turn_end()),
    ]
    report = conformance.check(log(*events)).files[0]
    conditions = [each.condition for each in report.findings if each.severity == "error"]
    assert conditions == ["jsonl-gap", "source-not-earlier"]
