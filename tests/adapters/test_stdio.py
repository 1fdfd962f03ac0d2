"""Adapters behind a pipe: each misbehaviour ends with the right verdicts and no process left."""

from __future__ import annotations

import os
import sys
import time
import uuid
from pathlib import Path

import pytest
from support import QUICK, double_argv, run_double, sample_cases

from conformance.adapters.limits import Limits
from conformance.adapters.registry import AdapterSpec
from conformance.adapters.stdio import split_command
from conformance.engine import run
from conformance.errors import AdapterError
from conformance.ledger import load_ledger

POISON = "sample.case-7"


def processes_with(token: str) -> list[int]:
    """Live processes, other than this one, that inherited a token in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if token.encode() in environment:
                found.append(int(entry.name))
    return found


@pytest.fixture(autouse=True)
def _no_process_left(monkeypatch):
    token = uuid.uuid4().hex
    monkeypatch.setenv("ADAPTER_TEST_TOKEN", token)
    yield
    deadline = time.monotonic() + 2  # a killed process takes a moment to be gone
    while processes_with(token) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert processes_with(token) == []


def statuses(verdicts) -> dict[str, str]:
    return {case: record["status"] for case, record in verdicts.items() if record["status"] != "pass"}


def test_good(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 200), "good")
    assert statuses(verdicts) == {}
    assert (end["exit"], end["problems"]) == (0, [])


@pytest.mark.parametrize("jobs", [2, 5])
def test_several_processes(tmp_path, jobs):
    verdicts, end = run_double(sample_cases(tmp_path, 200), "good", jobs=jobs)
    assert statuses(verdicts) == {}
    assert end["exit"] == 0


def test_out_of_order(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 99), "out-of-order")
    assert statuses(verdicts) == {}
    assert (end["exit"], end["problems"]) == (0, [])


@pytest.mark.parametrize("jobs", [1, 3])
def test_only_the_case_that_kills_is_blamed(tmp_path, jobs):
    verdicts, end = run_double(sample_cases(tmp_path, 100, poison=7), "dies", jobs=jobs)
    assert statuses(verdicts) == {POISON: "crashed"}
    assert verdicts[POISON]["fault"] == "implementation"
    assert "SIGABRT" in verdicts[POISON]["message"]
    assert "about to fail on the poison" in verdicts[POISON]["stderr"]
    assert (end["exit"], end["problems"]) == (1, [])


def test_only_the_case_that_hangs_is_blamed(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 100, poison=7), "hangs")
    assert statuses(verdicts) == {POISON: "timeout"}
    assert verdicts[POISON]["message"] == "no answer within 1 s"
    assert (end["exit"], end["problems"]) == (1, [])


def test_dying_in_the_middle_of_an_answer(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 20, poison=7), "dies-in-answer")
    assert statuses(verdicts) == {POISON: "crashed"}
    assert "code 4" in verdicts[POISON]["message"]
    assert end["exit"] == 3
    assert "cut short" in end["problems"][0]


def test_a_child_that_keeps_the_pipe_open(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 20, poison=7), "keeps-pipe-open")
    assert statuses(verdicts) == {POISON: "crashed"}
    assert end["exit"] == 1


def test_log_lines_on_stdout_are_charged_to_the_run(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 50), "logs-on-stdout")
    assert statuses(verdicts) == {}
    assert end["exit"] == 3
    assert "logs belong on stderr" in end["problems"][0]
    assert end["problems"][-1] == "… and 30 more like these"


def test_second_answers_are_charged_to_the_run(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 3), "answers-twice")
    assert statuses(verdicts) == {}
    assert end["exit"] == 3
    assert len(end["problems"]) == 3


def test_an_answer_under_another_id_is_no_answer(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 20, poison=7), "wrong-id")
    assert statuses(verdicts) == {POISON: "adapter-error"}
    assert "lines that answer nothing" in verdicts[POISON]["message"]
    assert end["exit"] == 3
    assert "answers no open request" in end["problems"][0]


def test_an_answer_of_two_kinds_is_the_adapters_fault(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 2), "two-kinds")
    assert set(statuses(verdicts).values()) == {"adapter-error"}
    assert verdicts["sample.case-0"]["fault"] == "adapter"
    assert end["exit"] == 3


@pytest.mark.parametrize(("mode", "told"), [("bad-utf8", "decode"), ("nan-answer", "NaN is no JSON")])
def test_a_line_that_is_no_json(tmp_path, mode, told):
    verdicts, end = run_double(sample_cases(tmp_path, 8, poison=7), mode)
    assert statuses(verdicts) == {}
    assert end["exit"] == 3
    assert told in end["problems"][0]


def test_a_flood_on_stderr_changes_nothing(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 50), "floods-stderr", limits=Limits(answer_seconds=5))
    assert statuses(verdicts) == {}
    assert end["exit"] == 0


def test_an_error_answer_is_the_adapters_fault(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 20, poison=7), "error-answer")
    assert statuses(verdicts) == {POISON: "adapter-error"}
    assert verdicts[POISON]["message"] == "no database"
    assert end["exit"] == 3


def test_unsupported_is_no_answer_to_what_was_declared(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 2), "unsupported-answer")
    assert set(statuses(verdicts).values()) == {"unsupported"}
    assert verdicts["sample.case-0"]["fault"] == "adapter"
    assert end["exit"] == 1


def test_an_adapter_that_prints_for_ever_is_given_up(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 5), "prints-for-ever-on-case")
    assert set(statuses(verdicts).values()) == {"not-run"}
    assert end["exit"] == 3


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("prints-for-ever", "lines that answer nothing"),
        ("one-endless-line", "64 MiB without a line end"),
        ("silent", "no answer within 3 s"),
        ("dies-at-once", "exited with code 3"),
        ("hello-error", "no licence"),
        ("hello-protocol-2", "protocol"),
    ],
)
def test_a_failed_hello_ends_the_run_with_one_message(tmp_path, mode, told):
    with pytest.raises(AdapterError, match=told) as caught:
        run_double(sample_cases(tmp_path), mode)
    assert caught.value.exit_code == 3
    assert len(str(caught.value)) < 3000


def test_silence_on_every_case_ends(tmp_path):
    limits = Limits(answer_seconds=0.2, restarts=4)
    verdicts, end = run_double(sample_cases(tmp_path, 6), "silent-on-case", limits=limits)
    assert set(statuses(verdicts).values()) == {"timeout", "not-run"}
    assert len(statuses(verdicts)) == 6
    assert end["exit"] == 1


def test_death_on_every_case_ends(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 100), "dies-after-hello")
    assert set(statuses(verdicts).values()) == {"crashed", "not-run"}
    assert "processes died or hung before it" in verdicts["sample.case-99"]["message"]
    assert end["exit"] == 1


def test_a_death_that_no_request_explains_is_charged_to_the_run(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 12), "leaks")
    assert statuses(verdicts) == {}
    assert end["exit"] == 3
    assert any("code 7" in problem for problem in end["problems"])


def test_an_adapter_that_ignores_the_end_of_input(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 3), "ignores-end")
    assert statuses(verdicts) == {}
    assert end["exit"] == 3
    assert "did not exit" in end["problems"][0]


def test_a_bad_exit_code_at_the_end_of_input(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 3), "exits-nonzero")
    assert statuses(verdicts) == {}
    assert end["exit"] == 3
    assert "code 9" in end["problems"][0]


def test_capabilities_may_not_change_after_a_restart(tmp_path):
    mark = str(tmp_path / "started-before")
    verdicts, end = run_double(sample_cases(tmp_path, 20, poison=7), "changes-capabilities", mark)
    assert end["exit"] == 3
    assert "other capabilities after a restart" in " ".join(end["problems"])
    assert set(statuses(verdicts).values()) == {"not-run"}


def test_nothing_declared(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 3), "declares-nothing")
    assert set(statuses(verdicts).values()) == {"undeclared"}
    assert end["exit"] == 3


SLOW = Limits(answer_seconds=5.0, hello_seconds=5.0, exit_seconds=1.0)


@pytest.mark.parametrize(
    ("mode", "status", "fault", "code", "told"),
    [
        ("answers-late", "pass", None, 0, None),
        ("with-crlf", "pass", None, 0, None),
        ("byte-by-byte", "pass", None, 0, None),
        ("exits-early", "pass", None, 3, "exited with code 0"),
        ("repeats-hello", "pass", None, 3, "answers no open request"),
        ("half-a-line", "timeout", "implementation", 1, None),
        ("huge-line", "crashed", "implementation", 1, None),
        ("large-answer", "fail", "implementation", 1, None),
        ("deep-answer", "adapter-error", "adapter", 3, "nested too deeply to read"),
        ("text-id", "adapter-error", "adapter", 3, "answers no open request"),
        ("surrogate-message", "crashed", "implementation", 1, None),
        ("ignores-signals", "timeout", "implementation", 1, None),
    ],
)
def test_one_bad_case_among_good_ones(tmp_path, mode, status, fault, code, told):
    limits = (
        SLOW
        if mode in ("answers-late", "huge-line", "large-answer", "deep-answer", "byte-by-byte")
        else QUICK
    )
    verdicts, end = run_double(sample_cases(tmp_path, 20, poison=7), mode, limits=limits)
    assert statuses(verdicts) == ({} if status == "pass" else {POISON: status})
    assert verdicts[POISON].get("fault") == fault
    assert end["exit"] == code
    if told is None:
        assert end["problems"] == []
    else:
        assert told in " ".join(end["problems"])


@pytest.mark.parametrize(("mode", "told"), [("stops-reading", "timeout"), ("closes-stdout", "crashed")])
def test_a_process_that_gives_up_for_good(tmp_path, mode, told):
    """Each fresh process answers a few and then no more: no request does it alone."""
    verdicts, end = run_double(sample_cases(tmp_path, 12), mode, limits=QUICK)
    assert set(statuses(verdicts).values()) <= {told}
    assert end["exit"] in (1, 3)
    assert end["problems"] or statuses(verdicts)


def test_an_integer_of_any_length_is_an_answer_and_a_wrong_one(tmp_path):
    verdicts, end = run_double(sample_cases(tmp_path, 2), "long-integer")
    assert set(statuses(verdicts).values()) == {"fail"}
    assert (end["exit"], end["problems"]) == (1, [])


@pytest.mark.parametrize(
    ("mode", "told"),
    [("with-bom", "a line that cannot be read"), ("text-id-in-hello", "the id is the number 0, not a text")],
)
def test_a_hello_that_is_nearly_right_fails_at_once(tmp_path, mode, told):
    started = time.monotonic()
    with pytest.raises(AdapterError, match=told):
        run_double(sample_cases(tmp_path), mode, limits=Limits(hello_seconds=60.0))
    assert time.monotonic() - started < 30


def test_a_run_that_is_dropped_leaves_no_process(tmp_path):
    spec = AdapterSpec("double", command=lambda: double_argv("silent-on-case"), limits=QUICK)
    stream = run(sample_cases(tmp_path, 3), spec, load_ledger())
    next(stream)
    stream.close()


def test_a_command_that_cannot_be_started(tmp_path):
    spec = AdapterSpec("none", command=lambda: [str(tmp_path / "no such program")])
    with pytest.raises(AdapterError, match=r"cannot be started.*No such file"):
        list(run(sample_cases(tmp_path), spec, load_ledger()))


def test_large_requests_and_answers_do_not_deadlock(tmp_path):
    """Requests beyond any pipe buffer, each answered with as much, in both directions at once."""
    text = "x" * 200_000
    echo = (
        "import sys, json\n"
        "for line in sys.stdin:\n"
        "    r = json.loads(line)\n"
        "    if r['op'] == 'hello':\n"
        "        a = {'protocol': 1, 'implementation': {'name': 'echo'}}\n"
        "        a |= {'capabilities': ['project'], 'editions': ['v0']}\n"
        "    else:\n"
        "        a = {'message': r['event']['data']}\n"
        "    print(json.dumps({'id': r['id'], 'result': a}), flush=True)\n"
    )
    from conformance.corpus import load_corpus

    head = "format: 1\ntopic: big\nedition: v0\nop: project\nevidence: {facts: made up for a test}\ncases:\n"
    entries = "".join(
        f"  - id: big.case-{index}\n    rules: [PROJ-1]\n"
        f'    request: {{event: {{type: user/message, data: {{x: "{text}"}}}}}}\n'
        f'    expect: {{result: {{message: {{x: "{text}"}}}}}}\n'
        for index in range(20)
    )
    file = tmp_path / "big.yaml"
    file.write_text(head + entries)
    spec = AdapterSpec("echo", command=lambda: [sys.executable, "-c", echo])
    records = list(run(load_corpus([file]), spec, load_ledger()))
    assert records[-1]["counts"] == {"pass": 20}


@pytest.mark.parametrize("command", ["", "  ", "'unclosed"])
def test_commands_that_cannot_be_split(command):
    with pytest.raises(AdapterError):
        split_command(command)
