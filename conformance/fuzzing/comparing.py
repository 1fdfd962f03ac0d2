"""Do two answers to one request say the same, and if not, in which way do they differ?"""

from __future__ import annotations

import marshal
import re
from dataclasses import dataclass
from typing import Any

from conformance.compare import first_difference
from conformance.json_text import JsonTextError
from conformance.judge import plain_members
from conformance.ledger import Ledger
from conformance.operations import OPERATIONS
from conformance.protocol import Answer, read_answer
from conformance.rows_compare import OPERATION as ROWS_ENCODE
from conformance.rows_compare import comparable

AT_FAULT = frozenset(("error", "malformed", "unsupported", "not-run"))
"""Kinds of answers that say nothing of the implementation: the adapter, or the run, is at fault."""
BROKEN = frozenset(("crashed", "died", "hung"))


@dataclass(frozen=True, slots=True)
class Unlike:
    """How two answers differ.

    ``one`` and ``other`` say in a few words what each of them is: ``result``, ``rejected:CONDITION``,
    ``crashed``. ``path`` is the place inside the answer, ``at`` the step of a script. ``first`` and
    ``second`` are the two answers, or those of the step.
    """

    what: str
    one: str
    other: str
    path: str
    at: int | None
    first: Answer
    second: Answer

    @property
    def key(self) -> str:
        """What differences of the same kind share: no positions and no values."""
        place = re.sub(r"\[\d+\]", "[]", self.path)
        return " ".join(part for part in (self.what, place, self.one, "/", self.other) if part)


def compare(op: str, one: Answer, other: Answer, ledger: Ledger) -> Unlike | None:
    """The first way in which two answers differ. An answer that broke is never the same as anything."""
    if one.kind == "result" and other.kind == "result":
        if OPERATIONS[op].stepwise:
            if spelled_alike(one, other) and all_taken(one.value.get("steps")):
                return None
            return compare_steps(one, other, ledger)
        if OPERATIONS[op].tokens:
            return compare_results(timeless(one), timeless(other))
        return compare_results(by_value(op, one), by_value(op, other))
    return compare_kinds(one, other, ledger)


def compare_kinds(one: Answer, other: Answer, ledger: Ledger) -> Unlike | None:
    """Two answers of which at most one is a result."""
    first, second = told(one, ledger), told(other, ledger)
    if one.kind != other.kind or one.kind in BROKEN or one.kind in AT_FAULT:
        return Unlike("verdict", first, second, "", None, one, other)
    left, right = conditions(one, ledger), conditions(other, ledger)
    if left and right and not left & right:
        return Unlike("condition", first, second, "", None, one, other)
    places = one.value.get("at"), other.value.get("at")
    if None not in places and places[0] != places[1]:
        return Unlike("position", first, second, "at", None, one, other)
    return None


def compare_results(one: Answer, other: Answer) -> Unlike | None:
    """Two results, by value."""
    if spelled_alike(one, other):
        return None
    try:
        difference = first_difference(plain_members(one.value), plain_members(other.value))
    except JsonTextError:
        return Unlike("unreadable", "result", "result", "", None, one, other)
    if difference is None:
        return None
    return Unlike("result", "result", "result", difference.path, None, one, other)


def spelled_alike(one: Answer, other: Answer) -> bool:
    """Whether two answers hold the same values of the same types in the same order: quickly told."""
    return one.value is other.value or marshal.dumps(one.value, 2) == marshal.dumps(other.value, 2)


def by_value(op: str, answer: Answer) -> Answer:
    """A result with values in place of JSON text whose spelling is the writer's own; see ``rows_compare``."""
    return Answer(answer.kind, comparable(op, answer.value)) if op == ROWS_ENCODE else answer


def all_taken(steps: Any) -> bool:
    """Whether no step broke."""
    return type(steps) is list and all(
        type(step) is dict and len(step) == 1 and ("result" in step or "rejected" in step) for step in steps
    )


def compare_steps(one: Answer, other: Answer, ledger: Ledger) -> Unlike | None:
    """Two answers to a script, step by step."""
    left, right = with_tokens_numbered(steps_of(one)), with_tokens_numbered(steps_of(other))
    if len(left) != len(right):
        return Unlike("steps", "result", "result", "steps", None, one, other)
    for index, (first, second) in enumerate(zip(left, right, strict=True)):
        if first.kind == "result" and second.kind == "result":
            unlike = compare_results(timeless(first), timeless(second))
        else:
            unlike = compare_kinds(first, second, ledger)
        if unlike is not None:
            return Unlike(unlike.what, unlike.one, unlike.other, unlike.path, index, first, second)
    return None


def steps_of(answer: Answer) -> list[Answer]:
    """The answers to the steps of a script; none where they cannot be read."""
    try:
        found = plain_members(answer.value).get("steps")
    except JsonTextError:
        return []
    if not isinstance(found, list):
        return []
    wrong = Answer("malformed", "a step must be an object")
    return [read_answer(step) if type(step) is dict else wrong for step in found]


def with_tokens_numbered(steps: list[Answer]) -> list[Answer]:
    """The steps with each revision as the number of those before it: it says only "same" or "other"."""
    known: dict[str, int] = {}
    found = []
    for step in steps:
        revision = step.value.get("revision") if step.kind == "result" else None
        if type(revision) is str:
            number = known.setdefault(revision, len(known))
            step = Answer("result", {**step.value, "revision": f"token {number}"})
        found.append(step)
    return found


CLOCK = range(1_760_000_000_000, 4_102_444_800_000)
"""Milliseconds since 1970 that the clock of an implementation may show. No recipe draws such a time."""


def timeless(answer: Answer) -> Answer:
    """A result without what the implementation's clock and its way of guarding itself decide."""
    value: dict[str, Any] = answer.value
    if "outcome" in value:
        return Answer("result", {**value, "outcome": "any"})
    if not {"events", "events_text", "header", "header_text"} & value.keys():
        return answer
    try:
        plain = plain_members(value)
    except JsonTextError:
        return answer
    if isinstance(plain.get("events"), list):
        plain = {**plain, "events": [timed(event, "time") for event in plain["events"]]}
    if "header" in plain:
        plain = {**plain, "header": timed(plain["header"], "createdAt")}
    return Answer("result", plain)


def timed(holder: Any, name: str) -> Any:
    """An object whose time, if it is one of a clock, is replaced by a word."""
    if type(holder) is dict and type(holder.get(name)) is int and holder[name] in CLOCK:
        return {**holder, name: "now"}
    return holder


def told(answer: Answer, ledger: Ledger) -> str:
    """An answer in a word or two."""
    if answer.kind != "rejected":
        return "crashed" if answer.kind == "died" else answer.kind
    names = conditions(answer, ledger)
    return f"rejected:{'|'.join(sorted(names))}" if names else "rejected"


def conditions(answer: Answer, ledger: Ledger) -> frozenset[str]:
    """The conditions that a refusal may mean: the one that it names, or those of its text."""
    if "condition" in answer.value:
        return frozenset((answer.value["condition"],))
    return ledger.conditions_of(answer.value["message"]) if "message" in answer.value else frozenset()
