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
    assert main(["export", str(tmp_path / "one")]) == 0
    assert main(["export", str(tmp_path / "two")]) == 0
    first = tree(tmp_path / "one")
    assert first == tree(tmp_path / "two")
    assert main(["export", str(tmp_path / "one")]) == 0
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
            seen[case["id"]] = case_digest(edition, case["op"], request, case["expect"])
            schema = json.loads((tmp_path / f"out/schemas/op/{operation}.schema.json").read_text())
            Draft202012Validator(schema["$defs"]["request"]).validate(request)
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


def test_lint_tells_changed_new_and_lost_cases(tmp_path):
    cases = load_corpus()
    recorded = lint.digests_of(cases)
    changed, lost = cases[0].id, "surface.gone"
    recorded[changed] = "0" * 64
    recorded[lost] = "0" * 64
    del recorded[cases[1].id]
    (tmp_path / "digests.json").write_text(json.dumps(recorded))
    findings = " ".join(lint.compare_digests(tmp_path, cases))
    assert f"{changed} is not what its digest on record says" in findings
    assert f"{lost} is on record but gone" in findings
    assert f"{cases[1].id} has no digest on record" in findings


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
