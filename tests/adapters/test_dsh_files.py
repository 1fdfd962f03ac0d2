"""Log files put to the published backend: answers that come later, folders that go, and an older Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from conformance.adapters.dsh import node, provision
from conformance.ledger import load_ledger

HEADER = b'{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}\n'
START = b'{"type":"turn/start","seq":0}\n'


@pytest.fixture(scope="module")
def argv() -> list[str]:
    """The adapter on a Node that runs the backend; without one a skip, in CI a failure."""
    try:
        command = provision.command(provision.DEFAULT_VERSION, load_ledger().known_texts())
        if node.version_of(command[0]) >= node.STORAGE_NODE:
            return command
        reason = "the storage packages need Node 22.15 or newer"
    except provision.DshUnavailable as error:
        reason = str(error)
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must be able to run the published backend: {reason}")
    pytest.skip(reason)


def answers_to(argv: list[str], requests: list[dict], folder: Path) -> dict[int, dict]:
    """Answers by id; the process must end well, and leave nothing in its temporary folder."""
    lines = "".join(json.dumps({"id": number, **each}) + "\n" for number, each in enumerate(requests))
    env = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(argv, input=lines.encode(), capture_output=True, timeout=60, check=False, env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(folder.iterdir()) == []
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(requests)
    return {answer.pop("id"): answer for answer in answers}


def scan(data: bytes) -> dict:
    return {"op": "jsonl.scan", "hex": data.hex(), "compression": "none"}


def test_answers_that_come_later_are_all_given_before_the_end(argv, tmp_path):
    requests = []
    for number in range(150):
        requests.append(scan(HEADER + START + b"x" * number))
        requests.append({"op": "fold", "events": []})
    found = answers_to(argv, requests, tmp_path)
    for number in range(150):
        torn = None if number == 0 else len(HEADER + START)
        assert found[2 * number]["result"]["tornFrom"] == torn
        assert found[2 * number + 1]["result"]["nodes"] == []


def test_a_refusal_a_crash_and_a_fault_of_the_request_come_later_too(argv, tmp_path):
    found = answers_to(
        argv,
        [
            scan(HEADER + START + b'{"type":"turn/end","seq":4}\n'),
            scan(HEADER + b"null\n"),
            {"op": "jsonl.scan", "compression": "none"},
            {"op": "jsonl.path", "compression": "none"},
            scan(b'{"version":3}\n'),
        ],
        tmp_path,
    )
    assert (found[0]["rejected"]["condition"], found[0]["rejected"]["at"]) == ("jsonl-gap", 2)
    assert found[1]["crashed"].startswith("TypeError: ")
    assert "needs the member hex" in found[2]["error"]
    assert "needs the member session" in found[3]["error"]
    assert found[4]["rejected"]["condition"] == "format-newer", "the place of the file stands behind the text"


def test_a_file_is_read_by_its_path_and_left_alone(argv, tmp_path):
    path, work = tmp_path / "log", tmp_path / "work"
    work.mkdir()
    path.write_bytes(HEADER + START + b"{")
    found = answers_to(argv, [{"op": "jsonl.scan", "path": str(path), "compression": "none"}], work)
    assert found[0]["result"]["tornFrom"] == len(HEADER + START)
    assert path.read_bytes() == HEADER + START + b"{"


def test_an_older_node_does_not_declare_what_it_cannot_run(argv):
    older = next(
        (
            program
            for folder in os.get_exec_path()
            if (program := shutil.which("node", path=folder))
            and (20, 0) <= node.version_of(program) < node.STORAGE_NODE
        ),
        None,
    )
    if older is None:
        pytest.skip("no Node older than 22.15 is here")
    hello = b'{"id":0,"op":"hello","protocol":1}\n'
    done = subprocess.run([older, *argv[1:]], input=hello, capture_output=True, timeout=60, check=True)
    capabilities = json.loads(done.stdout)["result"]["capabilities"]
    assert "fold" in capabilities
    assert [name for name in capabilities if name.startswith("jsonl.")] == []


@pytest.mark.parametrize("version", [each for each in provision.VERSIONS if each != "0.1.0-rc.8"])
def test_a_version_without_a_backend_does_not_declare_it(version):
    assert provision.STORAGE not in (provision._LOCKS / version / "package.json").read_text()
