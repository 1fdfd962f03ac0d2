"""The Node side against the real published package, by the lines that it reads and writes."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance.adapters.dsh import provision

NODE_SIDE = Path(provision.__file__).parent

KNOWN = {
    "seq-not-contiguous": "session event seq {seq} is not contiguous; expected {expected}",
    "surface-op-forbidden": 'session event "{type}" is not surface-eligible and cannot carry surfaceOp',
    "replace-start-absent": "surface replace: start seq {seq} not found in surface",
    "replace-reversed": "surface replace: start seq {a} (index {i}) is after end seq {b} (index {j})",
}
TEXTS = [{"condition": name, "texts": ["another text", text]} for name, text in KNOWN.items()]

Json = dict[str, Any]


@cache
def obstacle(version: str) -> str | None:
    """Why the package cannot be run here; asked once, since a missing network takes long to show."""
    try:
        provision.command(version, [])
    except provision.DshUnavailable as reason:
        return str(reason)
    return None


def available(version: str, texts: Sequence[Json]) -> list[str]:
    """The adapter's argv; without Node or registry a skip, in CI a failure."""
    reason = obstacle(version)
    if reason is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must be able to run the published package: {reason}")
        pytest.skip(reason)
    return provision.command(version, texts)


@pytest.fixture(scope="session")
def argv() -> list[str]:
    return available(provision.DEFAULT_VERSION, TEXTS)


def answers_to(argv: list[str], data: bytes) -> list[Json]:
    """All answers to ``data``; the process must end well and say nothing beside them."""
    done = subprocess.run(argv, input=data, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"" or done.stdout.endswith(b"\n")
    return [json.loads(line) for line in done.stdout.decode("utf-8").splitlines()]


def ask(argv: list[str], **request: Any) -> Json:
    """The one answer to one request, without its id."""
    (answer,) = answers_to(argv, json.dumps({"id": "q", **request}).encode() + b"\n")
    assert answer.pop("id") == "q"
    return answer


def user(seq: int, text: str = "hi", op: Any = "append", **extra: Any) -> Json:
    content = [{"type": "text", "text": text}]
    data = {"id": f"m{seq}", "role": "user", "source": {"kind": "user"}, "content": content}
    return {"type": "user/message", "seq": seq, "time": 0, "data": data, "surfaceOp": op, **extra}


def assistant(seq: int, content: list[Json]) -> Json:
    message = {"id": f"m{seq}", "role": "assistant", "source": {"kind": "model"}, "content": content}
    data = {"turn": 0, "step": 0, "message": message}
    return {"type": "assistant/message", "seq": seq, "time": 0, "data": data, "surfaceOp": "append"}


def tool_result(seq: int, **extra: Any) -> Json:
    block = {"type": "tool-result", "toolCallId": "c", "content": "long", "isError": False}
    data = {"turn": 0, "step": 0, "message": {"id": f"m{seq}", "role": "user", "content": [block]}}
    return {"type": "tool/result", "seq": seq, "time": 0, "data": data, "surfaceOp": "append", **extra}


def replace(start: int, end: int) -> Json:
    return {"op": "replace", "start": start, "end": end}


def chunk(seq: int) -> Json:
    return {"type": "assistant/chunk", "seq": seq, "time": 0, "data": {"text": "h"}}


SHADOWING = [user(0), chunk(1), user(2), user(3, "sum", replace(0, 2), sourceEventSeqs=[0, 1, 2])]


# Operations


def test_hello_tells_what_is_under_test(argv: list[str]) -> None:
    result = ask(argv, op="hello", protocol=1)["result"]
    assert result["protocol"] == 1
    assert result["editions"] == ["v0"]
    assert sorted(result["capabilities"]) == [
        "admit@borrowed",
        "admit@restored",
        "backend",
        "backend.borrowed",
        "backend.live",
        "backend.signal",
        "chunks.pack@jsonl",
        "chunks.unpack@jsonl",
        "classify",
        "closers",
        "fold",
        "fork",
        "isolation",
        "jsonl.load",
        "jsonl.path",
        "jsonl.scan",
        "messages",
        "normalise",
        "project",
        "request-header",
        "request-header.equal",
        "seed",
        "session.live",
        "storage.jsonl",
        "surface.live",
        "text",
        "transcript",
        "window",
    ]
    implementation = result["implementation"]
    assert implementation["name"] == "@deepseek-ai/dsh-session"
    assert implementation["version"] == provision.DEFAULT_VERSION
    assert implementation["language"] == "JavaScript"
    assert implementation["url"].endswith("/deepseek-harness")
    assert "error" in ask(argv, op="hello", protocol=2)


@pytest.mark.parametrize("version", provision.VERSIONS)
def test_every_version_folds(version: str) -> None:
    argv = available(version, TEXTS)
    assert ask(argv, op="hello", protocol=1)["result"]["implementation"]["version"] == version
    assert ask(argv, op="fold", edition="v0", events=SHADOWING) == {
        "result": {
            "nodes": [3],
            "replacements": [{"seq": 3, "start": 0, "end": 2, "shadowedSeqs": [0, 2]}],
            "replaceGeneration": 1,
        }
    }
    assert ask(argv, op="fold", events=[user(0), user(2)])["rejected"]["condition"] == "seq-not-contiguous"


@pytest.mark.parametrize("version", provision.VERSIONS)
def test_every_version_loads_whole(version: str) -> None:
    """The lock holds all that the package imports, not only what the surface needs."""
    node, _, package_dir, _ = available(version, TEXTS)
    program = "await import('@deepseek-ai/dsh-session'); await import('@deepseek-ai/dsh-session/invariant')"
    run = [node, "--input-type=module", "-e", program]
    done = subprocess.run(run, cwd=package_dir, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_empty_log_folds_to_nothing(argv: list[str]) -> None:
    result = {"nodes": [], "replacements": [], "replaceGeneration": 0}
    assert ask(argv, op="fold", events=[]) == {"result": result}


def test_messages_follow_the_surface_and_drop_the_empty_ones(argv: list[str]) -> None:
    events = [user(0), assistant(1, []), tool_result(2), assistant(3, [{"type": "text", "text": "ok"}])]
    shown = [events[0]["data"], events[2]["data"]["message"], events[3]["data"]["message"]]
    assert ask(argv, op="messages", events=events) == {"result": {"messages": shown}}
    no_message = {**tool_result(0), "data": {"turn": 0}}
    assert ask(argv, op="messages", events=[no_message]) == {"result": {"messages": []}}
    summary = ask(argv, op="messages", events=SHADOWING)["result"]["messages"]
    assert summary == [SHADOWING[3]["data"]]
    refused = ask(argv, op="messages", events=[user(0), user(7)])
    assert (refused["rejected"]["condition"], refused["rejected"]["at"]) == ("seq-not-contiguous", 1)


def test_project_gives_one_message_or_null(argv: list[str]) -> None:
    assert ask(argv, op="project", event=user(0)) == {"result": {"message": user(0)["data"]}}
    assert ask(argv, op="project", event=assistant(0, [])) == {"result": {"message": None}}
    assert ask(argv, op="project", event=chunk(0)) == {"result": {"message": None}}
    assert ask(argv, op="project", event={"type": "user/message"}) == {"result": {"message": None}}


@pytest.mark.parametrize(
    ("event", "answers"),
    [
        (user(0), [True, True, True, False]),
        (user(0, op=replace(0, 0)), [True, True, False, True]),
        ({"type": "tool/result"}, [True, False, False, False]),
        ({"type": "turn/end", "surfaceOp": "append"}, [False, False, False, False]),
    ],
)
def test_classify_answers_four_questions(argv: list[str], event: Json, answers: list[bool]) -> None:
    names = ["eligible", "surface", "append", "replacement"]
    assert ask(argv, op="classify", event=event) == {"result": dict(zip(names, answers, strict=True))}


# Kinds of answer


def test_a_refusal_names_condition_position_and_text(argv: list[str]) -> None:
    events = [user(0), chunk(1), user(2, op=replace(5, 0), sourceEventSeqs=[0]), user(9)]
    assert ask(argv, op="fold", events=events) == {
        "rejected": {
            "condition": "replace-start-absent",
            "at": 2,
            "message": "surface replace: start seq 5 not found in surface",
        }
    }


def test_placeholders_stand_for_any_text_even_with_line_breaks(argv: list[str]) -> None:
    event = {"type": 'a\n"b', "seq": 0, "time": 0, "data": None, "surfaceOp": "append"}
    assert ask(argv, op="fold", events=[event])["rejected"]["condition"] == "surface-op-forbidden"
    reversed_range = [user(0), user(1), user(2, op=replace(1, 0), sourceEventSeqs=[0, 1])]
    assert ask(argv, op="fold", events=reversed_range)["rejected"]["condition"] == "replace-reversed"


@pytest.mark.parametrize(
    "text", ["start seq {seq} not found in surface", "surface replace: start seq {s} not found"]
)
def test_a_part_of_a_message_is_not_a_known_text(text: str) -> None:
    argv = available(provision.DEFAULT_VERSION, [{"condition": "c", "texts": [text]}])
    answer = ask(argv, op="fold", events=[user(0, op=replace(5, 5))])
    assert answer == {"crashed": "Error: surface replace: start seq 5 not found in surface"}


def test_a_null_event_is_a_crash(argv: list[str]) -> None:
    for request in ({"op": "fold", "events": [None]}, {"op": "project", "event": None}):
        answer = ask(argv, **request)
        assert list(answer) == ["crashed"]
        assert answer["crashed"].startswith("TypeError: ")


def test_rewriting_a_tool_result_without_data_is_a_crash(argv: list[str]) -> None:
    rewrite = tool_result(1, surfaceOp=replace(0, 0), sourceEventSeqs=[0], data=None)
    answer = ask(argv, op="fold", events=[tool_result(0), rewrite])
    assert list(answer) == ["crashed"]
    assert answer["crashed"].startswith("TypeError: ")


def test_an_unknown_operation_or_edition_is_unsupported(argv: list[str]) -> None:
    assert list(ask(argv, op="tutorial", events=[])) == ["unsupported"]
    assert list(ask(argv, op="constructor")) == ["unsupported"]
    assert list(ask(argv)) == ["unsupported"]
    assert list(ask(argv, op="fold", edition="v3", events=[])) == ["unsupported"]


def test_a_missing_member_is_an_error_of_the_request(argv: list[str]) -> None:
    assert ask(argv, op="fold") == {"error": "fold needs the member events (or events_text)"}
    assert "string" in ask(argv, op="fold", events_text=[])["error"]


def test_variants_are_declared_and_told_apart(argv: list[str]) -> None:
    """With a table of its own, since no operation has variants yet."""
    program = """
        const { answerLine, capabilitiesOf } = await import(process.argv[1]);
        const variant = { member: 'schema', values: [15, 19] };
        const coded = { variant, run: ({ schema }) => ({ schema }) };
        const table = [['plain', { run: () => ({}) }], ['coded', coded]];
        const adapter = { operations: new Map(table), conditionOf: () => undefined, hello: { editions: [] } };
        console.log(JSON.stringify(capabilitiesOf(table)));
        for (const schema of [19, 17]) {
          console.log(answerLine(JSON.stringify({ id: 1, op: 'coded', schema }), adapter));
        }
    """
    run = [argv[0], "--input-type=module", "-e", program, str(NODE_SIDE / "answers.mjs")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    capabilities, known, unknown = map(json.loads, done.stdout.splitlines())
    assert capabilities == ["plain", "coded@15", "coded@19"]
    assert known == {"id": 1, "result": {"schema": 19}}
    assert list(unknown) == ["id", "unsupported"]


# Members as text


def test_text_members_go_through_the_implementations_own_parser(argv: list[str]) -> None:
    text = '[{"type":"turn/end","seq":1e400}]'
    assert ask(argv, op="fold", events_text=text)["rejected"]["message"] == (
        "session event seq Infinity is not contiguous; expected 0"
    )
    text = '[{"type":"turn/end","seq":7,"seq":0.0}]'  # the last of two equal keys counts
    assert ask(argv, op="fold", events_text=text)["result"]["nodes"] == []
    assert ask(argv, op="classify", event_text='{"type":"tool/result"}')["result"]["eligible"] is True


def test_a_plain_member_goes_before_its_text(argv: list[str]) -> None:
    assert ask(argv, op="fold", events=[], events_text="[null]")["result"]["nodes"] == []


def test_a_text_that_the_parser_refuses_is_a_crash(argv: list[str]) -> None:
    assert ask(argv, op="fold", events_text="[")["crashed"].startswith("SyntaxError: ")


def test_a_lone_surrogate_travels_as_text(argv: list[str]) -> None:
    event = json.dumps(user(0, "half \ud83d of \U0001f600"))
    request = json.dumps({"id": 1, "op": "project", "event_text": event}).encode()
    done = subprocess.run(argv, input=request, capture_output=True, timeout=60, check=True)
    answer = json.loads(done.stdout)
    assert list(answer["result"]) == ["message_text"]
    assert json.loads(answer["result"]["message_text"]) == json.loads(event)["data"]
    assert "\\\\ud83d of \U0001f600".encode() in done.stdout, "only the lone one is escaped"


@pytest.mark.parametrize("text", ["\U0001f600", "\\ud83d", "\\\\ud83d", "\\"])
def test_what_only_looks_like_a_lone_surrogate_stays_plain(argv: list[str], text: str) -> None:
    assert ask(argv, op="project", event=user(0, text)) == {"result": {"message": user(0, text)["data"]}}


def test_a_lone_surrogate_in_a_refusal_is_made_printable(argv: list[str]) -> None:
    text = '[{"type":"\\ud800","seq":0,"surfaceOp":"append"}]'
    rejected = ask(argv, op="fold", events_text=text)["rejected"]
    assert rejected["condition"] == "surface-op-forbidden"
    assert "\ufffd" in rejected["message"]


def test_what_is_too_deep_to_write_is_an_error_and_the_next_is_answered(argv: list[str]) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    first = {"id": 1, "op": "project", "event_text": f'{{"type":"user/message","data":{deep}}}'}
    second = {"id": 2, "op": "fold", "events": []}
    answers = answers_to(argv, "".join(f"{json.dumps(r)}\n" for r in (first, second)).encode())
    assert [list(answer) for answer in answers] == [["id", "error"], ["id", "result"]]


# Lines


def test_lines_that_are_no_request_are_answered_without_id(argv: list[str]) -> None:
    answers = answers_to(argv, b'nonsense\n[]\nnull\n\n{"id":3,"op":"fold","events":[]}\n')
    assert [answer["id"] for answer in answers] == [None, None, None, 3]
    assert ["error" in answer for answer in answers] == [True, True, True, False]


def test_end_of_input_ends_it_even_without_line_feed(argv: list[str]) -> None:
    assert answers_to(argv, b"") == []
    (answer,) = answers_to(argv, b'{"id":4,"op":"fold","events":[]}')
    assert answer["id"] == 4


def test_a_character_cut_by_a_chunk_boundary_survives(argv: list[str]) -> None:
    event = user(0, "\u4f60\u597d \U0001f600")
    line = json.dumps({"id": 1, "op": "project", "event": event}, ensure_ascii=False).encode() + b"\n"
    cut_twice = [line.index("\u597d".encode()) + 1, line.index("\U0001f600".encode()) + 2]
    pieces = [line[: cut_twice[0]], line[cut_twice[0] : cut_twice[1]], line[cut_twice[1] :]]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"id":0,"op":"fold","events":[]}\n')
        process.stdout.read(1)  # it is reading by now, so each piece below is a chunk of its own
        for piece in pieces:
            process.stdin.write(piece)
            time.sleep(0.1)
        process.stdin.close()
        *_, answer = process.stdout.read().splitlines()
    assert json.loads(answer) == {"id": 1, "result": {"message": event["data"]}}


def test_a_long_line_is_one_request(argv: list[str]) -> None:
    event = user(0, "\u4f60" * 700_000)
    line = json.dumps({"id": 1, "op": "project", "event": event}, ensure_ascii=False).encode() + b"\n"
    assert len(line) > 2 << 20
    first, second = answers_to(argv, line * 2)
    assert first == second == {"id": 1, "result": {"message": event["data"]}}


def test_a_slow_reader_gets_every_answer(argv: list[str]) -> None:
    count = 4000
    event = user(0, "x" * 1000)
    data = b"".join(
        json.dumps({"id": i, "op": "project", "event": event}).encode() + b"\n" for i in range(count)
    )
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin = process.stdin

        def write_all() -> None:
            stdin.write(data)
            stdin.close()

        writer = threading.Thread(target=write_all)
        writer.start()
        time.sleep(0.5)
        ids = [json.loads(line)["id"] for line in process.stdout]
        writer.join(timeout=30)
    assert ids == list(range(count))
    assert process.returncode == 0


def test_it_ends_quietly_when_nobody_reads(argv: list[str]) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, complaint = process.communicate(b'{"id":1,"op":"fold","events":[]}\n' * 10, timeout=60)
    assert (process.returncode, complaint) == (0, b"")


@pytest.mark.parametrize("arguments", [[], ["/nowhere", "TEXTS"], ["PACKAGE", "/nowhere"]])
def test_a_wrong_start_is_one_line(argv: list[str], arguments: list[str]) -> None:
    node, adapter, package_dir, texts = argv
    names = {"PACKAGE": package_dir, "TEXTS": texts}
    run = [node, adapter, *(names.get(argument, argument) for argument in arguments)]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dsh adapter: cannot start: ")
    assert done.stderr.count("\n") == 1


def test_it_is_fast_enough_for_fuzzing(argv: list[str]) -> None:
    """A loose bound for busy machines; it fails when lines are answered one turn at a time."""
    count = 20_000
    line = json.dumps({"id": 1, "op": "fold", "edition": "v0", "events": SHADOWING}).encode() + b"\n"
    begin = time.monotonic()
    done = subprocess.run(argv, input=line * count, capture_output=True, timeout=60, check=True)
    seconds = time.monotonic() - begin
    assert done.stdout.count(b"\n") == count
    assert seconds < count / 5000, f"{count / seconds:.0f} requests/s"
