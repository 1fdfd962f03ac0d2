"""Families: many requests, one verdict, the first failing member named, the digest not to be fooled."""

from __future__ import annotations

import csv
import dataclasses
import json

import pytest
from oracles import seqs_codec_oracle as oracle
from support import HEAD, in_process
from test_seqs_codec import decoded, encoded

from conformance.adapters.reference import answer
from conformance.corpus import load_corpus, load_file
from conformance.engine import Options, run
from conformance.errors import UsageError, VectorError
from conformance.export import export
from conformance.families.answers import answers_digest, expansion
from conformance.families.generators import GENERATORS, members
from conformance.families.judging import FamilyTally
from conformance.flat_export import export_flat
from conformance.judge import Judge
from conformance.ledger import load_ledger
from conformance.lint import digests_of
from conformance.profiles import belongs
from conformance.protocol import read_answer

FAMILIES = [case for case in load_corpus() if case.family is not None]
ENTRY = """\
  - id: sample.family
    rules: [SEQS-3]
    why: A sample.
    family: {family}
    expect: {expect}
"""
CELLS = "{generator: blobs, parameters: {sizes: [1, 0], rowSeqs: [0]}}"


def oracles_answer(schema, member):
    """What the independent oracle says to one member, as a digest takes it in."""
    if "hex" in member:
        told = oracle.decode(schema, bytes.fromhex(member["hex"]), member["rowSeq"])
    else:
        told = oracle.encode(schema, member["values"])
    if told[0] != "rejected":
        return {"result": {told[0]: told[1]}}
    return {"rejected": {"condition": told[1], **({} if told[2] is None else {"at": told[2]})}}


@pytest.mark.parametrize("case", FAMILIES, ids=lambda case: case.id)
def test_the_oracle_gives_the_digest_of_every_family(case):
    asked = members(case.family.generator, case.family.parameters)
    told = answers_digest(oracles_answer(int(case.capability[-2:]), member) for member in asked)
    assert told == (case.family.members, case.family.answers)


def test_every_generator_is_in_use():
    assert {case.family.generator for case in FAMILIES} == set(GENERATORS)


def sample(tmp_path, family=CELLS, expect=None, op="seqs.decode@17"):
    """The case of a file with one family; by default its digest is the oracle's."""
    file = tmp_path / "sample.yaml"
    if expect is None:
        count, digest = answers_digest(
            oracles_answer(17, member) for member in members("blobs", {"sizes": [1, 0], "rowSeqs": [0]})
        )
        expect = f'{{members: {count}, answers: "{digest}"}}'
    file.write_text(HEAD.format(op=op) + ENTRY.format(family=family, expect=expect))
    (case,) = load_file(file)
    return case


def verdict(case, function, strict=frozenset(("condition", "position"))):
    """The verdict record and the end record of a run over one case."""
    records = list(run([case], in_process(function), load_ledger(), Options(strict=strict)))
    assert len(records) == 3
    return records[1:]


def test_one_verdict_for_all_members(tmp_path):
    record, end = verdict(sample(tmp_path), answer)
    assert (record["status"], record["condition"], record["position"]) == ("pass", "same", "same")
    assert end["counts"] == {"pass": 1}


def wrong_for(cells, with_):
    """An adapter that answers some cells otherwise."""

    def function(request):
        return with_ if request.get("hex") in cells else answer(request)

    return function


def test_the_first_failing_member_is_named(tmp_path):
    record, end = verdict(sample(tmp_path), wrong_for(("07", "05", "7f"), {"result": {"values": [5, 5]}}))
    assert record["status"] == "fail"
    assert record["member"]["index"] == 5
    assert json.loads(record["member"]["request"])["hex"] == "05"
    assert record["failed"] == 3
    assert record["message"].startswith('member 5, {"hex":"05","rowSeq":0}: ')
    assert record["message"].endswith("3 of 257 members fail")
    assert record["difference"] == {"path": "values[1]", "found": 5}
    assert end["exit"] == 1


def test_answers_out_of_order_make_no_difference(tmp_path):
    case = sample(tmp_path)
    tally = FamilyTally(case, Judge(load_ledger()))
    asked = list(tally.requests())
    function = wrong_for(("07", "05"), {"crashed": "odd"})
    for index in reversed(range(len(asked))):
        assert not tally.complete
        tally.take(index, read_answer(function(json.loads("{" + asked[index]))))
    assert tally.complete
    assert tally.verdict().member.index == 5
    assert tally.verdict().status == "crashed"


def test_a_number_spelled_otherwise_passes_and_a_boolean_does_not(tmp_path):
    assert verdict(sample(tmp_path), wrong_for(("05",), {"result": {"values": [5.0]}}))[0]["status"] == "pass"
    assert (
        verdict(sample(tmp_path), wrong_for(("01",), {"result": {"values": [True]}}))[0]["status"] == "fail"
    )


def test_condition_and_position_count_if_strict(tmp_path):
    function = wrong_for(("80",), {"rejected": {"condition": "seqs-varint-range", "at": 0}})
    record, _ = verdict(sample(tmp_path), function, frozenset())
    assert (record["status"], record["condition"], record["position"]) == ("pass", "other", "other")
    assert verdict(sample(tmp_path), function)[0]["member"]["index"] == 128
    silent, _ = verdict(sample(tmp_path), wrong_for(("80",), {"rejected": {}}), frozenset())
    assert (silent["condition"], silent["position"]) == ("not-given", "not-given")


def test_a_wrong_digest_is_the_fault_of_the_vector(tmp_path):
    case = sample(tmp_path)
    for family in (
        dataclasses.replace(case.family, answers="0" * 64),
        dataclasses.replace(case.family, members=9),
    ):
        record, end = verdict(dataclasses.replace(case, family=family), answer)
        assert (record["status"], record["fault"]) == ("not-run", "vector")
        assert f"the case says {family.members} and {family.answers}" in record["message"]
        assert end["exit"] == 1
        with pytest.raises(VectorError, match=r"sample\.yaml:7: case sample\.family: the family has 257"):
            list(expansion(dataclasses.replace(case, family=family)))


@pytest.mark.parametrize(
    ("family", "told"),
    [
        ("{generator: blubs, parameters: {}}", "family"),
        ("{generator: blobs, parameters: {sizes: [4], rowSeqs: [0]}}", "family"),
        ("{generator: blobs, parameters: {sizes: [1]}}", "family"),
        ("{generator: blobs, parameters: {sizes: [1], rowSeqs: [0], colour: 1}}", "family"),
        ("{generator: blobs, parameters: {sizes: [1], rowSeqs: [0], first: 256}}", "makes no member"),
        ("{generator: lists, parameters: {lengths: [1], values: [0]}}", "request"),
    ],
)
def test_a_family_that_cannot_be(tmp_path, family, told):
    with pytest.raises(VectorError, match=told):
        sample(tmp_path, family)


def test_either_request_or_family(tmp_path):
    with pytest.raises(VectorError):
        sample(tmp_path, CELLS + '\n    request: {hex: "", rowSeq: 0}')
    with pytest.raises(VectorError):
        sample(tmp_path, expect="{result: {values: []}}")


def test_the_digest_covers_generator_and_parameters(tmp_path):
    case = sample(tmp_path)
    other = sample(tmp_path, CELLS.replace("[1, 0]", "[0, 1]"))
    assert digests_of([case]) != digests_of([other])


def test_families_belong_to_their_profile_and_not_to_untyped():
    assert all(belongs(case, "codec") and not belongs(case, "untyped") for case in FAMILIES)


def test_an_export_carries_the_expansion(tmp_path):
    case = sample(tmp_path)
    export([case], tmp_path / "out")
    lines = (tmp_path / "out" / "families" / "sample.family.jsonl").read_text().splitlines()
    assert len(lines) == 257
    for line in lines:
        entry = json.loads(line)
        assert entry["expect"] == oracles_answer(17, entry["request"])
    (document,) = json.loads((tmp_path / "out" / "cases" / "sample.json").read_text())["cases"]
    assert document["request"] == {"op": "seqs.decode", "schema": 17, "edition": "v0"}
    assert document["members"]["members"] == 257


def flat(tmp_path, cases, table):
    """The rows of one table, from CSV and from JSON; a reader of either gets the same."""
    export_flat(cases, tmp_path / "flat")
    with (tmp_path / "flat" / f"{table}.csv").open(newline="") as file:
        rows = [{name: text for name, text in row.items() if text} for row in csv.DictReader(file)]
    stored = json.loads((tmp_path / "flat" / f"{table}.json").read_text())
    assert [dict(spelled(*each) for each in row.items() if each[1] != "") for row in stored] == rows
    return rows


def spelled(name, value):
    """A member of the JSON table as CSV has it."""
    if name in ("values", "or_values"):
        return name, json.dumps(value, separators=(",", ":"))
    return name.removesuffix("_text"), str(value)


def test_the_flat_rows_hold_for_an_outsider(tmp_path):
    """A decoder that knows nothing of us reads the table and agrees with it."""
    cases = [case for case in load_corpus() if case.topic.startswith("codec/seqs-") and case.family is None]
    rows = flat(tmp_path, [*cases, sample(tmp_path)], "seqs-decode")
    assert sum(row["case"].startswith("sample.family#") for row in rows) == 257
    quirks = 0
    for row in rows:
        if row["schema"] == "15":
            continue
        told = decoded(int(row["schema"]), bytes.fromhex(row.get("hex", "")), int(row["row_seq"]))
        if "condition" in row:
            assert told == ("rejected", row["condition"], int(row["at"])), row
        else:
            assert told == ("values", json.loads(row["values"])), row
        quirks += "or_values" in row
    assert quirks == 2


def test_the_flat_rows_for_an_encoder(tmp_path):
    cases = [case for case in load_corpus() if case.op == "seqs.encode" and case.family is None]
    for row in flat(tmp_path, cases, "seqs-encode"):
        if row["schema"] != "15" and "condition" not in row:
            values = [int(value) for value in json.loads(row["values"])]
            assert encoded(int(row["schema"]), values) == ("hex", row.get("hex", ""))


def test_a_flat_export_of_something_else(tmp_path):
    cases = [case for case in load_corpus() if case.topic == "surface/fold"]
    with pytest.raises(UsageError, match="no case of the sequence codec"):
        export_flat(cases, tmp_path / "flat")
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "README.md").write_text("mine")
    with pytest.raises(UsageError, match="holds something else"):
        export_flat(FAMILIES[:1], tmp_path / "flat")
    assert (tmp_path / "flat" / "README.md").read_text() == "mine"
