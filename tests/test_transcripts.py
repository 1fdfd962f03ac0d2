"""The transcripts that others replay: the reference, over a pipe, still answers as they say.

To answer the requests of all transcripts anew: ``python tests/test_transcripts.py``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
TRANSCRIPTS = sorted((ROOT / "spec" / "transcripts").glob("*.jsonl"))
SERVE = [sys.executable, "-P", "-m", "conformance", "serve", "reference"]
KINDS = {"result", "rejected", "crashed", "unsupported", "error"}


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def ask(requests: list[Any]) -> list[dict[str, Any]]:
    """The answers of the reference to these requests, as lines of one process."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    done = subprocess.run(
        SERVE, input=lines, capture_output=True, text=True, check=True, timeout=60, cwd=ROOT
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_there_is_one():
    assert [path.name for path in TRANSCRIPTS] == ["first-steps.jsonl"]


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_requests_and_answers_alternate(path):
    lines = entries(path)
    assert [[*line] for line in lines] == [["send"], ["receive"]] * (len(lines) // 2)
    for sent, received in zip(lines[::2], lines[1::2], strict=True):
        assert received["receive"]["id"] == sent["send"]["id"]
        assert len(KINDS & received["receive"].keys()) == 1


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_the_reference_answers_as_the_transcript_says(path):
    lines = entries(path)
    answers = ask([line["send"] for line in lines[::2]])
    assert answers[1:] == [line["receive"] for line in lines[3::2]]
    assert differing(path, answers) == []


def test_a_difference_is_found():
    path = TRANSCRIPTS[0]
    answers = ask([line["send"] for line in entries(path)[::2]])
    answers[3]["result"]["nodes"] = [0, 1]
    answers[5]["rejected"]["at"] = 0
    answers[7]["rejected"]["message"] = "other words"
    assert differing(path, answers) == [3, 5]


def differing(path: Path, answers: list[dict[str, Any]]) -> list[int]:
    """The ids of answers that differ, by the rules of ``spec/transcripts/README.md``."""
    lines = entries(path)
    found = []
    for sent, told, answer in zip(lines[::2], lines[1::2], answers, strict=True):
        offered = [*answers[0]["result"]["capabilities"], "hello", "no.such.operation"]
        if sent["send"]["op"] in offered and essence(answer) != essence(told["receive"]):
            found.append(sent["send"]["id"])
    return found


def essence(answer: dict[str, Any]) -> Any:
    """What of an answer is compared."""
    (kind,) = KINDS & answer.keys()
    value = answer[kind]
    if kind == "rejected":
        value = {name: value.get(name) for name in ("condition", "at")}
    elif kind != "result":
        value = None
    elif "protocol" in value:
        value = value["protocol"]
    else:
        value = {
            name.removesuffix("_text"): json.loads(member) if name.endswith("_text") else member
            for name, member in value.items()
        }
    return answer["id"], kind, value


def test_the_first_steps_show_every_kind_but_a_crash():
    kinds = {kind for line in entries(TRANSCRIPTS[0])[1::2] for kind in KINDS & line["receive"].keys()}
    assert kinds == KINDS - {"crashed"}


def rewrite(path: Path) -> None:
    requests = [line["send"] for line in entries(path) if "send" in line]
    pairs = zip(requests, ask(requests), strict=True)
    lines = [part for sent, received in pairs for part in ({"send": sent}, {"receive": received})]
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), "ascii")


if __name__ == "__main__":
    for each in TRANSCRIPTS:
        rewrite(each)
