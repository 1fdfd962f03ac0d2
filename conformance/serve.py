"""Any adapter over stdin and stdout: what is in this process, offered to whoever speaks the protocol."""

from __future__ import annotations

import json
import os
import sys
from typing import IO, Any

from conformance.adapters.inprocess import Callee
from conformance.adapters.registry import AdapterSpec
from conformance.json_text import dump_ascii, not_plain


def serve(adapter: AdapterSpec) -> int:
    """Serve until the end of input. A command adapter takes this process's place."""
    if adapter.command is not None:
        argv = adapter.command()
        sys.stdout.flush()
        os.execvp(argv[0], argv)  # noqa: S606 - the user's own adapter command, without a shell
    assert adapter.factory is not None
    serve_callee(adapter.factory(), sys.stdin.buffer, sys.stdout.buffer)
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
    try:
        answer = callee(request)
        if "result" in answer:
            answer = {**answer, "result": spell_out(answer["result"])}
        return dump_ascii({"id": number, **answer})
    except (Exception, SystemExit) as error:
        return dump_ascii({"id": number, "crashed": f"{type(error).__name__}: {error}"})


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
