"""The other commands: list, rules, export, lint, serve."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from conformance import lint
from conformance.cases import case_digest
from conformance.cli import main
from conformance.corpus import load_corpus
from conformance.errors import VectorError
from conformance.operations import OPERATIONS
from conformance.resources import spec_dir, vectors_dir


def test_list_shows_one_line_per_case(capsys):
    assert main(["list", "--topic", "surface/replace"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:3] == ["surface.replace.first-two", "fold", "result"] for line in lines)


def test_list_as_json_is_expanded(capsys):
    assert main(["list", "--json", "--select", "surface.replace.first-two"]) == 0
    (case,) = json.loads(capsys.readouterr().out)
    assert case["request"]["events"][0]["type"] == "user/message"


def test_rules(capsys):
    assert main(["rules"]) == 0
    assert "replace-start-absent" in capsys.readouterr().out
    assert main(["rules", "REPL-1"]) == 0
    shown = capsys.readouterr().out
    assert "surface.replace.start-absent" in shown
    assert "start seq {seq} not found in surface" in shown


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_export_is_the_same_from_run_to_run(tmp_path, capsys):
    chosen = ["--topic", "surface", "--topic", "codec/seqs-lists-19"]
    assert main(["export", str(tmp_path / "one"), *chosen]) == 0
    assert main(["export", str(tmp_path / "two"), *chosen]) == 0
    first = tree(tmp_path / "one")
    assert any("families" in name for name in first)
    assert first == tree(tmp_path / "two")
    assert main(["export", str(tmp_path / "one"), *chosen]) == 0
    assert tree(tmp_path / "one") == first
    capsys.readouterr()


def test_export_can_be_checked_without_this_package(tmp_path):
    """Digests, and requests against the exported schemas, from the exported files alone."""
    main(["export", str(tmp_path / "out")])
    index = json.loads((tmp_path / "out/index.json").read_text())
    seen = {}
    for file in (tmp_path / "out/cases").rglob("*.json"):
        for case in json.loads(file.read_text())["cases"]:
            request = dict(case["request"])
            operation = request.pop("op")
            edition = request.pop("edition")
            variant = OPERATIONS[operation].variant
            if variant is not None:
                assert case["op"] == f"{operation}@{request.pop(variant)}"
            schema = json.loads((tmp_path / f"out/schemas/op/{operation}.schema.json").read_text())
            validator = Draft202012Validator({"$ref": "#/$defs/request", "$defs": schema["$defs"]})
            if "family" in case:
                request, expect = {"family": case["family"]}, case["members"]
                lines = (tmp_path / f"out/families/{case['id']}.jsonl").read_text().splitlines()
                assert len(lines) == expect["members"]
                validator.validate(json.loads(lines[0])["request"])
            else:
                expect = case["expect"]
                validator.validate(request)
            seen[case["id"]] = case_digest(edition, case["op"], request, expect)
    assert seen == index["digests"]
    assert len(seen) == sum(index["topics"].values()) == len(load_corpus())


def test_export_never_overwrites_something_else(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("precious")
    assert main(["export", str(tmp_path)]) == 2
    assert "holds something else already" in capsys.readouterr().err
    assert (tmp_path / "mine.txt").read_text() == "precious"
    assert main(["export", str(tmp_path / "mine.txt")]) == 2
    capsys.readouterr()


def test_digests_are_on_record():
    assert lint.compare_digests(vectors_dir(), load_corpus()) == []


def recorded_in(folder: Path, digests: object, retired: object = None) -> Path:
    """A folder with the two records of a corpus."""
    (folder / "digests.json").write_text(json.dumps(digests))
    (folder / "retired.json").write_text(json.dumps(retired or {}))
    return folder


def test_lint_tells_changed_new_and_lost_cases(tmp_path):
    cases = load_corpus()
    recorded = lint.digests_of(cases)
    changed, lost, retired = cases[0].id, "surface.gone", "surface.retired"
    recorded |= {changed: "0" * 64, lost: "0" * 64, retired: "0" * 64}
    del recorded[cases[1].id]
    told = {retired: {"now": None, "why": "It showed nothing new."}}
    findings = lint.compare_digests(recorded_in(tmp_path, recorded, told), cases)
    assert len(findings) == 4
    for words in (
        f"{changed} is not what its digest on record says",
        f"{lost} is on record but gone; ids are permanent, so retired.json must say",
        f"{cases[1].id} has no digest on record",
        f"{retired} is retired, but still on record; lint --write takes it off",
    ):
        assert any(words in finding for finding in findings), words


def test_no_retired_id_is_in_use(tmp_path):
    cases = load_corpus()
    retired = {
        cases[0].id: {"now": None, "why": "It is still there."},
        "surface.moved": {"now": "surface.nowhere", "why": "It leads to nothing."},
        "surface.renamed": {"now": cases[1].id, "why": "It is as it should be."},
    }
    told = list(lint.retired_findings(recorded_in(tmp_path, {}, retired), cases))
    assert len(told) == 2
    assert any(f"case {cases[0].id} has an id that is retired" in each for each in told)
    assert any("surface.moved is said to be surface.nowhere now, which is no case" in each for each in told)
    assert list(lint.retired_findings(vectors_dir(), cases)) == []


def test_write_never_forgets_an_id(tmp_path):
    cases = load_corpus()
    before = {**lint.digests_of(cases), "surface.gone": "0" * 64, "surface.lost": "0" * 64}
    folder = recorded_in(tmp_path, before)
    with pytest.raises(VectorError, match=r"surface\.gone, surface\.lost.*bring the cases back, or say"):
        lint.write_digests(folder, cases)
    assert lint.read_digests(folder) == before
    why = {"now": None, "why": "It showed nothing new."}
    recorded_in(tmp_path, before, {"surface.gone": why, "surface.lost": why})
    lint.write_digests(folder, cases)
    assert lint.read_digests(folder) == lint.digests_of(cases)
    assert sorted(path.name for path in folder.iterdir()) == ["digests.json", "retired.json"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[]", "is not of type 'object'"),
        ('{"surface.x": "abc"}', "does not match"),
        ('{"surface.x": 7}', "surface.x"),
        ("{", "is not JSON"),
    ],
)
def test_a_broken_record_is_told(tmp_path, content, told):
    for name, read in (("digests.json", lint.read_digests), ("retired.json", lint.read_retired)):
        (tmp_path / name).write_text(content)
        with pytest.raises(VectorError) as caught:
            read(tmp_path)
        assert str(tmp_path / name) in str(caught.value)
        assert name == "retired.json" or told in str(caught.value)


def test_write_and_freeze_are_for_a_checkout(tmp_path, monkeypatch, capsys):
    """In an installed package the data stands inside the package."""
    package = tmp_path / "conformance"
    for name in ("spec", "vectors"):
        shutil.copytree(spec_dir().parent / name, package / "_data" / name)
    before = tree(package)
    monkeypatch.setattr("conformance.cli.lint.PACKAGE", package)
    monkeypatch.setattr("conformance.cli.lint.vectors_dir", lambda: package / "_data" / "vectors")
    for words in (["--write"], ["--freeze", "9.9.9"]):
        assert main(["lint", *words]) == 2
        assert "belongs to an installed package" in capsys.readouterr().err
    assert tree(package) == before


SHAPED = """\
format: 1
topic: sample
edition: v0
op: {op}
evidence: {{facts: made up for a test of lint}}
cases:
  - id: sample.case
    rules: [FOLD-2]
    why: It is a sample.
    request: {request}
    expect: {expect}
"""
NO_MESSAGES = "{result: {messages: []}}"
NO_CLASS = "{result: {eligible: false, surface: false, append: false, replacement: false}}"
NOTHING = "{steps: [{result: {}}]}"
TWO = "{steps: [{result: {}}, {result: {}}]}"


@pytest.mark.parametrize(
    ("op", "request_text", "expect", "place"),
    [
        ("messages", "{events: [{user: a}, {type: x}]}", NO_MESSAGES, "event 1"),
        ("messages", "{events_text: '[7]'}", NO_MESSAGES, "event 0"),
        ("messages.linear-fallback", "{events: [{type: x}]}", NO_MESSAGES, "event 0"),
        ("project", "{event: {type: x}}", "{result: {message: null}}", "the event"),
        ("project", "{event_text: '[]'}", "{result: {message: null}}", "the event"),
        ("classify", "{event: null}", NO_CLASS, "the event"),
        ("surface.live", "{baseSeq: 0, steps: [{push: {type: x}}]}", NOTHING, "the event of step 0"),
        ("surface.live", "{baseSeq: 0, steps: [{push: {user: a}}, {amend: 7}]}", TWO, "the event of step 1"),
        ("surface.live", "{baseSeq: 0, steps: [{validate: {type: x}}]}", NOTHING, "the event of step 0"),
        ("surface.live", "{baseSeq: 0, steps_text: '[{\"push\":{}}]'}", NOTHING, "the event of step 0"),
    ],
)
def test_events_that_no_typed_port_can_hold_are_found(tmp_path, op, request_text, expect, place):
    text = SHAPED.format(op=op, request=request_text, expect=expect)
    (tmp_path / "sample.yaml").write_text(text)
    (finding,) = lint.shape_findings(load_corpus([tmp_path / "sample.yaml"]))
    assert f"case sample.case: {place} would not be admitted" in finding
    (tmp_path / "sample.yaml").write_text(text.replace("op:", "optional: true\nop:", 1))
    assert list(lint.shape_findings(load_corpus([tmp_path / "sample.yaml"]))) == []


@pytest.mark.parametrize(
    ("expect", "findings"),
    [
        ("{result: {events: [], firstLiveSeq: 1, header: {}}}", 1),
        ("{rejected: {condition: event-envelope, at: 0}}", 0),
        ("{either: [{rejected: {at: 0}}, {crashed: true}], reason: they differ}", 0),
        ("{any_of: [{rejected: {at: 0}}, {result: {events: [], firstLiveSeq: 1, header: {}}}]}", 1),
    ],
)
def test_what_an_operation_refuses_by_its_shape_is_no_finding(tmp_path, expect, findings):
    text = SHAPED.format(
        op="admit@restored", request="{sessionId: s, header: {}, events: [{type: x}]}", expect=expect
    )
    (tmp_path / "sample.yaml").write_text(text)
    assert len(list(lint.shape_findings(load_corpus([tmp_path / "sample.yaml"])))) == findings


def test_lint_has_nothing_to_say():
    assert lint.all_findings(vectors_dir(), load_corpus()) == []


STARTED = """
import sys
from conformance.cli import build_parser
build_parser()
print(*(name for name in sys.modules if name.startswith("conformance.")))
"""


def test_no_command_pays_for_the_machinery_of_adequacy():
    done = subprocess.run([sys.executable, "-c", STARTED], check=True, capture_output=True, text=True)
    loaded = done.stdout.split()
    assert "conformance.cli.adequacy" in loaded
    assert [name for name in loaded if name.startswith("conformance.adequacy")] == []
    assert "conformance.matrix" not in loaded


def test_the_matrix_does_not_need_the_mutants():
    script = "import sys, conformance.matrix; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert "conformance.reference_sources" in done.stdout.split()
    assert [name for name in done.stdout.split() if name.startswith("conformance.adequacy")] == []


def test_every_schema_is_a_schema():
    for path in (spec_dir() / "schemas").rglob("*.json"):
        schema = json.loads(path.read_text())
        Draft202012Validator.check_schema(schema)
        name = path.relative_to(spec_dir() / "schemas").as_posix().removesuffix(".schema.json")
        assert schema["$id"] == f"urn:session-conformance:1:{name}"


def serve(*lines: str) -> list[dict]:
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "serve", "reference"],
        input="".join(f"{line}\n" for line in lines), capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_serve_answers_line_by_line():
    hello, folded, refused, unknown, junk = serve(
        '{"id":0,"op":"hello","protocol":1}',
        '{"id":1,"op":"fold","edition":"v0","events":[]}',
        '{"id":2,"op":"fold","edition":"v0","events_text":"[{\\"seq\\":1}]"}',
        '{"id":3,"op":"frobnicate"}',
        "no json",
    )
    assert hello["result"]["protocol"] == 1
    assert folded == {"id": 1, "result": {"nodes": [], "replacements": [], "replaceGeneration": 0}}
    assert refused["rejected"]["condition"] == "seq-not-contiguous"
    assert refused["rejected"]["at"] == 0
    assert "unsupported" in unknown
    assert junk["id"] is None


def test_serve_spells_out_what_is_not_plain():
    event = '[{"type":"user/message","seq":0,"surfaceOp":"append","data":{"x":"\\ud83d"}}]'
    (answer,) = serve(json.dumps({"id": 5, "op": "messages", "edition": "v0", "events_text": event}))
    assert json.loads(answer["result"]["messages_text"]) == [{"x": "\ud83d"}]


def test_serve_stands_in_for_a_command_adapter():
    if shutil.which("cat") is None:
        pytest.skip("no cat on this system")
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "serve", "stdio:cat"],
        input="hello\n", capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    assert done.stdout == "hello\n"
