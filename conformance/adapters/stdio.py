"""Adapters behind a pipe: a pool of processes that run the same command, driven by one loop.

Requests go out in a window and answers pair with them by id; see ``lane`` for what happens
when a process dies or hangs.
"""

from __future__ import annotations

import selectors
import shlex
import time
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance import databases, phases
from conformance.adapters.lane import Lane
from conformance.adapters.limits import SHOWN_PROBLEMS, Limits
from conformance.errors import AdapterError
from conformance.protocol import Answer, Hello, Request


class StdioPool:
    """A connection to ``jobs`` processes that run the same command."""

    def __init__(
        self,
        argv: list[str],
        jobs: int = 1,
        limits: Limits | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.argv, self.env, self.cwd = argv, env, cwd
        self.limits = limits or Limits()
        self.problems: list[str] = []
        self.unlisted = 0
        self.restarts_left = self.limits.restarts
        self.hangs_left = self.limits.hangs
        self.ends_at: float | None = None
        self.given_up: str | None = None
        self.source: Iterator[Request] = iter(())
        self.selector = selectors.DefaultSelector()
        self.hello: Hello
        self.first_hello: Hello | None = None
        self.finished: deque[tuple[int, Answer]] = deque()
        self.lanes = [Lane(self) for _ in range(jobs)]
        try:
            self._greet()
        except BaseException:
            self.close()
            raise

    def _greet(self) -> None:
        """Start the first process and wait for its hello."""
        lane = self.lanes[0]
        lane.start()
        while self.first_hello is None:
            self._turn()
            if self.given_up:
                raise AdapterError("; ".join([self.given_up, *self.problems[:-1]]))
        self.hello = self.first_hello

    def problem(self, text: str) -> None:
        """Note a fault of the run; beyond a number of them they are only counted."""
        if len(self.problems) < SHOWN_PROBLEMS:
            self.problems.append(text)
        else:
            self.unlisted += 1

    def give_up(self, reason: str, *, adapter_at_fault: bool = True) -> None:
        """Stop using the adapter; what is unanswered or unsent ends as not-run."""
        if self.given_up is None:
            self.given_up = reason
            if adapter_at_fault:
                self.problem(reason)

    def exchange(self, requests: Iterator[Request]) -> Iterator[tuple[int, Answer]]:
        """Answers in the order in which they arrive, one for each request; see ``phases``, ``databases``."""
        return databases.exchange(lambda asked: phases.exchange(self._exchange, asked), requests)

    def _exchange(self, requests: Iterator[Request]) -> Iterator[tuple[int, Answer]]:
        self.source = requests
        if self.ends_at is None and self.limits.total_seconds is not None:
            self.ends_at = time.monotonic() + self.limits.total_seconds
        while self.given_up is None:
            busy = False
            for lane in self.lanes:
                lane.fill()
                busy = busy or bool(lane.pending or lane.suspects)
            if not busy and not self.finished:
                return
            if not self.finished:
                self._turn()
            while self.finished:
                yield self.finished.popleft()
        yield from self._abandon()

    def _abandon(self) -> Iterator[tuple[int, Answer]]:
        reason = f"not run: {self.given_up}"
        for lane in self.lanes:
            for request in lane.unfinished():
                yield request.number, Answer("not-run", reason)
            lane.stop()
        for request in self.source:
            yield request.number, Answer("not-run", reason)

    def _turn(self) -> None:
        """Wait for the next thing to happen on any pipe, and deal with it and with the clocks."""
        for key, ready in self.selector.select(timeout=0.05):
            lane: Lane = key.data
            if ready & selectors.EVENT_WRITE:
                lane.flush()
            if ready & selectors.EVENT_READ:
                lane.read(key.fd)
        now = time.monotonic()
        for lane in self.lanes:
            lane.check(now)
        if self.ends_at is not None and now > self.ends_at:
            self.give_up(f"the run took longer than {self.limits.total_seconds:g} s", adapter_at_fault=False)

    def close(self) -> None:
        """End all processes: politely where nothing is unanswered, at once otherwise."""
        try:
            for lane in self.lanes:
                lane.finish()
        finally:  # also when Ctrl-C comes while a process is seen off
            for lane in self.lanes:
                lane.stop()
            self.selector.close()
        if self.unlisted:
            self.problems.append(f"… and {self.unlisted} more like these")
            self.unlisted = 0


def split_command(command: str) -> list[str]:
    """Split a command as a shell would; no shell runs it. Raises AdapterError if there is none."""
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise AdapterError(f"cannot split the adapter command {command!r}: {error}") from None
    if not argv:
        raise AdapterError("stdio: needs a command, as in stdio:'node my-adapter.js'")
    return argv
