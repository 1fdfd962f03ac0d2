"""What check prints: text, JSON, SARIF by its published schema, JUnit; and how it exits."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from kinds import KINDS
from logs import log, turn, user, whole_turn

import conformance
from conformance import schemas
from conformance.checking.junit import junit
from conformance.checking.sarif import sarif
from conformance.cli import main

PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
"""It holds the schema of SARIF 2.1.0 as OASIS published it."""
PLACE = "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
DIGEST = "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8"


@pytest.fixture(scope="module")
def validator(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sarif")
    command = ["npm", "install", "--prefix", str(folder), "--ignore-scripts", "--no-save", PACKAGE]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the schema of SARIF cannot be had here: {error}")
    content = (folder / PLACE).read_bytes()
    assert hashlib.sha256(content).hexdigest() == DIGEST
    return jsonschema.Draft4Validator(json.loads(content))


def all_kinds(tmp_path):
    for number, kind in enumerate(KINDS):
        (tmp_path / f"{number:02} ä.jsonl").write_bytes(kind.data)
    return conformance.check(tmp_path)


def test_sarif_fits_its_published_schema(validator, tmp_path):
    told = sarif(all_kinds(tmp_path))
    assert [error.message for error in validator.iter_errors(told)] == []
    results = told["runs"][0]["results"]
    assert {each["level"] for each in results} == {"error", "warning", "note"}
    assert any("relatedLocations" in each for each in results)
    uris = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results}
    assert all("%20%C3%A4.jsonl" in uri for uri in uris)


def test_the_schema_would_refuse_something_else(validator, tmp_path):
    told = sarif(all_kinds(tmp_path))
    told["runs"][0]["results"][0]["level"] = "loss"
    assert not validator.is_valid(told)


def test_junit_counts_logs(tmp_path):
    report = all_kinds(tmp_path)
    root = ET.fromstring(junit(report))
    suite = root[0]
    assert int(suite.attrib["tests"]) == len(KINDS)
    fails = [each for each in report.files if each.verdict == "refused" or each.count("loss")]
    assert int(suite.attrib["failures"]) == len(fails) == len(root.findall(".//failure"))


def run(capsys, *words):
    code = main(["check", *map(str, words)])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (log(*whole_turn()), 0),
        (log(turn(), user(None)), 0),
        (log(*whole_turn())[:-1], 1),
        (log(turn(), user(sourceEventSeqs=[7])), 1),
        (b"", 1),
    ],
    ids=["good", "advice", "loss", "refused", "empty"],
)
def test_exit_codes(capsys, tmp_path, data, code):
    path = tmp_path / "log.jsonl"
    path.write_bytes(data)
    assert run(capsys, path)[0] == code


def test_a_missing_file_is_told(capsys, tmp_path):
    code, out = run(capsys, tmp_path / "nothing.jsonl")
    assert code == 3
    assert "No such file" in out


def test_a_folder_without_logs_is_wrong_use(tmp_path):
    assert main(["check", str(tmp_path)]) == 2


def test_json_fits_its_schema(capsys, tmp_path):
    for number, kind in enumerate(KINDS):
        (tmp_path / f"{number}.jsonl").write_bytes(kind.data)
    code, out = run(capsys, "--format", "json", tmp_path)
    assert code == 1
    assert schemas.fault("check", json.loads(out)) is None
    assert len(json.loads(out)["files"]) == len(KINDS)


def test_stdin(capsys, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(log(*whole_turn()))

    monkeypatch.setattr(sys, "stdin", Stdin)
    code, out = run(capsys, "-")
    assert code == 0
    assert "(stdin): accepted" in out


def test_text_names_line_byte_and_caret(capsys, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(log(turn(), user(sourceEventSeqs=[7])))
    code, out = run(capsys, path)
    assert code == 1
    lines = out.splitlines()
    row = next(index for index, line in enumerate(lines) if line.lstrip().startswith("3 | "))
    caret = lines[row + 1].index("^")
    assert lines[row][caret:].startswith('"sourceEventSeqs":[7]')
    assert "found 7, expected seqs below 1" in lines[row + 1]


def test_what_could_move_a_cursor_is_escaped(capsys, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(log(turn(), {"type": "\x1b[2J\u202e"}))
    _, out = run(capsys, path)
    assert "\x1b[2J" not in out
    assert "\u202e" not in out
