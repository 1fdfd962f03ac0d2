"""Any adapter over stdin and stdout: what is in this process, offered to whoever speaks the protocol."""

from __future__ import annotations

import json
import os
import sys
from typing import IO, Any

from conformance.adapters.inprocess import Callee, answer_text
from conformance.adapters.registry import AdapterSpec
from conformance.errors import AdapterError, UsageError
from conformance.json_text import dump_ascii, not_plain


def serve(adapter: AdapterSpec) -> int:
    """Serve until the end of input. A command adapter takes this process's place.

    Raises AdapterError if the adapter cannot be started or loaded.
    """
    if adapter.command is not None:
        argv = adapter.command()
        sys.stdout.flush()
        try:
            os.execvp(argv[0], argv)  # noqa: S606 - the user's own adapter command, without a shell
        except OSError as error:
            raise AdapterError(f"adapter cannot be started: {argv[0]}: {error.strerror or error}") from None
    assert adapter.factory is not None
    if sys.stdin is None or sys.__stdout__ is None:
        raise UsageError("serve needs stdin and stdout: requests come on the one, answers go on the other")
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        # Whatever an implementation prints must not end up between the answers.
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        serve_callee(adapter.factory(), sys.stdin.buffer, answers)
    return 0


def serve_callee(callee: Callee, source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer every line of ``source``; a line is answered and flushed before the next is read."""
    for line in source:
        if not line.strip():
            continue
        sink.write((answer_line(callee, line) + "\n").encode("ascii"))
        sink.flush()


def answer_line(callee: Callee, line: bytes) -> str:
    """The answer to one line, as one line of ASCII JSON."""
    try:
        request: Any = json.loads(line)
        number = request.get("id")
    except (ValueError, RecursionError, AttributeError) as error:
        return dump_ascii({"id": None, "error": f"request is no JSON object: {error}"})
    answer = json.loads(answer_text(callee, request))
    if isinstance(answer.get("result"), dict):
        answer["result"] = spell_out(answer["result"])
    return dump_ascii({**answer, "id": number if not_plain(number) is None else None})


def spell_out(result: dict[str, Any]) -> dict[str, Any]:
    """A result in which every member that is not plain is spelled as ``NAME_text``."""
    if not_plain(result) is None:
        return result
    return {
        (name if not_plain(value) is None else f"{name}_text"): (
            value if not_plain(value) is None else dump_ascii(value)
        )
        for name, value in result.items()
    }
