"""Answers as a sweep reads them: with their members spelled out, or ``malformed`` where these are not there.

A sweep asks one question thousands of times. So an answer that is none is a failure with an offset, and
ends no sweep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.json_text import JsonTextError
from conformance.judge import plain_members
from conformance.protocol import Answer

Step = dict[str, Any]
VIEWS = ("load", "inspect", "readFrom")
"""Steps whose result is a log."""


def read_scan(answer: Answer) -> Answer:
    """The answer to ``jsonl.scan``."""
    return checked(answer, lambda found: fault_of_events(found) or fault_of_torn(found))


def read_load(answer: Answer) -> Answer:
    """The answer to ``jsonl.load``."""

    def fault(found: dict[str, Any]) -> str | None:
        wrong = None if objects(found.get("closers")) else "its closers are no list of objects"
        return fault_of_events(found) or fault_of_torn(found) or wrong

    return checked(answer, fault)


def read_any(answer: Answer) -> Answer:
    """The answer to an operation of whose result nothing is read."""
    return checked(answer, lambda _: None)


def checked(answer: Answer, fault: Callable[[dict[str, Any]], str | None]) -> Answer:
    """A result without ``NAME_text``. ``fault`` says in a sentence what its members lack."""
    if answer.kind != "result":
        return answer
    try:
        found = plain_members(answer.value)
    except JsonTextError as error:
        return Answer("malformed", str(error))
    told = fault(found)
    return Answer("result", found) if told is None else Answer("malformed", f"in the result {told}")


def fault_of_events(found: dict[str, Any]) -> str | None:
    return None if isinstance(found.get("events"), list) else "events is no list"


def fault_of_torn(found: dict[str, Any]) -> str | None:
    torn = found.get("tornFrom", "absent")
    is_offset = type(torn) is int and torn >= 0
    return None if torn is None or is_offset else "tornFrom is neither null nor an offset"


def objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def steps_of(answer: Answer, asked: list[Step]) -> list[Step]:
    """One answer for each step of ``backend``, whatever became of the request."""

    def fault(found: dict[str, Any]) -> str | None:
        steps = found.get("steps")
        if not objects(steps) or len(steps or []) != len(asked):
            return f"steps is no list of {len(asked)} objects"
        return None

    answer = checked(answer, fault)
    if answer.kind != "result":
        return [{answer.kind: answer.value}] * len(asked)
    return [read_step(told, step) for told, step in zip(answer.value["steps"], asked, strict=True)]


def read_step(told: Step, asked: Step) -> Step:
    """The answer to one step."""
    if "rejected" in told and not isinstance(told["rejected"], dict):
        return {"malformed": "a refusal is no object"}
    if "result" not in told or not any(name in asked for name in VIEWS):
        return told
    if not isinstance(told["result"], dict):
        return {"malformed": "the result of a step is no object"}
    read = checked(
        Answer("result", told["result"]),
        lambda found: None if objects(found.get("events")) else "events is no list of objects",
    )
    return {read.kind: read.value}
