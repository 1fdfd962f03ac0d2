"""The glue between session-conformance and a port. It needs no change: fill in ``port.py``.

    session-conformance run python:adapter:create              in the process of the suite
    session-conformance run stdio:'python3 adapter.py'         as a process of its own

``create_example`` and ``--example`` put the worked example in the place of the port.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))  # port.py stands beside this file

import example_port
import port

Answer = dict[str, Any]

# What each operation is called with. An operation of the protocol that is missing here needs one line.
MEMBERS = {
    "fold": ["events"],
    "messages": ["events"],
    "project": ["event"],
    "classify": ["event"],
    "transcript": ["events"],
    "window": ["events", "baseSeq"],
    "messages.linear-fallback": ["events"],
}
# Passed on from the input, so they may hold what no plain answer can: they are answered as NAME_text.
PASSED_ON = ("messages", "message")


def create(module: ModuleType = port) -> Callable[[Answer], Answer]:
    """The factory of the adapter: a function from a request to an answer."""
    return lambda request: answer(module, request)


def create_example() -> Callable[[Answer], Answer]:
    """The same for the worked example."""
    return create(example_port)


def answer(module: ModuleType, request: Answer) -> Answer:
    """Answer one request. Exactly one of result, rejected, crashed, unsupported and error comes back."""
    op = str(request.get("op"))
    if op == "hello":
        if request.get("protocol") != 1:
            return {"error": "this adapter speaks protocol 1"}
        about = {"implementation": module.IMPLEMENTATION, "capabilities": [*module.OPERATIONS]}
        return {"result": {"protocol": 1, **about, "editions": ["v0"]}}
    if op not in module.OPERATIONS or request.get("edition") != "v0":
        return {"unsupported": f"operation {op} of edition {request.get('edition')}"}
    missing = [name for name in MEMBERS[op] if name not in request and f"{name}_text" not in request]
    if missing:
        return {"error": f"{op} needs {missing[0]} or {missing[0]}_text"}
    try:
        # A text is for the port's own parser: how it reads 1.0, -0 or a name twice is part of the test.
        values = [
            request[name] if name in request else module.parse(request[f"{name}_text"])
            for name in MEMBERS[op]
        ]
        return {"result": spell(module.OPERATIONS[op](*values))}
    except module.Refusal as refusal:  # this type only: whatever else is thrown is a crash, and must be
        known = {name: getattr(refusal, name, None) for name in ("condition", "at")}
        told = {name: value for name, value in known.items() if value is not None}
        return {"rejected": {**told, "message": str(refusal)}}
    except Exception as error:
        return {"crashed": f"{type(error).__name__}: {error}"}


def spell(result: Answer) -> Answer:
    """A lone surrogate survives as an escape inside a text; json.dumps writes it as one."""
    return {
        (f"{name}_text" if name in PASSED_ON else name): (
            json.dumps(value, allow_nan=False) if name in PASSED_ON else value
        )
        for name, value in result.items()
    }


def main() -> None:
    """One request per line in, one answer per line out, flushed at once, until the input ends."""
    answers = sys.stdout
    sys.stdout = sys.stderr  # whatever the port prints must not end up between the answers
    ask = create_example() if "--example" in sys.argv else create()
    for line in sys.stdin:
        request: Any = None
        try:
            request = json.loads(line)
            told = ask(request)
        except Exception as error:
            told = {"error": f"the request cannot be answered: {error}"}
        number = request.get("id") if isinstance(request, dict) else None
        answers.write(json.dumps({"id": number, **told}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
