"""Adapters in this process: a Python callable that takes a request and returns an answer."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NoReturn

from conformance import databases, phases
from conformance.adapters.limits import Limits
from conformance.json_text import dump_infinite
from conformance.protocol import HELLO_BODY, Answer, Hello, Request, read_answer, read_hello

_ENCODE = json.JSONEncoder(allow_nan=False, check_circular=False).encode
_DECODE = json.JSONDecoder().raw_decode
"""For texts made here, which hold nothing around their value."""
Callee = Callable[[dict[str, Any]], dict[str, Any]]
"""A request as a fresh dict, an answer as a dict that holds exactly one of the five kinds."""


class Overdue(BaseException):
    """An answer takes longer than it may. No Exception, so that an adapter does not take it for its own."""


def answer_text(callee: Callee, request: dict[str, Any]) -> str:
    """What a callable answers, as JSON text: what is no JSON goes no further, here as on a pipe.

    Whatever the callable does short of ending this process is an answer. An exception that
    leaves it counts as ``crashed``, exactly as one that ends a process does.
    """
    try:
        message: Any = callee(request)
    except (Overdue, KeyboardInterrupt):
        raise
    except BaseException as error:
        return json.dumps({"crashed": describe(error)})
    if not isinstance(message, dict):
        return json.dumps({"error": f"an answer must be a dict, not {type(message).__name__}"})
    try:
        return _encoded(message)
    except Exception as error:
        return json.dumps({"error": f"the answer is no JSON: {describe(error)}"})


def _encoded(message: dict[str, Any]) -> str:
    """The message as JSON; members of the result that hold an infinite number are spelled as NAME_text."""
    try:
        return _ENCODE(message)
    except ValueError:
        if not isinstance(message.get("result"), dict):
            raise
    spelled = {}
    for name, value in message["result"].items():
        try:
            _ENCODE(value)
            spelled[name] = value
        except ValueError:
            spelled[f"{name}_text"] = dump_infinite(value)
    return _ENCODE({**message, "result": spelled})


AGAIN_SECONDS = 0.25
"""Python drops what is raised in a destructor or a callback of its collector, so one alarm may not do."""


class EndsProcess(BaseException):
    """The callable wanted to end this process, and with it a run that would look like a pass."""


@contextlib.contextmanager
def _no_way_out() -> Iterator[None]:
    """``os._exit`` raises EndsProcess in this process; in one that is forked from it, it exits."""
    exit_now, here = os._exit, os.getpid()

    def guarded(status: int) -> NoReturn:
        if os.getpid() == here:
            raise EndsProcess(f"the adapter tried to end the process with os._exit({status})")
        exit_now(status)

    os._exit = guarded
    try:
        yield
    finally:
        os._exit = exit_now


class InProcess:
    """A connection to a callable. Each request is parsed anew, so nothing is shared between cases.

    The time limit holds where it can: in the main thread, and for code that lets signals through.
    """

    def __init__(self, callee: Callee, limits: Limits | None = None) -> None:
        self._callee = callee
        self._limits = limits or Limits()
        self.problems: list[str] = []
        self._timed = threading.current_thread() is threading.main_thread()
        with self.alarms():
            self.hello: Hello = read_hello(self.ask(Request(0, HELLO_BODY)))

    def ask(self, request: Request) -> Answer:
        """Put one request, while ``alarms`` are on."""
        told = self.reply(request)
        return told if isinstance(told, Answer) else read_reply(told)

    def reply(self, request: Request) -> str | Answer:
        """The JSON text of an answer, for ``read_reply``; an Answer where there is none in time."""
        asked, _ = _DECODE(request.text())
        try:
            try:
                self._arm(self._limits.answer_seconds, AGAIN_SECONDS)
                return answer_text(self._callee, asked)
            finally:
                self._arm(0, 0)
        except Overdue:
            self._arm(0, 0)  # the alarm may have struck again on the way out
            return Answer("hung", f"no answer within {self._limits.answer_seconds:g} s")

    def _arm(self, seconds: float, again: float) -> None:
        """Let the alarm strike in so many seconds, and again after that; with 0 never."""
        if self._timed:
            signal.setitimer(signal.ITIMER_REAL, seconds, again)

    def exchange(self, requests: Iterator[Request]) -> Iterator[tuple[int, Answer]]:
        """One answer after the other, in the order of the requests; see ``phases`` and ``databases``."""
        return databases.exchange(lambda asked: phases.exchange(self._exchange, asked), requests)

    def _exchange(self, requests: Iterator[Request]) -> Iterator[tuple[int, Answer]]:
        ask = self.ask
        total = self._limits.total_seconds
        ends_at = None if total is None else time.monotonic() + total
        with self.alarms():
            for request in requests:
                if ends_at is not None and time.monotonic() > ends_at:
                    yield request.number, Answer("not-run", f"not run: the run took longer than {total:g} s")
                else:
                    yield request.number, ask(request)

    @contextlib.contextmanager
    def alarms(self) -> Iterator[None]:
        """Take the alarm signal, and the way out of the process, for as long as answers are waited for."""
        with _no_way_out():
            if not self._timed:
                yield
                return
            before = signal.signal(signal.SIGALRM, _overdue)
            try:
                yield
            finally:
                self._arm(0, 0)
                signal.signal(signal.SIGALRM, before)

    def close(self) -> None:
        """Nothing to end."""


def read_reply(text: str) -> Answer:
    """The answer in a text that ``InProcess.reply`` gave."""
    return read_answer(_DECODE(text)[0])


def describe(error: BaseException) -> str:
    """An exception in words, even one whose own words cannot be had."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _overdue(_signal: int, _frame: FrameType | None) -> None:
    raise Overdue
