"""Coverage-guided runs: atheris chooses, and keeps what reaches new lines of the reference.

``python -m conformance.fuzzing.guided CAPABILITY [CORPUS] [-runs=N] [-max_total_time=S]`` needs the extra
``fuzz``.
The bytes that atheris makes are the choices of a recipe, so each of them is an input of the operation. The
answer must be a result or a refusal. A difference from this ends the run, with the request in its message.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

from conformance.errors import UsageError
from conformance.fuzzing.draw import Replaying
from conformance.fuzzing.recipes import RECIPES, usable
from conformance.fuzzing.spelling import body_of
from conformance.protocol import Answer, Connection, Request

LONGEST = 4096
"""Bytes of an input; the corpus stays small."""


class BadAnswerError(AssertionError):
    """The reference did not answer as it must."""


def choices_of(data: bytes) -> list[int]:
    """Bytes as choices. 255 begins a number of seven more bytes, so that any choice can be made."""
    choices: list[int] = []
    place = 0
    while place < len(data):
        if data[place] == 255:
            choices.append(int.from_bytes(data[place + 1 : place + 8], "big"))
            place += 8
        else:
            choices.append(data[place])
            place += 1
    return choices


def put(capability: str, data: bytes, connection: Connection) -> Answer:
    """One input. Raises BadAnswerError where the answer is neither a result nor a refusal."""
    recipes = usable(RECIPES, connection.hello.capabilities, capability, untyped=True)
    draw = Replaying(choices_of(data))
    body = body_of(capability, draw.choice(recipes).make(draw))
    ((_, answer),) = connection.exchange(iter([Request(1, body)]))
    if answer.kind not in ("result", "rejected"):
        raise BadAnswerError(f"{answer.kind}: {answer.value}; asked: {body}")
    return answer


def main(argv: Sequence[str] | None = None) -> int:
    """Run until atheris ends. Raises UsageError where it is not installed, or the capability is not known."""
    words = list(sys.argv[1:] if argv is None else argv)
    known = sorted({recipe.capability for recipe in RECIPES})
    if not words or words[0] not in known:
        raise UsageError(f"name one of {', '.join(known)}")
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        raise UsageError("atheris is not installed: pip install 'session-conformance[fuzz]'") from None
    with atheris.instrument_imports(include=["reference_impl"]):
        from conformance.adapters.registry import resolve

        connection = resolve("reference").connect()

    def one_input(data: bytes) -> None:
        put(words[0], data, connection)

    atheris.Setup([sys.argv[0], f"-max_len={LONGEST}", *words[1:]], one_input)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except UsageError as error:
        sys.exit(f"guided: {error}")
