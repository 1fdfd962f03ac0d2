"""The adapter under examination: asks, starts a fresh process where one was lost, and keeps to its time."""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from conformance.adapters.limits import Limits
from conformance.doctor import samples
from conformance.doctor.conversation import Conversation, Reply
from conformance.doctor.reading import Marks
from conformance.doctor.samples_stored import FOLDER
from conformance.doctor.target import Target
from conformance.protocol import HELLO_BODY

MOST_LOST = 6
"""Processes that may die or hang before the rest of the examination is given up."""
IDS = itertools.count(17, 23)
"""Ids with gaps, and none twice: an adapter that numbers its answers itself is found out."""


class OutOfPatience(Exception):  # noqa: N818 - what happened, not a programming error
    """No more can be asked: the time is over, or too many processes were lost, over ``replies``."""

    def __init__(self, reason: str, replies: Sequence[Reply] = (), finding: str | None = None) -> None:
        super().__init__(reason)
        self.reason, self.replies, self.finding = reason, replies, finding


class Patient:
    """One adapter. ``hello`` is the result of its first greeting, once there was one."""

    def __init__(self, target: Target, answer_seconds: float, total_seconds: float) -> None:
        self.target = target
        self.seconds = answer_seconds
        self.hello_seconds = min(answer_seconds * 6, Limits().hello_seconds)
        self.ends_at = time.monotonic() + total_seconds
        self.marks = Marks()
        self.hello: dict[str, Any] = {}
        self.later_hellos: list[Any] = []
        self.start_seconds = 0.0
        self.talk: Conversation | None = None
        self.lost = 0
        self.given_up: str | None = None
        """Why no more can be asked, if that is so."""
        self._home: tempfile.TemporaryDirectory[str] | None = None

    # -- what it offers --------------------------------------------------------

    @property
    def declared(self) -> list[str]:
        """The operations that it declares and we know, in the order in which checks choose."""
        told = self.hello.get("capabilities", [])
        return [op for op in samples.ANY_OPERATION if op in told]

    def first_of(self, *operations: str) -> str | None:
        """The first of these operations that is declared."""
        return next((op for op in operations if op in self.declared), None)

    # -- time ------------------------------------------------------------------

    def left(self, wanted: float) -> float:
        """As much of a number of seconds as there still is. Raises OutOfPatience at the end of the time."""
        left = self.ends_at - time.monotonic()
        if left <= 0:
            raise OutOfPatience("the time for all checks is over")
        return min(wanted, left)

    # -- processes -------------------------------------------------------------

    def start(self) -> Conversation:
        """A new process, not greeted; the one before it is ended. Raises AdapterError."""
        self.drop()
        self.talk = Conversation(self.target, self.marks)
        return self.talk

    def fresh(self) -> Conversation:
        """A new process that has greeted."""
        self.left(1)
        talk = self.start()
        talk.put(0, HELLO_BODY)
        talk.pump(self.left(max(self.seconds, self.start_seconds * 4)), lambda: 0 in talk.replies)
        talk.settle()
        reply = talk.replies.get(0)
        if reply is None:
            self.left(0)
            raise OutOfPatience(
                "a fresh process did not answer hello as the first one did", finding="hello-changes"
            )
        if reply.kind == "result":
            self.later_hellos.append(reply.value)
        return talk

    def current(self) -> Conversation:
        """The process that is there, or a fresh one."""
        return self.talk if self.talk is not None else self.fresh()

    def close(self) -> None:
        """End the process, and remove what was lent to it."""
        self.drop()
        if self._home is not None:
            self._home.cleanup()

    def placed(self, body: str) -> str:
        """A request with a new folder in it, if it asks for one."""
        if FOLDER not in body:
            return body
        if self._home is None:
            self._home = tempfile.TemporaryDirectory(
                prefix="session-conformance-", ignore_cleanup_errors=True
            )
        folder = tempfile.mkdtemp(dir=self._home.name)
        return body.replace(FOLDER, json.dumps(folder)[1:-1])

    def drop(self) -> None:
        """End the process, if there is one."""
        if self.talk is not None:
            self.talk.close()
            self.talk = None

    # -- asking ----------------------------------------------------------------

    def ask(
        self, op: str, members: dict[str, Any], *, edition: str = "v0", number: int | None = None
    ) -> Reply:
        """Put one request and wait for its answer."""
        return self.ask_all([(op, members)], edition=edition, number=number)[0]

    def ask_all(
        self,
        requests: Sequence[tuple[str, dict[str, Any]]],
        *,
        edition: str = "v0",
        number: int | None = None,
        cut: int | None = None,
    ) -> list[Reply]:
        """Put requests in one write, or in two with a pause at ``cut``, and wait for all answers."""
        talk = self.current()
        seconds = self.left(self.seconds)
        bodies = [
            (next(IDS) if number is None else number, self.placed(samples.body(op, members, edition)))
            for op, members in requests
        ]
        later = talk.put_text(bodies, cut)
        if later:
            talk.pump(min(0.3, seconds), lambda: not talk.open)
            talk.process.send(later)
        waiting = len(talk.open) + 1
        while 0 < len(talk.open) < waiting:  # as in a run, the time is that of the oldest open request
            waiting = len(talk.open)
            talk.pump(self.left(self.seconds), partial(talk.fewer_than, waiting))
        if talk.open:
            talk.settle()
        replies = [talk.reply(asked, seconds) for asked, _ in bodies]
        if any(reply.gone for reply in replies):
            self.lost += 1
            self.drop()
            if self.lost >= MOST_LOST:
                raise OutOfPatience(f"{MOST_LOST} processes died or hung; repair these first", replies)
        return replies
