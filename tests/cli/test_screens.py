"""What a person sees where the screen, the disk or the program under test is not as one would wish."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support import WRONG

from conformance.cli import main

LOG = (
    '{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}\n'
    '{"type":"user/message","seq":0,"time":1,"data":{"id":"m","role":"user","source":{"kind":"user"},'
    '"content":[{"type":"text","text":"TEXT"}]},"surfaceOp":"append"}\n'
    '{"type":"turn/start","seq":1,"time":2,"data":{"turn":1}}\n'
)
LIAR = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"protocol": 1, "implementation": {"name": "l"}, "capabilities": ["backend"], "editions": ["v0"]}
    told = {"result": answer} if asked["op"] == "hello" else LIE
    print(json.dumps({"id": asked["id"], **told}) if told is not None else "junk", flush=True)
"""


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "conformance", *words],
        capture_output=True, check=False, env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_an_encoding_without_the_letter_gets_its_number(tmp_path, encoding):
    log = tmp_path / "log.jsonl"
    log.write_text(LOG.replace("TEXT", "a\u2192b" + "c" * 500), "utf-8")
    done = command("explain", str(log), PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u2192" in done.stdout
    assert rb"\u2026" in done.stdout  # what is cut ends so


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["run", "--help"], ["list"]])
def test_a_full_disk_is_one_message(words):
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "conformance", *words],
            check=False, stdout=full, stderr=subprocess.PIPE, text=True, env=buffered,
        )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr == "session-conformance: [Errno 28] No space left on device\n"


def test_a_repair_that_cannot_be_written_is_not_told(tmp_path, capsys):
    log, there = tmp_path / "log.jsonl", tmp_path / "there.jsonl"
    log.write_text(LOG)
    there.write_text("")
    for target, told in ((there, "is there already"), (tmp_path / "none" / "new.jsonl", "is no folder")):
        assert main(["repair", str(log), "--output", str(target)]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert told in printed.err
    assert there.read_text() == ""


def test_the_command_that_shows_a_case_finds_it(tmp_path, capsys):
    file = tmp_path / "own file.yaml"
    file.write_text(WRONG)
    assert main(["run", "--vectors", str(file)]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  show ")]
    words = shlex.split(line.removeprefix("  show "))
    assert main(words[1:]) == 0
    assert "sample.wrong" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lie", "told"),
    [
        ({"result": {}}, "holds an answer to each step"),
        ({"result": None}, "holds an answer to each step"),
        ({"result": {"steps": [7, 7, 7]}}, "holds an answer to each step"),
        (None, "a line that is no JSON"),
    ],
)
def test_a_backend_that_lies_is_at_fault_in_kill_trials(lie, told, tmp_path, capsys):
    liar = tmp_path / "liar.py"
    liar.write_text(LIAR.replace("LIE", repr(lie)))
    adapter = f"stdio:{shlex.join([sys.executable, str(liar)])}"
    assert main(["kill-trials", adapter, "--trials", "1"]) == 3
    assert told in capsys.readouterr().err


def test_a_model_is_no_store_to_kill(capsys):
    assert main(["kill-trials", "reference", "--trials", "1"]) == 2
    assert "store:jsonl" in capsys.readouterr().err
