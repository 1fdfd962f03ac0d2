"""Adapters in this process: a Python callable that takes a request and returns an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from conformance.protocol import HELLO_BODY, Answer, Hello, Request, read_answer, read_hello

Callee = Callable[[dict[str, Any]], dict[str, Any]]
"""A request as a fresh dict, an answer as a dict that holds exactly one of the five kinds."""


class InProcess:
    """A connection to a callable. Each request is parsed anew, so nothing is shared between cases.

    An exception that leaves the callable counts as ``crashed``, exactly as one that ends a
    process does; an adapter that wants to refuse says so.
    """

    def __init__(self, callee: Callee) -> None:
        self._callee = callee
        self.problems: list[str] = []
        self.hello: Hello = read_hello(self.ask(Request(0, HELLO_BODY)))

    def ask(self, request: Request) -> Answer:
        """Put one request."""
        try:
            message = self._callee(json.loads(f'{{"id":{request.number},{request.body}'))
        except (Exception, SystemExit) as error:
            return Answer("crashed", f"{type(error).__name__}: {error}")
        if type(message) is not dict:
            return Answer("malformed", f"an answer must be a dict, not {type(message).__name__}")
        return read_answer(message)

    def exchange(self, requests: Iterator[Request]) -> Iterator[tuple[int, Answer]]:
        """One answer after the other, in the order of the requests."""
        ask = self.ask
        for request in requests:
            yield request.number, ask(request)

    def close(self) -> None:
        """Nothing to end."""
