"""Adapters in this process: a Python callable that takes a request and returns an answer."""

from __future__ import annotations

import contextlib
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from conformance.adapters.limits import Limits
from conformance.protocol import HELLO_BODY, Answer, Hello, Request, read_answer, read_hello

Callee = Callable[[dict[str, Any]], dict[str, Any]]
"""A request as a fresh dict, an answer as a dict that holds exactly one of the five kinds."""


class Overdue(BaseException):
    """An answer takes longer than it may. No Exception, so that an adapter does not take it for its own."""


class InProcess:
    """A connection to a callable. Each request is parsed anew, so nothing is shared between cases.

    An exception that leaves the callable counts as ``crashed``, exactly as one that ends a
    process does; an adapter that wants to refuse says so. The time limit holds where it can: in
    the main thread, and for code that lets signals through.
    """

    def __init__(self, callee: Callee, limits: Limits | None = None) -> None:
        self._callee = callee
        self._limits = limits or Limits()
        self.problems: list[str] = []
        self._timed = threading.current_thread() is threading.main_thread()
        with self._alarms():
            self.hello: Hello = read_hello(self.ask(Request(0, HELLO_BODY)))

    def ask(self, request: Request) -> Answer:
        """Put one request. Whatever the callable does short of ending this process is an answer."""
        try:
            message = self._call(json.loads(f'{{"id":{request.number},{request.body}'))
            if type(message) is not dict:
                return Answer("malformed", f"an answer must be a dict, not {type(message).__name__}")
            return read_answer(message)
        except Overdue:
            return Answer("hung", f"no answer within {self._limits.answer_seconds:g} s")
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return Answer("crashed", describe(error))

    def _call(self, request: dict[str, Any]) -> Any:
        if not self._timed:
            return self._callee(request)
        signal.setitimer(signal.ITIMER_REAL, self._limits.answer_seconds)
        try:
            return self._callee(request)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def exchange(self, requests: Iterator[Request]) -> Iterator[tuple[int, Answer]]:
        """One answer after the other, in the order of the requests."""
        ask = self.ask
        total = self._limits.total_seconds
        ends_at = None if total is None else time.monotonic() + total
        with self._alarms():
            for request in requests:
                if ends_at is not None and time.monotonic() > ends_at:
                    yield request.number, Answer("not-run", f"not run: the run took longer than {total:g} s")
                else:
                    yield request.number, ask(request)

    @contextlib.contextmanager
    def _alarms(self) -> Iterator[None]:
        """Take the alarm signal for as long as answers are waited for."""
        if not self._timed:
            yield
            return
        before = signal.signal(signal.SIGALRM, _overdue)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def close(self) -> None:
        """Nothing to end."""


def describe(error: BaseException) -> str:
    """An exception in words, even one whose own words cannot be had."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _overdue(_signal: int, _frame: FrameType | None) -> None:
    raise Overdue
