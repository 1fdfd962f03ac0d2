"""Where a log goes wrong: the first event at which an implementation and the reference part ways.

Found by putting prefixes of the log to both, so it needs no help from the adapter.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
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
MAX_HELD = 50
"""How many failures of one run are looked into."""


def can_be_located(verdict: Verdict) -> bool:
    """Whether a verdict is about a whole log that was answered, and wrongly."""
    return verdict.status == "fail" and verdict.case.op in OPERATIONS


class Locator:
    """Asks both sides about prefixes. ``numbers`` gives request ids that nothing else uses."""

    def __init__(
        self, connection: Connection, reference: Connection, numbers: Iterator[int] | None = None
    ) -> None:
        self.connection = connection
        self.reference = reference
        self.numbers = numbers or count(1)

    def first_divergence(self, case: Case) -> int | None:
        """The index of the event with which the answers begin to differ, or None if that cannot be told."""
        prefixes = prefixes_of(case.request)
        if not prefixes:
            return None
        if len(prefixes) <= LINEAR_EVENTS:
            return next(
                (index for index, request in enumerate(prefixes) if self.differs(case, request)), None
            )
        alike, different = -1, len(prefixes) - 1
        if not self.differs(case, prefixes[different]):
            return None
        while different - alike > 1:
            middle = (alike + different) // 2
            if self.differs(case, prefixes[middle]):
                different = middle
            else:
                alike = middle
        return different

    def differs(self, case: Case, request: dict[str, Any]) -> bool:
        """Whether the two sides answer one request differently."""
        body = dump_ascii({"op": case.op, "edition": case.edition, **request})[1:]
        wanted, found = self.ask(self.reference, body), self.ask(self.connection, body)
        if wanted.kind != found.kind:
            return True
        if wanted.kind != "result":
            return False
        try:
            return first_difference(plain_members(wanted.value), plain_members(found.value)) is not None
        except JsonTextError:
            return True

    def ask(self, connection: Connection, body: str) -> Answer:
        """Put one request to one side."""
        ((_, answer),) = connection.exchange(iter([Request(next(self.numbers), body)]))
        return answer


def prefixes_of(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The request with one event, with two, and so on; text is cut by element, so no spelling is lost."""
    if isinstance(request.get("events"), list):
        events = request["events"]
        return [{**request, "events": events[: length + 1]} for length in range(len(events))]
    text = request.get("events_text")
    if isinstance(text, str):
        return [{**request, "events_text": f"{text[:end]}]"} for end in element_ends(text)]
    return []


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


def with_divergence(verdict: Verdict, locator: Locator) -> Verdict:
    """The verdict, with the place of the first diverging event if it can be told."""
    index = locator.first_divergence(verdict.case)
    return verdict if index is None else replace(verdict, diverges=index)
