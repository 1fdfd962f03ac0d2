"""``doctor``: every fault of glue gets its finding and no other, sound glue gets none, and it always ends."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import faulty_glue
import pytest
from support import double_argv

from conformance import schemas
from conformance.adapters.registry import AdapterSpec, resolve
from conformance.cli import main
from conformance.doctor import examination, greeting
from conformance.doctor.catalogue import CATALOGUE
from conformance.doctor.conversation import Conversation
from conformance.doctor.examination import CHECKS, Diagnosis, examine
from conformance.doctor.findings import SEVERITIES, by_severity
from conformance.doctor.reading import Marks, Reader, Unreadable

ROOT = Path(__file__).resolve().parent.parent
GLUE = Path(faulty_glue.__file__)
PROTOCOL = (ROOT / "spec" / "protocol.md").read_text("utf-8")
PAGE = (ROOT / "docs" / "doctor.md").read_text("utf-8")
SECONDS = 1.5
BEYOND_GLUE = {"cannot-start", "not-finished"}
"""Findings that no program can bring about; they have tests of their own."""


HOSTILE = (
    "prints-for-ever", "prints-for-ever-on-case", "one-endless-line", "silent-on-case",
    "dies-after-hello", "leaks", "ignores-signals", "keeps-pipe-open",
    "stops-reading", "closes-stdout", "long-integer", "nan-answer",
    "byte-by-byte", "hello-error", "wrong-then-dies",
)  # fmt: skip
"""Doubles of the runner's tests that are more than a slip of glue."""


def spec_of(*words: str) -> AdapterSpec:
    environment = {"PYTHONPATH": str(ROOT), "SLOW_START": "0.8"}
    return AdapterSpec("glue", command=lambda: [sys.executable, str(GLUE), *words], env=environment)


def diagnose(*words: str) -> Diagnosis:
    diagnosis = examine(spec_of(*words), SECONDS)
    assert schemas.fault("doctor", diagnosis.record()) is None
    return diagnosis


def ids(diagnosis: Diagnosis) -> list[str]:
    return [finding.id for finding in diagnosis.findings]


@pytest.fixture(autouse=True)
def soon_slow(monkeypatch):
    monkeypatch.setattr(greeting, "SLOW_SECONDS", 0.75)


@pytest.mark.parametrize("name", faulty_glue.FAULTS)
def test_a_fault_gets_its_finding_and_no_other(name, tmp_path, monkeypatch):
    fault = faulty_glue.FAULTS[name]
    if name != "slow-start":  # a loaded machine is no fault of the glue
        monkeypatch.setattr(greeting, "SLOW_SECONDS", 60.0)
    diagnosis = diagnose(name, str(tmp_path / "mark"))
    (finding,) = diagnosis.findings
    assert (finding.id, finding.severity) == (fault.finding, fault.severity)
    assert fault.fix in finding.fix
    assert diagnosis.exit_code == (3 if fault.severity == "error" else 0)


@pytest.mark.parametrize("name", faulty_glue.SOUND)
def test_sound_glue_has_no_findings(name, monkeypatch):
    monkeypatch.setattr(greeting, "SLOW_SECONDS", 60.0)
    diagnosis = diagnose(name)
    assert (diagnosis.findings, diagnosis.not_made) == ([], [])
    assert len(diagnosis.made) == len(CHECKS)


def test_every_finding_of_the_catalogue_has_a_fault():
    assert {fault.finding for fault in faulty_glue.FAULTS.values()} == CATALOGUE.keys() - BEYOND_GLUE


@pytest.mark.parametrize(
    "check", [check for check in CHECKS if check.name != "hello"], ids=lambda each: each.name
)
def test_without_its_check_a_fault_is_not_found(check, monkeypatch, tmp_path):
    """The plant: a check that is taken out must be missed by a fault that it alone finds."""
    name = ONLY_SEEN_BY[check.name]
    left = tuple(each for each in CHECKS if each is not check)
    monkeypatch.setattr(examination, "CHECKS", left)
    monkeypatch.setattr(greeting, "SLOW_SECONDS", 60.0)
    assert faulty_glue.FAULTS[name].finding not in ids(diagnose(name, str(tmp_path / "mark")))


ONLY_SEEN_BY = {
    "capabilities": "nothing-declared",
    "first answer": "one-behind",
    "state": "state",
    "declared operations": "declared-not-answered",
    "text spelling": "text-unknown",
    "text that is not plain": "text-checked",
    "missing members": "catches-all",
    "invalid logs": "refusal-as-crash",
    "position": "at-is-seq",
    "empty log": "empty-is-missing",
    "large ids": "id-32-bits",
    "large integers": "32-bits",
    "texts": "c-strings",
    "lone surrogates": "surrogate-replaced",
    "deep text": "text-shallow",
    "unknown operation": "edition-ignored",
    "undeclared operations": "answers-undeclared",
    "unknown member": "denies-members",
    "requests together": "shared-id",
    "a request in parts": "chunk-is-line",
    "a large request": "short-lines",
    "end of input": "exit-code",
    "end of input with open requests": "drops-open",
    "another protocol": "hello-takes-any",
    "restart": "changes",
}
"""For every check, a fault that no other check finds."""


SOUND_HERE = (
    "reference", "python:conformance.adapters.reference:create",
    "store:jsonl", "store:jsonl-zstd", "store:sqlite20",
    "dsh", "dsh-backend:jsonl", "dsh-backend:sqlite14",
)  # fmt: skip


@pytest.mark.parametrize("name", SOUND_HERE)
def test_adapters_of_this_package_are_sound(name):
    adapter = resolve(name)
    if name.startswith("dsh"):
        from conformance.errors import AdapterError

        try:
            adapter.command()
        except AdapterError as error:
            pytest.skip(str(error))
    diagnosis = examine(adapter)
    beside = {"slow-start", "out-of-order"}  # one is of the machine, the other is no fault
    assert {finding.id for finding in diagnosis.findings} <= beside


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_whatever_the_adapter_does(name, tmp_path):
    environment = {"PYTHONPATH": str(ROOT)}
    spec = AdapterSpec(name, command=lambda: double_argv(name, str(tmp_path / "mark")), env=environment)
    began = time.monotonic()
    diagnosis = examine(spec, 1.0)
    assert time.monotonic() - began < 30
    assert schemas.fault("doctor", diagnosis.record()) is None


def test_a_silent_adapter_takes_less_than_a_minute():
    assert min(examination.ANSWER_SECONDS * 6, 30) + 2 * examination.ANSWER_SECONDS < 60
    assert examination.TOTAL_SECONDS + examination.ANSWER_SECONDS < 60


def test_no_process_is_left_behind(tmp_path):
    """Processes are told by their last argument, for other tests may run beside this one."""
    mark = str(tmp_path / "mark")
    own = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", mark])
    try:
        for name in ("stays", "keeps-a-child", "not-flushed", "no-answer"):
            diagnose(name, mark)
        assert running(mark) == [own.pid], "the search finds what runs, and nothing else does"
    finally:
        own.kill()
        own.wait()


def running(mark: str) -> list[int]:
    """The processes that were given an argument."""
    shown = subprocess.run(
        ["ps", "-eww", "-o", "pid=,args="], capture_output=True, text=True, check=True
    ).stdout
    return [int(line.split()[0]) for line in shown.splitlines() if mark in line]


def test_what_cannot_start_is_a_finding():
    diagnosis = examine(AdapterSpec("none", command=lambda: ["/no/such/program"]), SECONDS)
    (finding,) = diagnosis.findings
    assert finding.id == "cannot-start"
    assert "/no/such/program" in finding.received
    assert "executable" in finding.fix


def test_checks_that_there_was_no_time_for_are_told():
    diagnosis = examine(spec_of("sound"), SECONDS, 0.3)
    assert ids(diagnosis) in (["not-finished"], ["slow-start", "not-finished"])
    assert diagnosis.not_made
    assert diagnosis.exit_code == 0


@pytest.mark.parametrize("capability", ["seqs.encode@15", "seqs.decode@19", "backend"])
def test_an_adapter_of_one_operation_is_examined(capability, tmp_path):
    program = tmp_path / "cells.py"
    program.write_text(
        f"import sys\nsys.path.insert(0, {str(GLUE.parent)!r})\nimport faulty_glue\n"
        f"faulty_glue.hello(capabilities=[{capability!r}])()\n"
    )
    spec = AdapterSpec("cells", command=lambda: [sys.executable, str(program)], env={"PYTHONPATH": str(ROOT)})
    diagnosis = examine(spec, SECONDS)
    assert [each.id for each in diagnosis.findings if each.severity != "note"] in ([], ["slow-start"])


# -- the command ---------------------------------------------------------------------


def name_of(fault: str) -> str:
    return "stdio:" + shlex.join([sys.executable, str(GLUE), fault])


@pytest.fixture
def importable(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def test_the_command_shows_findings(importable, capsys, tmp_path):
    file = tmp_path / "doctor.json"
    assert main(["doctor", name_of("catches-all"), "--json", str(file), "--time-limit", "3"]) == 3
    shown = capsys.readouterr().out
    for word in ("ERROR exception-as-refusal", "  what ", "  sent ", "  back ", "  why ", "  fix "):
        assert word in shown
    assert re.search(r"^\d+ checks, 1 error", shown, re.MULTILINE)
    record = json.loads(file.read_text("ascii"))
    assert schemas.fault("doctor", record) is None
    assert record["exit"] == 3
    assert record["findings"][0]["id"] == "exception-as-refusal"


@pytest.fixture
def patient(monkeypatch):
    """A loaded machine is no fault of the glue."""
    monkeypatch.setattr(greeting, "SLOW_SECONDS", 60.0)


def test_the_command_says_that_glue_is_sound(importable, capsys, patient):
    assert main(["doctor", name_of("sound"), "--time-limit", "5"]) == 0
    assert f"{len(CHECKS)} checks, no findings: the glue is sound" in capsys.readouterr().out


def test_a_note_alone_does_not_fail(importable, capsys, patient):
    assert main(["doctor", name_of("crlf"), "--time-limit", "3"]) == 0
    assert "1 note: nothing that would make verdicts wrong" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["nobody"], ["reference", "--time-limit", "0"], ["reference", "--json", "/no/f"]]
)
def test_wrong_use_is_two(words, capsys):
    try:
        code = main(["doctor", *words])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_factory_that_does_not_load_is_a_finding(capsys):
    assert main(["doctor", "python:no_such_module:create"]) == 3
    shown = capsys.readouterr().out
    assert "dies-at-start" in shown
    assert "no_such_module" in shown


# -- what a finding says ---------------------------------------------------------------


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda entry: entry.id)
def test_an_entry_points_into_the_protocol_page(entry):
    assert entry.severity in SEVERITIES
    assert re.search(rf"^#+ {re.escape(entry.section)}$", PROTOCOL, re.MULTILINE)


def test_the_page_has_every_finding_with_its_severity():
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (\w+) \|", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted((entry.id, entry.severity) for entry in CATALOGUE.values())


def test_one_finding_per_id_and_the_most_severe_first():
    from conformance.doctor.catalogue import finding

    found = [finding("crlf", "", "a"), finding("dies", "", "b", severity="warning"), finding("dies", "", "c")]
    merged = by_severity(found)
    assert [(each.id, each.severity, each.received) for each in merged] == [
        ("dies", "error", "c"),
        ("crlf", "note", "a"),
    ]


def test_evidence_is_short(patient):
    for name in ("short-lines", "long-lines-lost"):
        (finding,) = diagnose(name).findings
        assert len(finding.sent) < 500
        assert "characters)" in finding.sent


# -- reading -----------------------------------------------------------------------------


def read(*lines: bytes) -> tuple[list[object], list[str]]:
    marks = Marks()
    reader = Reader(marks)
    found = [message for line in lines for message, _ in reader.feed(line)]
    found += [message for message, _ in reader.finish()]
    return [each.text if isinstance(each, Unreadable) else each for each in found], sorted(marks.names())


@pytest.mark.parametrize(
    ("lines", "messages", "marks"),
    [
        ([b'{"id":1,"result":{}}'], [{"id": 1, "result": {}}], []),
        ([b'\xef\xbb\xbf{"id":1}\r'], [{"id": 1}], ["bom", "crlf"]),
        ([b"{", b'"id": 1', b"}"], [{"id": 1}], ["many-lines"]),
        ([b"{", b'"id": 1', b'{"id":2,"result":{}}'], ['{\n"id": 1', {"id": 2, "result": {}}], []),
        ([b'{"id":1}{"id":2}'], [{"id": 1}, {"id": 2}], ["no-line-end"]),
        ([b'> {"id":1}'], [{"id": 1}], ["stdout-log"]),
        ([b"[1]", b"5", b"ready"], [], ["stdout-log"]),
        ([b""], [], ["blank-line"]),
        ([b"{'id': 1}"], ["{'id': 1}"], []),
        ([b'{"id":1,"error":"\xff"}'], [{"id": 1, "error": "\ufffd"}], ["invalid-utf8"]),
        ([b'{"level":"info"}'], [], ["stdout-log"]),
        ([b"[" * 100_000], [], ["stdout-log"]),
    ],
)  # fmt: skip
def test_lines_are_read_with_patience(lines, messages, marks):
    assert read(*lines) == (messages, marks)


def test_a_conversation_is_ended_when_it_is_closed():
    spec = spec_of("stays")
    from conformance.doctor.target import target_of

    target = replace(target_of(spec), env={**os.environ, "PYTHONPATH": str(ROOT)})
    talk = Conversation(target, Marks())
    talk.close()
    assert talk.process.returncode is not None
