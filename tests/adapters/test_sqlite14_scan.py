"""What the cases of schema 15 say of the rows of a log, the published store says of them in schema 14.

It gives no access to rows, so they are put into its database by SQL and read as a session: ``readFrom`` keeps
and refuses what ``rows.scan`` does. What it tears off shows in what a load leaves behind. Schema 14 has not
the column ``ignorable``, so that mark is taken out of the rows and out of what is expected.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from conformance.adapters.registry import resolve
from conformance.compare import first_difference
from conformance.corpus import load_corpus
from conformance.errors import AdapterError
from conformance.json_text import dump_ascii, parse_exact
from conformance.ledger import load_ledger
from conformance.protocol import Request

TOPICS = ("sqlite/scan-15", "sqlite/scan-15-untyped")
COLUMNS = {
    "seq": "int",
    "type": "text",
    "time": "int",
    "data": "text",
    "source_event_seqs": "text",
    "surface_op": "text",
}
"""The columns of schema 14, and what a cell of each may hold beside null."""
NO_ROWS_OF_14 = {"sqlite.scan-15-untyped.same-seq", "sqlite.scan-15.negative-seq"}
"""Two rows of one seq cannot stand in its table, and it asks for no row before 0 (and loads it for ever)."""
HEADER = {"version": 0, "id": "s", "createdAt": 1}


def cell(column, value):
    """A cell as SQL, or None if it cannot stand in the column."""
    if value is None:
        return "NULL"
    ((kind, content),) = value.items()
    if kind != COLUMNS[column]:
        return None
    return content if kind == "int" else f"CAST(x'{content.encode().hex()}' AS TEXT)"


def statements(rows):
    """SQL that puts these rows, and no others, in the place of a session's; None if that cannot be."""
    made = ["DELETE FROM events"]
    for row in rows:
        cells = [cell(column, row[column]) for column in COLUMNS]
        if None in cells:
            return None
        made.append(f"INSERT INTO events (session_id, {', '.join(COLUMNS)}) VALUES ('s', {', '.join(cells)})")
    seqs = {int(row["seq"]["int"]) for row in rows}
    return made if len(seqs) == len(rows) and min(seqs, default=0) >= 0 else None


def story(case):
    """The request about a store that stands for a case, without its last brace; None if there is none."""
    asked = parse_exact(f"{{{case.body}")
    made = statements(asked["rows"])
    if made is None:
        return None
    note = {"type": "goal/change", "seq": 0, "time": 0, "data": {}}
    read = {"readFrom": {"id": "s", "from": asked["base"]}}
    steps = [
        {"create": HEADER}, {"append": {"id": "s", "events": [note]}}, {"reopen": True},
        {"damage": [{"file": "*", "sql": ";".join(made)}]}, read, {"reopen": True},
        {"load": "s"}, {"untouched": True}, read,
    ]  # fmt: skip
    return f'"op":"backend","edition":"v0","steps":{dump_ascii(steps)}}}'


def faults(case, steps):
    """In what the store answers otherwise than the case says; ``steps`` are what it said to each step."""
    read, loaded, untouched, again = steps[4], steps[6], steps[7]["result"]["untouched"], steps[8]
    (expected,) = case.expect.alternatives
    if expected.kind == "rejected":
        told = read.get("rejected", {}).get("message", "")
        named = {expected.value["condition"]} & load_ledger().conditions_of(told)
        place = parse_exact(f"{{{case.body}")["rows"][expected.value["at"]]["seq"]["int"]
        return [] if named and place in told else [f"{case.id}: {read}, not {expected.value}"]
    kept = [
        {name: event[name] for name in event if name != "ignorable"} for event in expected.value["events"]
    ]
    wrong = first_difference(kept, read.get("result", {}).get("events"))
    if wrong is not None:
        return [f"{case.id}: {wrong}"]
    if "rejected" in loaded or parse_exact(f"{{{case.body}")["base"] > 0:  # a load asks more than a scan
        return []
    left = again["result"]["events"][len(kept) :]
    if any(event["type"] not in ("step/end", "turn/end") for event in left):
        return [f"{case.id}: after a load there is {left} behind what was kept"]
    whole = expected.value["tornFrom"] is None
    return (
        []
        if left or untouched == whole
        else [f"{case.id}: a load has left the rows as they were: {untouched}"]
    )


@pytest.fixture(scope="module")
def told():
    """The cases that can be asked, with what the published store says to each step; and the others."""
    cases = {case.id: case for case in load_corpus() if case.topic in TOPICS}
    stories = {name: story(case) for name, case in cases.items()}
    asked = [name for name, body in stories.items() if body is not None]
    try:
        connection = resolve("dsh-backend:sqlite14").connect(1)
    except AdapterError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the published backend cannot be run here: {error}")
    try:
        requests = (Request(number, stories[name]) for number, name in enumerate(asked))
        answers = {asked[number]: answer for number, answer in connection.exchange(requests)}
    finally:
        connection.close()
    return [(cases[name], answers[name]) for name in asked], cases.keys() - asked


def test_the_published_store_keeps_and_refuses_the_rows_that_the_cases_do(told):
    answered, others = told
    assert others == NO_ROWS_OF_14
    assert len(answered) > 25
    assert [fault for case, answer in answered for fault in faults(case, answer.value["steps"])] == []


def test_an_expectation_that_the_published_store_does_not_meet_is_found(told):
    answered, _ = told
    found = {case.id.removeprefix("sqlite.scan-15."): (case, answer) for case, answer in answered}

    def wrongly(name, **value):
        case, answer = found[name]
        (expected,) = case.expect.alternatives
        wrong = replace(expected, value={**expected.value, **value})
        return faults(
            replace(case, expect=replace(case.expect, alternatives=(wrong,))), answer.value["steps"]
        )

    assert wrongly("hole-before-end", condition="row-committed-gap")
    assert wrongly("hole-before-end", at=0)
    assert wrongly("gap-before-end", at=2)
    assert wrongly("whole", events=[])
    assert wrongly("whole", tornFrom=3)
    assert wrongly("hole-at-the-end", tornFrom=None)
