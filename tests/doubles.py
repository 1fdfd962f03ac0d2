"""Adapters that misbehave in one known way each: ``python doubles.py MODE``.

Everything but the one fault is the reference, so that what a test sees is the fault alone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from conformance.adapters.reference import answer


def say(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def good(request: dict[str, Any]) -> None:
    say({"id": request["id"], **answer(request)})


def poisoned(request: dict[str, Any]) -> bool:
    """The one case that some doubles trip over: a log that begins with a user message saying ``poison``."""
    return "poison" in json.dumps(request.get("events"))


def loop(
    on_case: Callable[[dict[str, Any]], None], on_hello: Callable[[dict[str, Any]], None] = good
) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        (on_hello if request["op"] == "hello" else on_case)(request)


def dies(request: dict[str, Any]) -> None:
    if poisoned(request):
        print("about to fail on the poison", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGABRT)
    good(request)


def hangs(request: dict[str, Any]) -> None:
    while poisoned(request):
        time.sleep(1)
    good(request)


def dies_in_answer(request: dict[str, Any]) -> None:
    if poisoned(request):
        sys.stdout.write(json.dumps({"id": request["id"], **answer(request)})[:20])
        sys.stdout.flush()
        os._exit(4)
    good(request)


def logs_on_stdout(request: dict[str, Any]) -> None:
    print("DEBUG handling a request", flush=True)
    good(request)


def answers_twice(request: dict[str, Any]) -> None:
    good(request)
    good(request)


def wrong_id(request: dict[str, Any]) -> None:
    say({"id": request["id"] + 100_000 if poisoned(request) else request["id"], **answer(request)})


def two_kinds(request: dict[str, Any]) -> None:
    say({"id": request["id"], "result": {}, "crashed": "both"})


def bad_utf8(request: dict[str, Any]) -> None:
    if poisoned(request):
        sys.stdout.buffer.write(b'{"id":%d,"crashed":"\xff"}\n' % request["id"])
        sys.stdout.buffer.flush()
    good(request)


def floods_stderr(request: dict[str, Any]) -> None:
    sys.stderr.write("noise " * 20_000)
    good(request)


def error_answer(request: dict[str, Any]) -> None:
    say(
        {"id": request["id"], "error": "no database"}
        if poisoned(request)
        else {"id": request["id"], **answer(request)}
    )


def unsupported_answer(request: dict[str, Any]) -> None:
    say({"id": request["id"], "unsupported": "not today"})


def nan_answer(request: dict[str, Any]) -> None:
    sys.stdout.write(f'{{"id":{request["id"]},"result":{{"nodes":[NaN]}}}}\n')
    good(request)


def prints_for_ever(_request: dict[str, Any]) -> None:
    while True:
        print("and another line of output", flush=True)


def one_endless_line(_request: dict[str, Any]) -> None:
    while True:
        sys.stdout.write("x" * 65536)


def silent(_request: dict[str, Any]) -> None:
    time.sleep(3600)


def out_of_order() -> None:
    held: list[dict[str, Any]] = []
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "hello":
            good(request)
            continue
        held.append(request)
        if len(held) == 3:
            for each in reversed(held):
                good(each)
            held.clear()
    for each in reversed(held):
        good(each)


def leaks() -> None:
    """Dies at its fifth request, whichever that is."""
    for count, line in enumerate(sys.stdin):
        if count == 5:
            os._exit(7)
        good(json.loads(line))


def ignores_end() -> None:
    loop(good)
    time.sleep(3600)


def exits_nonzero() -> None:
    loop(good)
    sys.exit(9)


def keeps_pipe_open() -> None:
    """Leaves a child behind that holds the pipe, and dies on the poison."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    loop(dies)


def changes_capabilities() -> None:
    mark = sys.argv[2]
    again = os.path.exists(mark)  # noqa: PTH110
    open(mark, "w").close()  # noqa: PTH123

    def hello(request: dict[str, Any]) -> None:
        told = answer(request)
        if again:
            told["result"]["capabilities"] = ["fold"]
        say({"id": request["id"], **told})

    loop(dies, hello)


def answers_late(request: dict[str, Any]) -> None:
    time.sleep(0.3 if poisoned(request) else 0)
    good(request)


def exits_early(request: dict[str, Any]) -> None:
    good(request)
    if poisoned(request):
        sys.exit(0)


def half_a_line(request: dict[str, Any]) -> None:
    if poisoned(request):
        sys.stdout.write('{"id":')
        sys.stdout.flush()
        time.sleep(3600)
    good(request)


def huge_line(request: dict[str, Any]) -> None:
    if poisoned(request):
        sys.stdout.write('{"id":' + "1" * (70 << 20) + "\n")
        sys.stdout.flush()
    good(request)


def large_answer(request: dict[str, Any]) -> None:
    if poisoned(request):
        say({"id": request["id"], "result": {"nodes": "x" * (20 << 20)}})
    else:
        good(request)


def deep_answer(request: dict[str, Any]) -> None:
    if poisoned(request):
        sys.stdout.write(f'{{"id":{request["id"]},"result":{{"nodes":{"[" * 100_000}{"]" * 100_000}}}}}\n')
        sys.stdout.flush()
    else:
        good(request)


def long_integer(request: dict[str, Any]) -> None:
    sys.stdout.write(f'{{"id":{request["id"]},"result":{{"nodes":[{"9" * 5000}]}}}}\n')
    sys.stdout.flush()


def text_id(request: dict[str, Any]) -> None:
    say({"id": str(request["id"]) if poisoned(request) else request["id"], **answer(request)})


def text_id_in_hello(request: dict[str, Any]) -> None:
    say({"id": str(request["id"]), **answer(request)})


def repeats_hello(request: dict[str, Any]) -> None:
    say({"id": 0, **answer({"op": "hello", "protocol": 1})})
    good(request)


def surrogate_message(request: dict[str, Any]) -> None:
    say({"id": request["id"], "crashed": "\ud800 \u001b[2J and\nmore"} if poisoned(request) else
        {"id": request["id"], **answer(request)})  # fmt: skip


def stops_reading() -> None:
    for count, line in enumerate(sys.stdin):
        good(json.loads(line))
        if count == 3:
            time.sleep(3600)


def ignores_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    loop(hangs)


def closes_stdout() -> None:
    for count, line in enumerate(sys.stdin):
        good(json.loads(line))
        if count == 3:
            os.close(1)
            time.sleep(3600)


def with_bom() -> None:
    sys.stdout.write("\ufeff")
    loop(good)


def with_crlf() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        sys.stdout.write(json.dumps({"id": request["id"], **answer(request)}) + "\r\n")
        sys.stdout.flush()


def byte_by_byte() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        for byte in (json.dumps({"id": request["id"], **answer(request)}) + "\n").encode():
            os.write(1, bytes([byte]))


def eats_memory(request: dict[str, Any]) -> None:
    if poisoned(request):
        hoard = bytearray()
        while len(hoard) < 1 << 30:
            hoard += bytes(1 << 24)
            time.sleep(0.01)
        time.sleep(60)
    good(request)


def wrong_then_dies() -> None:
    """The first process answers wrongly, every later one dies on any case."""
    mark = sys.argv[2]
    again = os.path.exists(mark)  # noqa: PTH110
    open(mark, "w").close()  # noqa: PTH123

    def wrong(request: dict[str, Any]) -> None:
        if again:
            os._exit(5)
        say({"id": request["id"], "result": {"nodes": [7], "replacements": [], "replaceGeneration": 0}})

    loop(wrong)


MODES: dict[str, Callable[[], None]] = {
    "good": lambda: loop(good),
    "dies": lambda: loop(dies),
    "hangs": lambda: loop(hangs),
    "dies-in-answer": lambda: loop(dies_in_answer),
    "logs-on-stdout": lambda: loop(logs_on_stdout),
    "answers-twice": lambda: loop(answers_twice),
    "wrong-id": lambda: loop(wrong_id),
    "two-kinds": lambda: loop(two_kinds),
    "bad-utf8": lambda: loop(bad_utf8),
    "floods-stderr": lambda: loop(floods_stderr),
    "error-answer": lambda: loop(error_answer),
    "unsupported-answer": lambda: loop(unsupported_answer),
    "nan-answer": lambda: loop(nan_answer),
    "prints-for-ever": lambda: loop(good, prints_for_ever),
    "prints-for-ever-on-case": lambda: loop(prints_for_ever),
    "one-endless-line": lambda: loop(good, one_endless_line),
    "silent": lambda: loop(good, silent),
    "silent-on-case": lambda: loop(silent),
    "dies-at-once": lambda: sys.exit(3),
    "hello-error": lambda: loop(good, lambda request: say({"id": request["id"], "error": "no licence"})),
    "hello-protocol-2": lambda: loop(
        good, lambda request: say({"id": request["id"], "result": {"protocol": 2}})
    ),
    "declares-nothing": lambda: loop(
        good,
        lambda request: say(
            {
                "id": request["id"],
                "result": {
                    "protocol": 1,
                    "implementation": {"name": "x"},
                    "capabilities": [],
                    "editions": [],
                },
            }
        ),
    ),
    "dies-after-hello": lambda: loop(lambda _request: os._exit(5)),
    "out-of-order": out_of_order,
    "leaks": leaks,
    "ignores-end": ignores_end,
    "exits-nonzero": exits_nonzero,
    "keeps-pipe-open": keeps_pipe_open,
    "changes-capabilities": changes_capabilities,
    "eats-memory": lambda: loop(eats_memory),
    "answers-late": lambda: loop(answers_late),
    "exits-early": lambda: loop(exits_early),
    "half-a-line": lambda: loop(half_a_line),
    "huge-line": lambda: loop(huge_line),
    "large-answer": lambda: loop(large_answer),
    "deep-answer": lambda: loop(deep_answer),
    "long-integer": lambda: loop(long_integer),
    "text-id": lambda: loop(text_id),
    "text-id-in-hello": lambda: loop(good, text_id_in_hello),
    "repeats-hello": lambda: loop(repeats_hello),
    "surrogate-message": lambda: loop(surrogate_message),
    "stops-reading": stops_reading,
    "ignores-signals": ignores_signals,
    "closes-stdout": closes_stdout,
    "with-bom": with_bom,
    "with-crlf": with_crlf,
    "byte-by-byte": byte_by_byte,
    "wrong-then-dies": wrong_then_dies,
}

if __name__ == "__main__":
    MODES[sys.argv[1]]()
