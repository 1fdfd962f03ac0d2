"""``run`` as a person meets it: output, report, exit codes, and one message for whatever is wrong."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import HEAD, WRONG, double_name, vector_text

from conformance import schemas
from conformance.cli import main


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text: str, name: str = "sample.yaml") -> str:
        Path(name).write_text(text)
        return name

    return write


def command(*words: str, **kwargs) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "conformance", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, **kwargs)


def records(path: str) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_the_reference_conforms(capsys):
    assert main(["run", "--strict", "condition,position"]) == 0
    out = capsys.readouterr().out
    assert "against reference: reference" in out
    assert out.rstrip().endswith("conforms in what it declares")


def test_a_failure_says_all_that_is_needed(vectors, capsys):
    file = vectors(WRONG)
    assert main(["run", "--vectors", file]) == 1
    out = capsys.readouterr().out
    for line in (
        "FAIL sample.wrong  [FOLD-2]",
        "  why      It expects what is not so.",
        "  differs  nodes[0]",
        "  expected 7",
        "  found    0",
        "  fault    implementation",
        "  case     sample.yaml:7",
        "  again    session-conformance run reference --select sample.wrong --vectors sample.yaml",
        "does not conform",
    ):
        assert line in out.splitlines(), line
    assert "\x1b" not in out


def test_the_command_that_repeats_a_case_repeats_it(vectors, capsys):
    file = vectors(WRONG + vector_text(3).removeprefix(HEAD.format(op="fold")))
    main(["run", "--vectors", file])
    again = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  again"))
    assert main(again.split()[2:]) == 1
    assert "1 case " in capsys.readouterr().out


def test_the_report_is_a_complete_stream(vectors):
    file = vectors(WRONG + vector_text(3).removeprefix(HEAD.format(op="fold")))
    assert main(["run", "--vectors", file, "--report", "out.ndjson"]) == 1
    stream = records("out.ndjson")
    for record in stream:
        assert schemas.fault("result-stream", record) is None, record
    assert [record["record"] for record in stream] == ["start", *["verdict"] * 4, "end"]
    assert stream[0]["cases"] == 4
    assert stream[-1]["complete"] is True
    assert stream[-1]["counts"] == {"pass": 3, "fail": 1}


def test_every_kind_of_verdict_fits_the_schema(vectors):
    file = vectors(vector_text(9, poison=7))
    for mode in ("dies", "error-answer", "unsupported-answer", "two-kinds", "declares-nothing"):
        main(["run", double_name(mode), "--vectors", file, "--report", "out.ndjson"])
        for record in records("out.ndjson"):
            assert schemas.fault("result-stream", record) is None, record


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (
            ["run", "refrence"],
            2,
            "unknown adapter 'refrence'; an adapter is one of: reference, store:NAME, dsh",
        ),
        (["run", "--select", "no.such.*"], 2, "no case is selected by --select 'no.such.*'"),
        (["run", "--topic", "nowhere"], 2, "no case is selected by --topic nowhere"),
        (["run", "--rule", "REPL-99"], 2, "unknown rule REPL-99"),
        (["run", "--strict", "texts"], 2, "strict knows condition and position, not texts"),
        (["run", "--vectors", "/no/such/place"], 2, "/no/such/place: does not exist"),
        (
            ["run", "--report", "/no/such/place/r"],
            2,
            "report /no/such/place/r cannot be written: No such file",
        ),
        (["run", "stdio:/no/such/program"], 3, "cannot be started: /no/such/program: No such file"),
        (["run", "stdio:'open"], 3, "cannot split the adapter command"),
        (["run", "stdio:true"], 3, "hello failed: the adapter exited with code 0"),
        (["run", "python:no_such_module:make"], 3, "ModuleNotFoundError: No module named 'no_such_module'"),
        (["run", "python:json:no_such"], 3, "AttributeError: module 'json' has no attribute"),
        (["run", "python:json"], 2, "must read python:package.module:factory"),
        (["run", "python:json:JSONDecoder"], 3, "the factory returned JSONDecoder, which is not callable"),
        (["rules", "NO-1"], 2, "unknown rule NO-1"),
        (["serve", "nothing"], 2, "unknown adapter 'nothing'"),
    ],
)
def test_wrong_use_is_one_message_and_the_right_code(words, code, told, capsys):
    assert main(words) == code
    err = capsys.readouterr().err
    assert told in err
    assert err.startswith("session-conformance: ")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("words", [[], ["run", "--jobs", "0"], ["run", "--time-limit", "x"], ["frobnicate"]])
def test_words_that_cannot_be_parsed(words, capsys):
    with pytest.raises(SystemExit) as caught:
        main(words)
    assert caught.value.code == 2
    assert "usage: session-conformance" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("mode", "code"),
    [
        ("dies", 1),
        ("hangs", 1),
        ("error-answer", 3),
        ("logs-on-stdout", 3),
        ("declares-nothing", 3),
        ("good", 0),
    ],
)
def test_exit_codes_of_adapters(vectors, mode, code, capsys):
    file = vectors(vector_text(9, poison=7))
    assert main(["run", double_name(mode), "--vectors", file, "--time-limit", "1"]) == code
    assert "Traceback" not in capsys.readouterr().err


def test_bad_vectors_go_before_a_bad_adapter(vectors, capsys):
    file = vectors(vector_text().replace("format: 1", "format: 2"))
    assert main(["run", double_name("dies-at-once"), "--vectors", file]) == 2
    assert "sample.yaml:1: " in capsys.readouterr().err


def test_optional_topics_run_only_when_named(vectors, capsys):
    text = vector_text().replace("edition: v0", "edition: v0\noptional: true")
    file = vectors(text)
    assert main(["run", "--vectors", file]) == 2
    for words in (["--topic", "sample"], ["--select", "sample.case-0"]):
        assert main(["run", "--vectors", file, *words]) == 0


def test_python_adapters_find_modules_in_the_working_directory(vectors, tmp_path):
    Path("my_port.py").write_text(
        "from conformance.adapters.reference import create\n"
        "def broken():\n    return lambda request: (_ for _ in ()).throw(ValueError('oops'))\n"
    )
    file = vectors(vector_text(2))
    good = command("run", "python:my_port:create", "--vectors", file, cwd=tmp_path)
    assert good.returncode == 0, good.stderr
    shared = command("run", "python:my_port:create", "--vectors", file, "-j", "2", cwd=tmp_path)
    assert shared.returncode == 0, shared.stderr
    bad = command("run", "python:my_port:broken", "--vectors", file, cwd=tmp_path)
    assert bad.returncode == 3
    assert "hello was answered with crashed: 'ValueError: oops'" in bad.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_marks_its_report_and_leaves_no_process(vectors, number):
    file = vectors(vector_text(9, poison=7))
    argv = [sys.executable, "-m", "conformance", "run", double_name("hangs"), "--vectors", file]
    argv += ["--report", "out.ndjson", "--time-limit", "30"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        time.sleep(0.1)
        started = Path("out.ndjson").exists()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        if started and children:
            break
    time.sleep(1)
    process.send_signal(number)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "interrupted after" in out
    assert "Traceback" not in err
    last = records("out.ndjson")[-1]
    assert last == {"record": "end", "complete": False, "exit": 130}
    assert schemas.fault("result-stream", last) is None
    for child in children:
        assert not Path(f"/proc/{child}").exists()


def test_output_into_a_closed_pipe_is_no_error():
    argv = [sys.executable, "-m", "conformance", "list"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(20) in (0, 141)


def test_progress_is_live_on_a_terminal_and_gone_at_the_end(vectors):
    file = vectors(vector_text(200))
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "conformance", "run", "--vectors", file, "-j", "2"],
        stdout=follower,
        stderr=follower,
        stdin=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
    os.close(leader)
    assert process.wait(20) == 0
    assert b"200" in shown
    assert b"conforms" in shown
    assert b"\x1b[" in shown


def test_the_package_runs_from_any_directory(tmp_path):
    done = command("run", "--select", "surface.replace.first-two", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
