"""Requests of ``doctor``: each operation has its own, and an adapter of one operation is examined."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import faulty_glue
import pytest

from conformance.adapters import reference
from conformance.adapters.registry import AdapterSpec
from conformance.doctor import samples, samples_stored
from conformance.doctor.examination import examine
from conformance.operations import BESIDE_OPERATIONS, OPERATIONS

ROOT = Path(__file__).resolve().parent.parent
GLUE = Path(faulty_glue.__file__)
SECONDS = 3
ONE_OF_EACH = sorted({op.partition("@")[0]: op for op in samples.ANY_OPERATION}.values())


def told(op, which, folder, text="hi"):
    """What the reference answers to a request, and the request."""
    home = folder / f"{which}-{len(list(folder.iterdir()))}"
    home.mkdir()
    body = samples.body(op, samples_stored.request(op, which, text))
    return reference.answer(json.loads(f"{{{body}".replace(samples_stored.FOLDER, str(home))))


def test_every_operation_has_a_request():
    assert {samples.name_of(op) for op in samples.ANY_OPERATION} == OPERATIONS.keys()
    assert set(reference.capabilities()) - set(samples.ANY_OPERATION) <= BESIDE_OPERATIONS
    assert set(samples.ANY_OPERATION) <= set(reference.capabilities())


def test_all_that_may_come_as_text_is_asked_so():
    asked = samples.all_as_text(samples.request("jsonl.path"), "jsonl.path")
    assert asked == {"cwd_text": '"/work"', "compression": "none", "session_text": '"s"'}
    fork = samples.all_as_text(samples.request("fork"), "fork")
    assert {"header_text", "events_text", "boundary_text", "childId"} <= fork.keys()


@pytest.mark.parametrize("op", samples_stored.OPERATIONS)
def test_requests_are_what_they_are_called(op, tmp_path):
    small, other, refused = (told(op, which, tmp_path) for which in ("small", "other", "refused"))
    assert samples.wrong_result(op, small["result"]) is None
    assert "result" in other
    assert (small == other) == op.startswith("sqlite.open")
    assert ("rejected" in refused) == (op in samples_stored.REFUSING)


@pytest.mark.parametrize("op", samples_stored.OPERATIONS)
def test_a_text_comes_back_where_it_is_said_to(op, tmp_path):
    text = "caf\u00e9 \U0001f600 a\0b"
    found = samples.walk_texts(told(op, "small", tmp_path, text)["result"])
    assert (text in found) == (op in samples_stored.CARRYING)


def one_operation(op, fault, folder):
    """An adapter that declares one operation only, with a fault in its glue, or none."""
    program = folder / "glue.py"
    program.write_text(
        f"import sys\nsys.path.insert(0, {str(GLUE.parent)!r})\nimport faulty_glue\n"
        f"faulty_glue.of_one_operation({op!r}, {fault!r})()\n"
    )
    return AdapterSpec("glue", command=lambda: [sys.executable, str(program)], env={"PYTHONPATH": str(ROOT)})


def findings(op, fault, folder):
    diagnosis = examine(one_operation(op, fault, folder), SECONDS)
    return [each.id for each in diagnosis.findings if each.id != "slow-start"]


@pytest.mark.parametrize("op", ONE_OF_EACH)
def test_sound_glue_of_one_operation_has_no_findings(op, tmp_path):
    assert findings(op, "sound", tmp_path) == []


@pytest.mark.parametrize("op", ONE_OF_EACH)
@pytest.mark.parametrize(
    ("fault", "finding"), [("forgets-members", "result-shape"), ("never-answers", "declared-unsupported")]
)
def test_a_fault_in_any_operation_is_found(op, fault, finding, tmp_path):
    assert finding in findings(op, fault, tmp_path)


@pytest.mark.parametrize(
    ("op", "fault", "finding"),
    [
        ("rows.scan@17", "text-unknown", "text-ignored"),
        ("admit@restored", "text-unknown", "text-ignored"),
        ("backend", "text-unknown", "text-ignored"),
        ("jsonl.path", "text-unknown", "text-ignored"),
        ("chunks.unpack@sqlite", "refusal-as-crash", "refusal-as-crash"),
        ("sqlite.open@17", "refusal-as-crash", "refusal-as-crash"),
        ("jsonl.load", "refusal-as-error", "refusal-as-crash"),
        ("normalise", "question-marks", "non-ascii-lost"),
        ("rows.decode@20", "question-marks", "non-ascii-lost"),
        ("jsonl.scan", "question-marks", "non-ascii-lost"),
        ("backend", "c-strings", "nul-lost"),
        ("chunks.pack@jsonl", "short-lines", "large-request"),
        ("jsonl.scan", "short-lines", "large-request"),
        ("rows.encode@17", "takes-offence", "state-leaks"),
        ("closers", "shared-id", "answers-mixed"),
        ("jsonl.path", "drops-open", "unfinished"),
        ("fork", "catches-all", "exception-as-refusal"),
        ("request-header", "catches-all", "exception-as-refusal"),
    ],
)
def test_classes_of_faults_are_found_in_operations_about_what_is_stored(op, fault, finding, tmp_path):
    assert finding in findings(op, fault, tmp_path)
