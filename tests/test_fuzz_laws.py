"""Laws hold for the reference, and each is broken by a fault of its own."""

from __future__ import annotations

import pytest
from fuzz_ports import altered, mutant, spec

from conformance.adapters import reference
from conformance.adapters.registry import resolve
from conformance.fuzzing.all_laws import LAWS
from conformance.fuzzing.law_runs import check_one, holds, run_laws
from conformance.fuzzing.parties import Table
from conformance.ledger import load_ledger

BY_NAME = {law.name: law for law in LAWS}


def reversed_nodes(request, answer):
    if "result" in answer:
        answer["result"]["nodes"] = answer["result"]["nodes"][::-1]
    return answer


def one_less(request, answer):
    if "result" in answer and answer["result"].get("values"):
        answer["result"]["values"] = answer["result"]["values"][:-1]
    return answer


def accepted(request, answer):
    """Refusals of short logs become results."""
    if "rejected" in answer and len(request.get("events", ())) <= answer["rejected"]["at"] + 1:
        return {"result": {"nodes": [], "replacements": [], "replaceGeneration": 0}}
    return answer


def never_closed(request, answer):
    if "result" in answer and request["events"]:
        answer["result"]["closers"] = [
            {"type": "turn/end", "seq": len(request["events"]), "time": 0, "data": {}}
        ]
    return answer


def without_last_message(request, answer):
    if "result" in answer and len(answer["result"]["messages"]) > 1:
        answer["result"]["messages"].pop()
    return answer


def noise_heard(request, answer):
    if "result" in answer and any("surfaceOp" not in event for event in request["events"]):
        answer["result"]["messages"] = answer["result"]["messages"][1:]
    return answer


def turned_around(request, answer):
    if "result" in answer and answer["result"]["replaceGeneration"] % 2:
        answer["result"]["nodes"] = answer["result"]["nodes"][::-1]
    return answer


def forgetful():
    """A view that loses its nodes each time that it is read."""

    def answer(request):
        if request["op"] == "surface.live" and sum("observe" in step for step in request["steps"]) > 2:
            found = reference.answer(request)
            for step in found["result"]["steps"]:
                if "nodes" in step.get("result", {}):
                    step["result"]["nodes"] = []
            return found
        return reference.answer(request)

    return answer


def last_row_lost(request, answer):
    if "result" in answer and len(answer["result"]["rows"]) > 1:
        answer["result"]["rows"].pop()
    return answer


def last_event_lost(request, answer):
    if "result" in answer and len(request["rows"]) > 1 and answer["result"].get("events"):
        answer["result"]["events"].pop()
    return answer


def text_changed(request, answer):
    for event in answer.get("result", {}).get("events", ()):
        if type(event) is dict and event.get("type") == "assistant/chunk":
            event["time"] += 1
    return answer


def torn_kept(request, answer):
    if "result" in answer:
        answer["result"]["tornFrom"] = None
    return answer


def frames_refused(request, answer):
    if request["compression"] == "zstd" and "result" in answer:
        answer["result"]["header"] = {}
    return answer


def closers_forgotten(request, answer):
    if "result" in answer:
        answer["result"]["closers"] = []
    return answer


FAULTS = {
    **{f"rows-{schema}": altered("rows.encode", last_row_lost) for schema in (15, 17, 19, 20)},
    **{f"rows-in-parts-{schema}": altered("rows.scan", last_event_lost) for schema in (15, 17, 19, 20)},
    **{f"packed-{store}": altered("chunks.unpack", text_changed) for store in ("jsonl", "sqlite")},
    "cut-file": altered("jsonl.scan", torn_kept),
    "framed": altered("jsonl.load", frames_refused),
    "loaded": altered("jsonl.load", closers_forgotten),
    "batches": mutant("backend.last-batch-unwritten"),
    "inspected": mutant("backend.closers-in-memory"),
    "incremental": altered("fold", reversed_nodes),
    "chunked": forgetful(),
    "refused-place": altered("fold", accepted),
    "replay": altered("messages", without_last_message),
    "projected": altered("messages", without_last_message),
    "noise": altered("messages", noise_heard),
    "order": altered("fold", turned_around),
    "window": mutant("window.nodes-relative"),
    "repaired": altered("closers", never_closed),
    **{f"round-trip-{schema}": altered("seqs.decode", one_less) for schema in (15, 17, 19)},
}


def breaches(port, name, checks=60):
    with Table.open([spec(port)]) as table:
        return run_laws(table, table.parties[0], [BY_NAME[name]], "tests", checks, None).breaches


def test_every_law_has_a_fault_here():
    assert FAULTS.keys() == BY_NAME.keys()


@pytest.mark.parametrize("name", BY_NAME)
def test_a_law_is_broken_by_its_fault(name):
    (breach,) = breaches(FAULTS[name], name).values()
    assert breach.seen >= 1
    assert breach.exchanges
    with Table.open([spec(FAULTS[name])]) as table:
        again, _ = check_one(table, table.parties[0], breach.law, breach.given)
    assert again == breach.says


def breaking_down(request):
    return {"crashed": "always"} if request["op"] != "hello" else reference.answer(request)


@pytest.mark.parametrize("name", BY_NAME)
def test_no_law_holds_for_a_port_that_always_breaks_down(name):
    (breach,) = breaches(breaking_down, name, checks=5).values()
    assert breach.says == "an answer did not come: crashed: always"
    assert breach.seen == 5


def test_a_listed_crash_is_no_breach_of_a_law_where_another_party_shows_it():
    def shapeless_crashes(request):
        told = reference.answer(request)
        if told.get("rejected", {}).get("condition") == "event-shapeless":
            return {"crashed": "TypeError"}
        return told

    header = '{"type":"session","version":0,"id":"s","createdAt":0,"delegationDepth":0}'
    given = {"lines": [header, '{"type":"turn/start","seq":0,"time":0,"data":null}']}
    told = []
    for parties in ([spec(shapeless_crashes)], [spec(shapeless_crashes), resolve("reference")]):
        with Table.open(parties) as table:
            told.append(check_one(table, table.parties[0], BY_NAME["framed"], given)[0])
    assert told == ["an answer did not come: crashed: TypeError", None]


def test_all_laws_hold_for_the_reference():
    with Table.open([resolve("reference")]) as table:
        party = table.parties[0]
        assert all(holds(law, party) for law in LAWS)
        outcome = run_laws(table, party, LAWS, "tests", 400, None)
    assert (outcome.breaches, outcome.faults) == ({}, [])
    assert outcome.checked.keys() == BY_NAME.keys()


def test_an_input_that_breaks_a_law_is_small():
    (breach,) = breaches(FAULTS["window"], "window").values()
    assert breach.given == {"events": [breach.given["events"][0]], "suffix": [breach.given["suffix"][0]]}


def test_an_answer_that_cannot_be_read_breaks_a_law_and_not_the_run():
    empty = altered("fold", lambda request, answer: {"result": {}})
    (breach,) = breaches(empty, "order").values()
    assert "cannot be read" in breach.says or "is refused" in breach.says


def test_an_adapter_at_fault_ends_the_checks():
    helpless = altered("fold", lambda request, answer: {"error": "no idea"})
    with Table.open([spec(helpless)]) as table:
        outcome = run_laws(table, table.parties[0], [BY_NAME["order"]], "tests", 50, None)
    assert outcome.faults
    assert outcome.breaches == {}


def test_laws_follow_from_rules_that_there_are():
    assert {rule for law in LAWS for rule in law.rules} <= load_ledger().rules.keys()


def test_a_law_is_not_put_to_whom_it_does_not_concern():
    with Table.open([resolve("reference")]) as table:
        party = table.parties[0]
        assert holds(BY_NAME["order"], party)
        lacking = type(party)(party.name, party.connection)
        lacking.connection.hello = type(party.connection.hello)(
            "x", None, None, None, frozenset(("fold",)), frozenset()
        )
        assert not holds(BY_NAME["window"], lacking)
