"""Glue with one fault each, around an implementation that has none: ``python faulty_glue.py FAULT``.

``FAULTS`` names, for every fault, the finding that ``doctor`` makes of it and words that the fix has to hold.
"""

from __future__ import annotations

import copy
import json
import os
import queue
import re
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from conformance.adapters import reference
from conformance.adapters.reference import answer
from conformance.json_text import JsonTextError
from conformance.operations import OPERATIONS
from conformance.serve import spell_out
from reference_impl.rejection import Rejection

Message = dict[str, Any]


def right(request: Message) -> Message:
    """What the glue should answer, with its id."""
    try:
        told = answer(request)
    except Exception as error:
        told = {"crashed": f"{type(error).__name__}: {error}"}
    if isinstance(told.get("result"), dict):
        told = {"result": spell_out(told["result"])}
    return {"id": request.get("id"), **told}


def write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def say(message: Any) -> None:
    write(json.dumps(message) + "\n")


def loop(handle: Callable[[Message], None]) -> None:
    for line in sys.stdin:
        handle(json.loads(line))


def answering(change: Callable[[Message, Message], Any]) -> Callable[[], None]:
    """A program whose answers are what ``change`` makes of the request and the right answer."""
    return lambda: loop(lambda request: say(change(request, right(request))))


def writing(spell: Callable[[Message], str], **stream: Any) -> Callable[[], None]:
    """A program that writes right answers in its own way."""

    def program() -> None:
        if stream:
            sys.stdout.reconfigure(**stream)  # type: ignore[union-attr]
        loop(lambda request: write(spell(right(request))))

    return program


def asking(change: Callable[[Message], Message | None]) -> Callable[[], None]:
    """A program that reads requests wrongly; None is answered as the adapter's own error."""

    def program() -> None:
        def handle(request: Message) -> None:
            changed = change(copy.deepcopy(request))
            say({"id": request["id"], "error": "cannot read it"} if changed is None else right(changed))

        loop(handle)

    return program


def hello(**members: Any) -> Callable[[], None]:
    """A program that says something wrong of itself; a member that is None is left out."""

    def change(request: Message, told: Message) -> Message:
        if request["op"] == "hello":
            result = {**told["result"], **members}
            told["result"] = {name: value for name, value in result.items() if value is not None}
        return told

    return answering(change)


def is_log(request: Message) -> bool:
    return request["op"] != "hello"


# -- the process and its lines ---------------------------------------------------


def not_flushed() -> None:
    with open(1, "w", buffering=1 << 20, closefd=False) as answers:
        for line in sys.stdin:
            answers.write(json.dumps(right(json.loads(line))) + "\n")


def reads_all_first() -> None:
    for line in sys.stdin.read().splitlines():
        say(right(json.loads(line)))


def one_behind() -> None:
    last = None
    for line in sys.stdin:
        request = json.loads(line)
        if not is_log(request):
            say(right(request))
            continue
        if last is not None:
            say(last)
        last = right(request)
    say(last)


def slow_start() -> None:
    time.sleep(float(os.environ.get("SLOW_START", "5.3")))
    loop(lambda request: say(right(request)))


def logs_before_hello() -> None:
    print("adapter ready", flush=True)
    loop(lambda request: say(right(request)))


def logs_between(request: Message) -> None:
    print(f"INFO {request['op']}", flush=True)
    say(right(request))


def logs_json(request: Message) -> None:
    say({"level": "info", "op": request["op"]})
    say(right(request))


def says_good_bye() -> None:
    loop(lambda request: say(right(request)))
    print("bye", flush=True)


def with_bom() -> None:
    write("\ufeff")
    loop(lambda request: say(right(request)))


def only_first_line() -> None:
    """Takes what one read gives for one request, and loses what stands behind its first line."""
    rest = b""
    while chunk := os.read(0, 1 << 16):
        rest += chunk
        if b"\n" in rest:
            line, rest = rest.split(b"\n")[0], b""
            say(right(json.loads(line)))


def chunk_is_line() -> None:
    while chunk := os.read(0, 1 << 21):
        for line in chunk.splitlines():
            try:
                say(right(json.loads(line)))
            except ValueError as error:
                say({"id": None, "error": str(error)})


def short_lines() -> None:
    """A line buffer of 64 KiB, as that of a scanner with its default."""
    for line in sys.stdin:
        if len(line) > 65536:
            sys.exit("token too long")
        say(right(json.loads(line)))


def ignores_long_lines() -> None:
    for line in sys.stdin:
        if len(line) < 65536:
            say(right(json.loads(line)))


def echoes_id_of_own_count() -> None:
    for count, line in enumerate(sys.stdin):
        say({**right(json.loads(line)), "id": count})


def twice(request: Message) -> None:
    say(right(request))
    if is_log(request):
        say(right(request))


def exits_with(code: int) -> Callable[[], None]:
    def program() -> None:
        loop(lambda request: say(right(request)))
        sys.exit(code)

    return program


def stays() -> None:
    loop(lambda request: say(right(request)))
    time.sleep(600)


def drops_open() -> None:
    """Answers come from a worker, a little later; the end of input ends the program before them."""
    waiting: queue.Queue[Message] = queue.Queue()

    def worker() -> None:
        while True:
            message = waiting.get()
            time.sleep(0.005)
            say(message)

    threading.Thread(target=worker, daemon=True).start()
    for line in sys.stdin:
        waiting.put(right(json.loads(line)))
    os._exit(0)


def late_and_shared() -> None:
    """The id stands in a global: answers of requests that come together get the id of the last one."""
    rest = b""
    while chunk := os.read(0, 1 << 21):
        *lines, rest = (rest + chunk).split(b"\n")
        requests = [json.loads(line) for line in lines]
        for request, other in zip(requests, reversed(requests), strict=True):
            say({**right(request), "id": other["id"]})


def out_of_order() -> None:
    rest = b""
    while chunk := os.read(0, 1 << 21):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in reversed(lines):
            say(right(json.loads(line)))


def floods_stderr() -> None:
    def handle(request: Message) -> None:
        sys.stderr.write("noise " * 60_000)
        say(right(request))

    loop(handle)


def keeps_a_child() -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", *sys.argv[2:]])
    loop(lambda request: say(right(request)))


# -- answers -----------------------------------------------------------------------


def catches_all(request: Message) -> None:
    try:
        told = answer(request)
        if told.keys() & {"error"}:
            raise KeyError("events")
        told = {"result": spell_out(told["result"])} if "result" in told else told
    except Exception as error:
        told = {"rejected": {"message": str(error)}}
    say({"id": request["id"], **told})


def refusals_as(kind: str) -> Callable[[], None]:
    return answering(
        lambda _, told: {"id": told["id"], kind: str(told["rejected"])} if "rejected" in told else told
    )


def changed_refusal(change: Callable[[Message, Message], Message]) -> Callable[[], None]:
    return answering(
        lambda request, told: (
            {**told, "rejected": change(request, told["rejected"])} if "rejected" in told else told
        )
    )


def changed_result(change: Callable[[Message], Any]) -> Callable[[], None]:
    return answering(
        lambda request, told: (
            {**told, "result": change(told["result"])} if is_log(request) and "result" in told else told
        )
    )


def renamed(result: Message) -> Message:
    return {re.sub("([A-Z])", r"_\1", name).lower(): value for name, value in result.items()}


def squeezed(value: Any) -> Any:
    """Integers through 32 bits with a sign."""
    if isinstance(value, dict):
        return {name: squeezed(member) for name, member in value.items()}
    if isinstance(value, list):
        return [squeezed(member) for member in value]
    if type(value) is int:
        return (value + (1 << 31)) % (1 << 32) - (1 << 31)
    return value


def through_float(value: Any) -> Any:
    """Integers through a float of 32 bits."""
    if isinstance(value, dict):
        return {name: through_float(member) for name, member in value.items()}
    if isinstance(value, list):
        return [through_float(member) for member in value]
    return int(struct.unpack("f", struct.pack("f", value))[0]) if type(value) is int else value


def keeps_state() -> None:
    """One list for all requests, as a default argument would be."""
    seen: list[Any] = []

    def change(request: Message) -> Message:
        if isinstance(request.get("events"), list) and request["op"] == "fold":
            if any("surfaceOp" not in event for event in request["events"]):
                seen.append({"type": "turn/start", "seq": 0, "data": {"turn": 1}})
            request["events"] = [*seen, *request["events"]]
        return request

    asking(change)()


def texts_changed(change: Callable[[str], str]) -> Callable[[], None]:
    """The text of every answer line goes through ``change``, and stays JSON."""
    return lambda: loop(lambda request: write(change(json.dumps(right(request))) + "\n"))


# -- requests ----------------------------------------------------------------------


def without_texts(request: Message) -> Message | None:
    return None if any(name.endswith("_text") for name in request) else request


def texts_as_nothing(request: Message) -> Message:
    return {
        name.removesuffix("_text"): [] if name.endswith("_text") else value for name, value in request.items()
    }


def only_plain_texts(request: Message) -> Message | None:
    for name in [name for name in request if name.endswith("_text")]:
        text = request[name]
        if re.search(r'"seq":(-0|0\.0|0e0|9,)', text):
            return None
    return request


def shallow_texts(request: Message) -> Message | None:
    return None if any("[" * 129 in str(value) for value in request.values()) else request


def defaults(request: Message) -> Message:
    if is_log(request):
        for name in ("events", "event", "steps"):
            if name not in request and f"{name}_text" not in request:
                request[name] = []
    return request


def falsy_is_missing(request: Message) -> Message | None:
    return None if request.get("events") == [] else request


def strict_members(request: Message) -> Message | None:
    return None if "comment" in request else request


def unknown_is_error(request: Message) -> Message | None:
    return None if request["op"] not in (*reference.HANDLERS, "hello") else request


def no_edition(request: Message) -> Message:
    return {**request, "edition": "v0"}


def dies_of_surrogates() -> None:
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    loop(lambda request: write(json.dumps(json.loads(unescaped(right(request))), ensure_ascii=False) + "\n"))


def unescaped(message: Message) -> str:
    """The message with its text members as plain ones, as glue has them that knows no text spelling."""
    result = message.get("result")
    if isinstance(result, dict):
        plain = {
            name.removesuffix("_text"): json.loads(value) if name.endswith("_text") else value
            for name, value in result.items()
        }
        message = {**message, "result": plain}
    return json.dumps(message)


def replaces_surrogates(request: Message) -> None:
    text = re.sub(r"\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])", lambda _: "\\ufffd", unescaped(right(request)))
    write(text + "\n")


def without_catching(request: Message) -> Message:
    """Only refusals are caught, so that whatever else is thrown ends the process."""
    return {"id": request["id"], **answer(request)}


def unguarded(request: Message) -> Message:
    """The answer without the guard for missing members: a KeyError, told as a crash."""
    told = right(request)
    if is_log(request) and "needs the member" in str(told.get("error")):
        return {"id": request["id"], "crashed": "KeyError: 'events'"}
    return told


def calls_wrongly(request: Message, told: Message) -> Message:
    if request["op"] != "project" or "result" not in told:
        return told
    return {"id": request["id"], "crashed": "TypeError: project() takes 1 argument but 2 were given"}


def unsigned(request: Message, told: Message) -> Message:
    """Seqs are read into 32 bits, and what does not fit is a crash."""
    if request.get("baseSeq", 0) < 1 << 32:
        return told
    return {"id": request["id"], "crashed": "OverflowError: too large for u32"}


def changes() -> None:
    """Declares by what it finds in a folder, and leaves something there."""
    mark = Path(sys.argv[2])
    declared = ["fold"] if mark.exists() else ["fold", "messages"]
    mark.touch()
    hello(
        capabilities=[
            *declared,
            *[each for each in reference.capabilities() if each not in ("fold", "messages")],
        ]
    )()


def accepts_gaps(request: Message, told: Message) -> Message:
    """No fault of the glue: the implementation accepts what it should refuse."""
    if request["op"] == "fold" and told.get("rejected", {}).get("condition") == "seq-not-contiguous":
        return {"id": told["id"], "result": {"nodes": [0, 7], "replacements": [], "replaceGeneration": 0}}
    return told


def unparsable(request: Message) -> Message:
    try:
        return {"id": request["id"], **answer(request)}
    except JsonTextError as error:
        return {"id": request["id"], "rejected": {"message": str(error)}}
    except (Rejection, Exception) as error:
        return {"id": request["id"], "crashed": str(error)}


def forgets_members(result: Message) -> Message:
    return {}


def never_answers(request: Message, told: Message) -> Message:
    return {"id": told["id"], "unsupported": "later"} if is_log(request) else told


def takes_offence() -> None:
    """Once it has refused something, it refuses everything."""
    refused: list[Any] = []

    def change(request: Message, told: Message) -> Message:
        if "rejected" in told:
            refused.append(told["rejected"])
        return {"id": told["id"], "rejected": refused[0]} if refused and is_log(request) else told

    answering(change)()


def of_one_operation(capability: str, fault: str) -> Callable[[], None]:
    """A program of the faults below that declares and answers one operation only."""
    whole = answer

    def only(request: Message) -> Message:
        if is_log(request):
            named = OPERATIONS.get(request["op"])
            if named is None or named.capability(request) != capability:
                return {"unsupported": "another operation"}
        told = whole(request)
        if not is_log(request):
            told["result"]["capabilities"] = [capability]
        return told

    globals()["answer"] = only
    return {**SOUND, **OF_ANY_OPERATION}.get(fault) or FAULTS[fault].program


class Fault(NamedTuple):
    """A program, the finding that it gets, and a word of its fix."""

    program: Callable[[], None]
    finding: str
    fix: str
    severity: str = "error"


def on_log(then: Callable[[Message], None]) -> Callable[[], None]:
    return lambda: loop(lambda request: then(request) if is_log(request) else say(right(request)))


FAULTS: dict[str, Fault] = {
    "dies-at-once": Fault(lambda: sys.exit("no module my_port"), "dies-at-start", "stderr"),
    "silent": Fault(lambda: time.sleep(600), "silent", "line by line"),
    "slow-start": Fault(slow_start, "slow-start", "cargo build", "warning"),
    "not-flushed": Fault(not_flushed, "not-flushed", "flush=True"),
    "reads-all-first": Fault(reads_all_first, "not-flushed", "not until the end of input"),
    "one-behind": Fault(one_behind, "not-flushed", "line by line"),
    "logs-before-hello": Fault(logs_before_hello, "stdout-log", "stderr"),
    "logs-between-answers": Fault(lambda: loop(logs_between), "stdout-log", "console.error"),
    "logs-json": Fault(lambda: loop(logs_json), "stdout-log", "stderr"),
    "says-good-bye": Fault(says_good_bye, "stdout-after-end", "exit handlers"),
    "blank-lines": Fault(writing(lambda told: json.dumps(told) + "\n\n"), "blank-line", "println"),
    "bom": Fault(with_bom, "bom", "UTF8Encoding(false)"),
    "crlf": Fault(writing(lambda told: json.dumps(told) + "\r\n"), "crlf", "newline", "note"),
    "latin-1": Fault(
        writing(
            lambda told: json.dumps({**told, "by": "caf\u00e9"}, ensure_ascii=False) + "\n",
            encoding="latin-1", errors="backslashreplace",
        ), "invalid-utf8", "ensure_ascii",
    ),
    "nan": Fault(answering(lambda _, told: {**told, "took": float("nan")}), "nan", "allow_nan=False"),
    "pretty-printed": Fault(writing(lambda told: json.dumps(told, indent=2) + "\n"), "many-lines", "indent"),
    "no-line-end": Fault(writing(json.dumps), "no-line-end", "\\n"),
    "python-repr": Fault(writing(lambda told: repr(told) + "\n"), "answer-unreadable", "json.dumps"),
    "id-missing": Fault(
        answering(lambda _, told: {name: told[name] for name in told if name != "id"}), "id-missing",
        "Copy the id",
    ),
    "id-text": Fault(answering(lambda _, told: {**told, "id": str(told["id"])}), "id-text", "integer"),
    "id-fraction": Fault(answering(lambda _, told: {**told, "id": float(told["id"])}), "id-fraction",
                         "double"),
    "id-counted": Fault(echoes_id_of_own_count, "id-unknown", "gaps"),
    "id-32-bits": Fault(
        answering(lambda _, told: {**told, "id": squeezed(told["id"])}), "id-squeezed", "64-bit"
    ),
    "answered-twice": Fault(lambda: loop(twice), "answer-repeated", "return"),
    "dies-on-request": Fault(on_log(lambda _: sys.exit(1)), "dies", "crashed"),
    "no-answer": Fault(on_log(lambda _: None), "hangs", "unknown op"),
    "hello-lacks-members": Fault(hello(editions=None), "hello-wrong", "editions"),
    "hello-is-a-version": Fault(hello(protocol="0.1.0"), "hello-protocol", '"protocol": 1'),
    "hello-takes-any": Fault(
        asking(lambda request: {**request, "protocol": 1}), "hello-any-protocol", "Compare", "note"
    ),
    "capability-misspelled": Fault(
        hello(capabilities=["fold", "mesages"]), "capability-unknown", "messages", "warning"
    ),
    "nothing-declared": Fault(hello(capabilities=[]), "nothing-declared", '["fold"]'),
    "no-edition-declared": Fault(hello(editions=["1"]), "nothing-declared", '"editions": ["v0"]'),
    "two-kinds": Fault(answering(lambda _, told: {"rejected": {}, **told}), "two-kinds",
                       "skip_serializing_if"),
    "null-members": Fault(answering(lambda _, told: {"error": None, **told}), "two-kinds", "omitempty"),
    "no-kind": Fault(
        answering(lambda request, told: {"id": told["id"], **told["result"]}
                  if is_log(request) and "result" in told else told), "no-kind", '"result"',
    ),
    "bare-list": Fault(changed_result(lambda result: next(iter(result.values()))), "result-no-object",
                       "bare"),
    "refusal-as-text": Fault(
        changed_refusal(lambda _, told: told["message"]), "answer-malformed", '{"rejected":{"message":"…"}}'
    ),
    "snake-case": Fault(changed_result(renamed), "result-shape", "camelCase"),
    "declared-not-answered": Fault(
        answering(lambda request, told: {"id": told["id"], "unsupported": "later"}
                  if request["op"] == "window" else told), "declared-unsupported", "dispatch",
    ),
    "zero-is-missing": Fault(
        asking(lambda request: None if request["op"] == "window" and not request.get("baseSeq") else request),
        "declared-error", "not whether it is true",
    ),
    "answers-undeclared": Fault(hello(capabilities=["fold"]), "not-declared", "capabilities", "note"),
    "unknown-op-is-error": Fault(asking(unknown_is_error), "unknown-operation", "unsupported", "warning"),
    "edition-ignored": Fault(asking(no_edition), "edition-ignored", "Compare", "note"),
    "denies-members": Fault(asking(strict_members), "member-not-ignored", "deny_unknown_fields", "warning"),
    "text-unknown": Fault(asking(without_texts), "text-ignored", "events_text"),
    "text-as-empty": Fault(asking(texts_as_nothing), "text-ignored", "events_text"),
    "text-checked": Fault(asking(only_plain_texts), "text-turned-down", "without a check"),
    "text-shallow": Fault(asking(shallow_texts), "deep-text", "disable_recursion_limit", "warning"),
    "catches-all": Fault(lambda: loop(catches_all), "exception-as-refusal", "except Exception"),
    "parse-error-as-refusal": Fault(
        lambda: loop(lambda request: say(unparsable(request))), "unparsable-as-refusal", "JSON library",
        "note",
    ),
    "defaults-to-empty": Fault(asking(defaults), "missing-member-accepted", "default"),
    "refusal-as-crash": Fault(refusals_as("crashed"), "refusal-as-crash", "Catch the type"),
    "refusal-as-error": Fault(refusals_as("error"), "refusal-as-crash", "Catch the type"),
    "refusal-bare": Fault(changed_refusal(lambda *_: {}), "refusal-without-reason", "message", "note"),
    "at-is-seq": Fault(
        changed_refusal(lambda request, told: {**told, "at": told.get("at", 0) + request.get("baseSeq", 0)}),
        "at-no-index", "baseSeq", "warning",
    ),
    "empty-is-missing": Fault(asking(falsy_is_missing), "empty-log", '"events" in request'),
    "32-bits": Fault(changed_result(squeezed), "integers-squeezed", "64-bit"),
    "32-bits-float": Fault(changed_result(through_float), "integers-squeezed", "float"),
    "question-marks": Fault(
        texts_changed(lambda line: re.sub(r"\\u(?!0000)(?!d[89a-f])[0-9a-f]{4}", "?", line)),
        "non-ascii-lost", "UTF-8",
    ),
    "c-strings": Fault(texts_changed(lambda line: re.sub(r'\\u0000[^"]*', "", line)), "nul-lost", "NUL"),
    "raw-control-characters": Fault(
        texts_changed(lambda line: line.replace("\\u0000", "\0")), "nul-lost", "JSON library"
    ),
    "surrogate-dies": Fault(dies_of_surrogates, "surrogate-breaks", "ensure_ascii"),
    "surrogate-replaced": Fault(lambda: loop(replaces_surrogates), "surrogate-lost", "toWellFormed",
                                "warning"),
    "chunk-is-line": Fault(chunk_is_line, "split-line", "line feed"),
    "short-lines": Fault(short_lines, "large-request", "bufio.Scanner"),
    "long-lines-lost": Fault(ignores_long_lines, "large-request", "64 KiB"),
    "first-line-only": Fault(only_first_line, "in-flight", "every line"),
    "shared-id": Fault(late_and_shared, "answers-mixed", "local variable"),
    "out-of-order": Fault(out_of_order, "out-of-order", "Nothing", "note"),
    "state": Fault(keeps_state, "state-leaks", "default argument"),
    "exit-code": Fault(exits_with(9), "exit-code", "return 0"),
    "stays": Fault(stays, "does-not-exit", "open handles"),
    "dies-of-the-unreadable": Fault(
        lambda: loop(lambda request: say(without_catching(request))), "dies",
        "Catch what the call throws", "warning",
    ),
    "no-guard": Fault(
        lambda: loop(lambda request: say(unguarded(request))), "missing-member-crash",
        "before the implementation", "note",
    ),
    "wrong-call": Fault(answering(calls_wrongly), "valid-not-accepted", "wrong name", "warning"),
    "unsigned": Fault(answering(unsigned), "integers-refused", "64 bits", "warning"),
    "changes": Fault(changes, "hello-changes", "fixed list"),
    "implementation-is-wrong": Fault(
        answering(accepts_gaps), "not-judged", "session-conformance run", "note"
    ),
    "drops-open": Fault(drops_open, "unfinished", "wait for what is under way"),
}  # fmt: skip
"""Every fault, each the only one of its program."""

OF_ANY_OPERATION: dict[str, Callable[[], None]] = {
    "forgets-members": changed_result(forgets_members),
    "never-answers": answering(never_answers),
    "takes-offence": takes_offence,
}
"""Programs with a fault that shows in whatever operation there is."""

SOUND: dict[str, Callable[[], None]] = {
    "sound": lambda: loop(lambda request: say(right(request))),
    "floods-stderr": floods_stderr,
    "keeps-a-child": keeps_a_child,
}
"""Programs that keep to the protocol, however odd."""

if __name__ == "__main__":
    name = sys.argv[1]
    (SOUND[name] if name in SOUND else FAULTS[name].program)()
