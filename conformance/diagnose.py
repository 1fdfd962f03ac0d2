"""Where a log goes wrong: the first event at which an implementation and the reference part ways.

Found by putting prefixes of the log to both, so it needs no help from the adapter. Both are
asked over connections of their own: what happens here is no verdict and no fault of the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

from conformance.cases import Case
from conformance.compare import first_difference
from conformance.json_text import JsonTextError, dump_ascii, parse_exact
from conformance.judge import Verdict, plain_members
from conformance.protocol import Answer, Connection, Request

OPERATIONS = ("fold", "messages", "window", "transcript", "messages.linear-fallback")
LINEAR_EVENTS = 32
"""Up to this length every prefix is tried, beyond it the search halves."""
MAX_EVENTS = 5000
"""Longer logs are not looked into."""
MAX_HELD = 50
ANSWERS = frozenset(("result", "rejected", "crashed"))
"""How many failures of one run are looked into."""


def can_be_located(verdict: Verdict) -> bool:
    """Whether a verdict is about a whole log that was answered, and wrongly."""
    return verdict.status == "fail" and verdict.case.op in OPERATIONS and verdict.case.family is None


class CannotTell(Exception):  # noqa: N818 - what happened, not a programming error
    """The adapter did not answer a prefix."""


_numbers = count(1)  # request ids: no two requests of a process may share one


def first_divergence(case: Case, connection: Connection, reference: Connection) -> int | None:
    """The index of the event with which the answers begin to differ, or None if that cannot be told."""

    def differs(length: int) -> bool:
        return answers_differ(case, prefix(length), connection, reference)

    events, prefix = prefixes_of(case.request)
    if not 0 < events <= MAX_EVENTS:
        return None
    try:
        if events <= LINEAR_EVENTS:
            return next((length - 1 for length in range(1, events + 1) if differs(length)), None)
        if not differs(events):
            return None
        alike, different = 0, events
        while different - alike > 1:
            middle = (alike + different) // 2
            alike, different = (alike, middle) if differs(middle) else (middle, different)
        return different - 1
    except CannotTell:
        return None


def answers_differ(
    case: Case, request: dict[str, Any], connection: Connection, reference: Connection
) -> bool:
    """Whether the two sides answer one request differently. Raises CannotTell."""
    body = dump_ascii({"op": case.op, "edition": case.edition, **request})[1:]
    wanted, found = ask(reference, body), ask(connection, body)
    if found.kind not in ANSWERS:
        raise CannotTell
    if wanted.kind != found.kind:
        return True
    if wanted.kind != "result":
        return False
    try:
        return first_difference(plain_members(wanted.value), plain_members(found.value)) is not None
    except JsonTextError:
        return True


def ask(connection: Connection, body: str) -> Answer:
    """Put one request to one side."""
    ((_, answer),) = connection.exchange(iter([Request(next(_numbers), body)]))
    return answer


def prefixes_of(request: dict[str, Any]) -> tuple[int, Callable[[int], dict[str, Any]]]:
    """The number of events, and how to cut the request after so many; text is cut by element.

    Nothing is spelled anew: what travels as text is a stretch of that same text.
    """
    events = request.get("events")
    if isinstance(events, list):
        return len(events), lambda length: {**request, "events": events[:length]}
    text = request.get("events_text")
    if isinstance(text, str):
        ends = element_ends(text)
        return len(ends), lambda length: {**request, "events_text": f"{text[: ends[length - 1]]}]"}
    return 0, lambda _length: request


def element_ends(text: str) -> list[int]:
    """Where each element of a JSON list ends in its text; nothing for what is no list."""
    try:
        if not isinstance(parse_exact(text), list):
            return []
    except JsonTextError:
        return []
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    ends: list[int] = []
    place = text.index("[") + 1
    while True:
        while text[place] in " \t\r\n,":
            place += 1
        if text[place] == "]":
            return ends
        _, place = decoder.raw_decode(text, place)
        ends.append(place)
