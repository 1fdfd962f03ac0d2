"""Reports from a stored stream: JUnit that validates, Markdown, JSON, and parts that say so."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support import double_name, vector_text

from conformance import schemas
from conformance.cli import main
from conformance.reports.junit import clean


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A stream with passes, crashes, and a fault of the adapter."""
    monkeypatch.chdir(tmp_path)
    Path("sample.yaml").write_text(vector_text(9, poison=7))

    def run(mode: str = "dies", *words: str) -> str:
        main(["run", double_name(mode), "--vectors", "sample.yaml", "--report", "out.ndjson", *words])
        return "out.ndjson"

    return run


def report(stream: str) -> tuple[int, ET.Element, str, dict]:
    code = main(["report", stream, "--junit", "j.xml", "--markdown", "m.md", "--json", "s.json"])
    document = json.loads(Path("s.json").read_text())
    assert schemas.fault("summary", document) is None
    return code, ET.parse("j.xml").getroot(), Path("m.md").read_text(), document


def test_all_three_tell_the_same(stored, capsys):
    code, junit, markdown, summary = report(stored())
    assert code == 0
    suite = junit.find("testsuite[@name='sample']")
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "9", "failures": "0", "errors": "1", "skipped": "0",
    }  # fmt: skip
    error = suite.find("testcase[@name='sample.case-7']/error")
    assert error.get("type") == "crashed"
    assert "SIGABRT" in error.get("message")
    assert "why: It appends." in error.text
    assert "does not conform" in markdown
    assert "### crashed: `sample.case-7`" in markdown
    assert summary["counts"] == {"pass": 8, "crashed": 1}
    assert (summary["complete"], summary["exit"], summary["outcome"]) == (True, 1, "does not conform")
    assert summary["failures"][0]["case"] == "sample.case-7"


def test_junit_is_valid_against_the_common_schema(stored, capsys):
    """The structure that CI servers agree on: names, counts that add up, one outcome per test case."""
    for mode in ("dies", "error-answer", "logs-on-stdout", "declares-nothing", "unsupported-answer"):
        _, junit, _, _ = report(stored(mode))
        assert junit.tag == "testsuites"
        for suite in junit:
            assert suite.tag == "testsuite"
            cases = suite.findall("testcase")
            assert int(suite.get("tests")) == len(cases)
            for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
                assert int(suite.get(name)) == len(suite.findall(f"testcase/{tag}"))
            for case in cases:
                assert case.get("name")
                assert case.get("classname")
                assert len(case) <= 1


def test_the_faults_of_a_run_are_in_every_report(stored, capsys):
    _, junit, markdown, summary = report(stored("logs-on-stdout"))
    assert "logs belong on stderr" in junit.find("testsuite[@name='the run itself']/testcase/error").get(
        "message"
    )
    assert "logs belong on stderr" in markdown
    assert summary["outcome"] == "adapter at fault"


def test_a_part_says_that_it_is_one(stored, capsys):
    stream = Path(stored())
    lines = stream.read_text().splitlines(keepends=True)
    Path("cut.ndjson").write_text("".join(lines[:4]))
    _, junit, markdown, summary = report("cut.ndjson")
    told = "cut off after 3 of 9 cases"
    assert told in junit.find("testsuite[@name='the run itself']/testcase/error").get("message")
    assert told in markdown.replace("\\", "")
    assert (summary["complete"], "exit" in summary) == (False, False)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "does not begin with a start record"),
        ("no json\n", "x.ndjson:1: is no record"),
        ("[]\n", "x.ndjson:1: is no record"),
        ('{"record":"end","complete":true,"exit":0}\n', "does not begin with a start record"),
        ('{"record":"verdict"}\n', "x.ndjson:1: "),
    ],
)
def test_what_is_no_stream_is_one_message(stored, capsys, content, told):
    Path("x.ndjson").write_text(content)
    assert main(["report", "x.ndjson", "--json", "s.json"]) == 2
    assert told in capsys.readouterr().err
    assert not Path("s.json").exists()


def test_nothing_asked_for_and_nothing_written(stored, capsys):
    stream = stored()
    assert main(["report", stream]) == 2
    assert main(["report", stream, "--json", "/no/such/place/s.json"]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_text_that_xml_cannot_hold_is_escaped():
    assert clean("a\0b\x1b[31m\ud800\U0001f600\ufffe") == "a\\u0000b\\u001b[31m\\ud800\U0001f600\\ufffe"
    ET.fromstring(f"<a>{clean(chr(0) + chr(0x1B))}</a>")
