"""Differential runs: what they find, count, explain and blame, and what it shrinks to."""

from __future__ import annotations

import pytest
from fuzz_ports import altered, fuzzed, mutant, spec

from conformance.adapters import reference
from conformance.adapters.registry import resolve
from conformance.corpus import load_corpus
from conformance.errors import UsageError
from conformance.fuzzing.campaign import Campaign
from conformance.fuzzing.comparing import compare
from conformance.fuzzing.parties import Table
from conformance.fuzzing.quirks import Quirk, load_quirks
from conformance.fuzzing.readable import condense, lines_of
from conformance.fuzzing.recipes import RECIPES, usable
from conformance.fuzzing.spelling import request_of
from conformance.ledger import load_ledger
from conformance.operations import OPERATIONS
from conformance.protocol import Answer
from conformance.shorthand import expand_event

TEN = "'10'"


def block(call: str) -> str:
    return f"{{type: tool-call, id: {call}, name: read, arguments: '{{}}'}}"


def smallest(name: str, op: str) -> list[str]:
    """The first difference that a mistake makes, as people read it."""
    first, *_ = fuzzed(mutant(name), op, examples=400, untyped=True, shrinks=1).differences.values()
    return list(lines_of(request_of(first.members)))


@pytest.mark.parametrize(
    ("name", "op", "lines"),
    [
        ("fold.log-only-joins", "fold", ["events:", "  - {turn/start: 1}"]),
        (
            "fold.generation-left-out", "fold",
            [
                "events:",
                "  - {user: a}",
                "  - {user: a, replace: [0, 0], sources: [0]}",
                "  - {user: a, replace: [1, 1], sources: [1]}",
            ],
        ),
        (
            "window.nodes-relative", "window",
            ["baseSeq: 1", "events:", "  - {user: a, message: {id: m0}, time: 0}"],
        ),
        ("tutorial.user-trimmed", "tutorial", ["events:", "  - {type: user/message, content: ' 再见'}"]),
        ("seqs-codec.tie-goes-to-runs", "seqs.encode@19", ["values: [0, 1]"]),
        (  # of two kinds that it shows in, the one that takes two steps to tell
            "closers.sorted-calls", "closers",
            [
                "events:",
                "  - {turn/start: 1}",
                f"  - {{assistant: [{block('A')}], data: {{step: 2}}}}",
                f"  - {{assistant: [{block(TEN)}]}}",
            ],
        ),
    ],
)  # fmt: skip
def test_what_a_mistake_shrinks_to(name, op, lines):
    assert smallest(name, op) == lines


def test_a_long_log_shrinks_to_a_few_events():
    outcome = fuzzed(mutant("replace.start-is-an-index"), "fold")
    for difference in list(outcome.differences.values())[:2]:
        assert len(request_of(difference.members)["events"]) <= 7


def test_the_reference_differs_from_itself_in_nothing():
    outcome = fuzzed(reference.answer, examples=600, untyped=True)
    assert (outcome.inputs, outcome.differences, outcome.faults) == (600, {}, [])
    assert sum(counts.total() for counts in outcome.counts.values()) == 600


def test_one_kind_of_difference_is_told_once_and_counted():
    def one_more(request, answer):
        if "result" in answer:
            answer["result"]["replaceGeneration"] += 1
        return answer

    outcome = fuzzed(altered("fold", one_more), "fold")
    (difference,) = outcome.differences.values()
    assert difference.unlike.key == "result replaceGeneration result / result"
    assert difference.seen == outcome.counts["fold"]["result"]
    assert len(request_of(difference.members)["events"]) <= 2
    assert difference.answers["mine"].value["replaceGeneration"] == 1


def test_the_same_seed_finds_the_same():
    port = mutant("replace.start-is-an-index")
    first, second = (fuzzed(port, "fold", seed="7", shrinks=1) for _ in range(2))
    assert [(each.key, each.seen, each.members) for each in first.differences.values()] == [
        (each.key, each.seen, each.members) for each in second.differences.values()
    ]
    other = fuzzed(port, "fold", seed="8", shrinks=0)
    assert other.differences.keys() != first.differences.keys()


def test_a_crash_is_no_refusal_and_never_the_same():
    broken = altered(
        "fold", lambda request, answer: answer if "result" in answer else {"crashed": "TypeError"}
    )
    outcome = fuzzed(broken, "fold")
    assert outcome.differences
    assert all(each.unlike.other == "crashed" for each in outcome.differences.values())
    crashed = Answer("crashed", "TypeError")
    assert compare("fold", crashed, crashed, load_ledger()) is not None


def test_a_crash_on_shapeless_input_is_a_listed_quirk_and_counted():
    def breaks(request, answer):
        shapeless = answer.get("rejected", {}).get("condition") == "event-shapeless"
        return {"crashed": "TypeError"} if shapeless else answer

    outcome = fuzzed(altered("fold", breaks), "fold", examples=900, untyped=True)
    assert outcome.differences == {}
    assert outcome.explained["shapeless-crash"] > 5


def test_an_adapter_at_fault_ends_the_run():
    outcome = fuzzed(altered("fold", lambda request, answer: {"error": "no idea"}), "fold")
    assert outcome.differences == {}
    assert "mine answered fold with error: no idea" in outcome.faults[0]


def test_three_parties_are_held_against_the_last_one():
    late = mutant("fold.generation-left-out")
    with Table.open([spec(late, "mine"), spec(late, "theirs"), resolve("reference")]) as table:
        recipes = usable(RECIPES, table.parties[0].capabilities, "fold", untyped=False)
        outcome = Campaign(table, recipes, load_ledger(), load_quirks(), "1").run(400, None)
    assert {each.pair for each in outcome.differences.values()} == {
        ("reference", "mine"),
        ("reference", "theirs"),
    }
    assert all(
        each.answers.keys() == {"mine", "theirs", "reference"} for each in outcome.differences.values()
    )


def test_a_pipe_and_this_process_are_asked_the_same():
    from conformance.adapters.registry import AdapterSpec, serve_command, with_import_path

    piped = AdapterSpec("piped", command=lambda: serve_command("reference"), env=with_import_path())
    with Table.open([piped, resolve("reference")]) as table:
        recipes = usable(RECIPES, table.parties[0].capabilities, None, untyped=True)
        outcome = Campaign(table, recipes, load_ledger(), load_quirks(), "1").run(300, None)
    assert (outcome.inputs, outcome.differences, outcome.faults) == (300, {}, [])


def test_no_adapter_twice():
    with pytest.raises(UsageError, match="named twice"):
        Table.open([resolve("reference"), resolve("reference")])


# -- comparing -----------------------------------------------------------------------


def rejected(**members):
    return Answer("rejected", members)


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        (Answer("result", {"nodes": [1]}), Answer("result", {"nodes": [True]}), "result"),
        (Answer("result", {"nodes": [1]}), Answer("result", {"nodes_text": "[1.0]"}), None),
        (Answer("result", {"nodes": [0]}), Answer("result", {"nodes": [-0.0]}), None),
        (Answer("result", {"nodes": []}), rejected(condition="sources-empty"), "verdict"),
        (rejected(condition="sources-empty"), rejected(condition="source-not-seq"), "condition"),
        (rejected(condition="sources-empty"), rejected(), None),
        (rejected(condition="sources-empty"), rejected(message="words of one's own"), None),
        (
            rejected(condition="sources-empty"),
            rejected(message="sourceEventSeqs must not contain duplicates"),
            "condition",
        ),
        (rejected(at=1), rejected(at=2), "position"),
        (rejected(at=1), rejected(), None),
        (Answer("hung", "no answer"), Answer("hung", "no answer"), "verdict"),
    ],
)
def test_how_two_answers_differ(one, other, what):
    unlike = compare("fold", one, other, load_ledger())
    assert (unlike and unlike.what) == what


def test_clocks_and_guards_may_differ_and_seeds_may_not():
    def script(*steps):
        return Answer("result", {"steps": [{"result": step} for step in steps]})

    now, later = ({"events": [{"seq": 0, "time": time}]} for time in (1_795_072_000_000, 1_795_072_000_007))
    ledger = load_ledger()
    assert compare("session.live", script(now), script(later), ledger) is None
    assert (
        compare("session.live", script({"outcome": "refused"}), script({"outcome": "no-effect"}), ledger)
        is None
    )
    for pair in ((10, 20), (1_755_072_000_000, 2**53 - 1), (1_795_072_000_000, 20)):
        old, other = ({"events": [{"seq": 0, "time": time}]} for time in pair)
        unlike = compare("session.live", script(now, old), script(later, other), ledger)
        assert (unlike.at, unlike.path) == (1, "events[0].time")


# -- the list of quirks --------------------------------------------------------------


@pytest.fixture(scope="module")
def cases():
    return {case.id: case for case in load_corpus()}


@pytest.mark.parametrize("quirk", load_quirks(), ids=lambda quirk: quirk.id)
def test_every_quirk_is_shown_by_cases_that_leave_a_choice(quirk: Quirk, cases):
    assert quirk.ops <= {recipe.capability for recipe in RECIPES} | set(OPERATIONS)
    for name in quirk.cases:
        case = cases[name]
        assert case.expect.kind == "either", name
        assert {case.op, case.capability} & quirk.ops, name


# -- shorthand -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "short",
    [
        {"user": "a"},
        {"user": [], "message": {"id": "x"}},
        {"assistant": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"result": "c1", "text": "a", "replace": [0, 1], "sources": [0, 1]},
        {"result": "c1", "text": "a", "data": {"turn": 2}},
        {"call": "c1"},
        {"chunk": "a"},
        {"turn/end": 2},
        {"user": "a", "surfaceOp": None},
        {"user": "a", "time": 5, "seq": 9},
        {"user": "a", "without": ["surfaceOp"]},
    ],
)
def test_what_can_be_written_short_is_written_so(short):
    event = expand_event(short, 3)
    found = condense(event, 3)
    assert "type" not in found
    assert expand_event(found, 3) == event


@pytest.mark.parametrize(
    "event", [None, 7, {}, {"type": None}, {"type": "user/message", "seq": 0, "data": 5}]
)
def test_what_cannot_stays_as_it_is(event):
    assert condense(event, 0) == event
