"""One process of the adapter, and the pairing of its answers with what was asked."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.adapters.process import AdapterProcess, AnswerTooLong
from conformance.doctor.findings import SHOWN_BACK, SHOWN_SENT, shorten_middle
from conformance.doctor.reading import Marks, Message, Reader, Unreadable
from conformance.doctor.target import Target
from conformance.protocol import KINDS, read_answer

MAX_STRAY = 300
"""Faulty lines in one process after which it is not listened to any longer."""


@dataclass(slots=True)
class Reply:
    """What became of one request. ``kind`` is one of the protocol, or malformed, died, hung."""

    sent: str
    kind: str
    value: Any = None
    received: str = ""
    place: int = 0
    """How many answers this process had given before it."""

    @property
    def gone(self) -> bool:
        """The process died or hung over it."""
        return self.kind in ("died", "hung")

    def same(self, other: Reply) -> bool:
        """Whether two replies say the same by JSON value (of refusals, only that they are refusals)."""
        if self.kind == other.kind == "result":
            return bool(self.value == other.value)
        return self.kind == other.kind


class Conversation:
    """A process that was started, and what is open. The owner closes it."""

    def __init__(self, target: Target, marks: Marks) -> None:
        env = dict(os.environ if target.env is None else target.env)
        env.pop("PYTHONUNBUFFERED", None)  # it hides a missing flush, which then hangs somewhere else
        self.process = AdapterProcess(target.argv, env, target.cwd)
        self.marks = marks
        self.reader = Reader(marks)
        self.open: dict[int, str] = {}
        self.replies: dict[int, Reply] = {}
        self.began = time.monotonic()
        self.flooded = False
        self.unended = False
        """An answer came without a line end, so that it was seen only when nothing more was waited for."""
        self.ended = False
        self._faulty_lines = 0

    # -- talking ---------------------------------------------------------------

    def put(self, number: int, body: str) -> None:
        """Send one request line; ``body`` is what stands behind the id."""
        self.put_text([(number, body)])

    def put_text(self, requests: list[tuple[int, str]], cut: int | None = None) -> bytes:
        """Send requests in one write. With ``cut``, keep back what is behind it, and return that."""
        data = b""
        for number, body in requests:
            line = f'{{"id":{number},{body}'
            self.open[number] = shorten_middle(line, SHOWN_SENT)
            self.reader.sent = self.open[number]
            data += line.encode("ascii") + b"\n"
        now, later = (data, b"") if cut is None else (data[:cut], data[cut:])
        self.process.send(now)
        return later

    def pump(self, seconds: float, until: Callable[[], bool]) -> bool:
        """Read and write until something holds, the process has ended, or the time is over."""
        end = time.monotonic() + seconds
        process = self.process
        while not until():
            left = end - time.monotonic()
            if left <= 0 or self.flooded or not process.stdout_open:
                break
            self._turn(min(left, 0.05))
            if process.returncode is not None:  # a child of it may hold the pipe open
                for _ in range(64):
                    before = process.bytes_read
                    self._read()
                    if process.bytes_read == before:
                        break
                if not until():
                    break
        return until()

    def _turn(self, seconds: float) -> None:
        process = self.process
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if process.stderr_open:
                selector.register(process.stderr, selectors.EVENT_READ)
            if process.unsent:
                selector.register(process.stdin, selectors.EVENT_WRITE)
            for key, ready in selector.select(seconds):
                if ready & selectors.EVENT_WRITE:
                    process.flush()
                elif key.fd == process.stderr:
                    process.read_stderr()
                else:
                    self._read()

    def _read(self) -> None:
        try:
            lines = self.process.read_lines() if self.process.stdout_open else []
        except AnswerTooLong:
            self.flooded = True
            self.marks.add("no-line-end", "more than 64 MiB without a line end", self.reader.sent)
            return
        for line in lines:
            self._take_line(line)
            if self._faulty_lines > MAX_STRAY:
                self.flooded = True
                return

    def _take_line(self, line: bytes) -> None:
        before = len(self.replies)
        self.reader.stray = "stdout-after-end" if self.ended and not self.open else "stdout-log"
        for message, text in self.reader.feed(line):
            self._take(message, text)
        if len(self.replies) == before and not self.reader.holding:
            self._faulty_lines += 1

    def settle(self) -> None:
        """Nothing more is waited for: take what came without a line end or only in part."""
        partial = self.process.take_partial()
        if partial.strip():
            before = len(self.replies)
            self._take_line(partial)
            if len(self.replies) > before:
                self.unended = True
                self.marks.add("no-line-end", partial[:200].decode("utf-8", "replace"), self.reader.sent)
        for message, text in self.reader.finish():
            self._take(message, text)

    def end_input(self) -> None:
        """Close the input; a line that comes when nothing is open is then one after the end."""
        self.ended = True
        self.process.close_stdin()

    def close(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()

    # -- pairing ---------------------------------------------------------------

    def _take(self, message: Message | Unreadable, text: str) -> None:
        """Pair an answer with its request; where the id does not do it, with the oldest open one."""
        if isinstance(message, Unreadable):
            self.marks.add("answer-unreadable", text, self.reader.sent)
            if self.open:
                self._answered(next(iter(self.open)), Reply("", "malformed", None, text))
            return
        number = self._number(message, text)
        if number is not None:
            self._answered(number, self._reply(message, text, self.open[number]))

    def _number(self, message: Message, text: str) -> int | None:
        found = message.get("id")
        if type(found) is int and found in self.open:
            return found
        oldest = next(iter(self.open), None)
        if type(found) is int and found in self.replies:
            self.marks.add("answer-repeated", text, self.replies[found].sent)
            return None
        if oldest is None:
            stray = self.reader.stray
            self.marks.add("id-unknown" if stray == "stdout-log" else stray, text, self.reader.sent)
            return None
        self.marks.add(self._fault_of_id(found, oldest), text, self.open[oldest])
        if isinstance(found, str | float) and str(found).removesuffix(".0") in map(str, self.open):
            return int(str(found).removesuffix(".0"))
        return oldest

    def _fault_of_id(self, found: Any, oldest: int) -> str:
        if found is None:
            return "id-missing"
        if isinstance(found, str):
            return "id-text"
        if oldest > 1 << 31:  # only the check of large ids asks under such a one
            return "id-squeezed"
        return "id-fraction" if isinstance(found, float) and found in self.open else "id-unknown"

    def _reply(self, message: Message, text: str, sent: str) -> Reply:
        answer = read_answer(message)
        if answer.kind == "malformed":
            kinds = [kind for kind in KINDS if kind in message]
            fault = "two-kinds" if len(kinds) > 1 else "no-kind" if not kinds else "answer-malformed"
            if kinds == ["result"]:
                fault = "result-no-object"
            self.marks.add(fault, text, sent)
        return Reply(sent, answer.kind, answer.value, text)

    def _answered(self, number: int, reply: Reply) -> None:
        reply.sent = self.open.pop(number)
        reply.place = len(self.replies)
        reply.received = shorten_middle(reply.received, SHOWN_BACK)
        self.replies[number] = reply

    def fewer_than(self, number: int) -> bool:
        """Whether fewer requests than that are open."""
        return len(self.open) < number

    # -- what became of a request -------------------------------------------------

    def reply(self, number: int, seconds: float) -> Reply:
        """The reply to a request; died or hung if there is none."""
        if number in self.replies:
            return self.replies[number]
        process = self.process
        if not process.stdout_open or process.returncode is not None:
            process.wait(0.3)
            tail = process.stderr_tail()
            told = f"the adapter {process.describe_end()}" + (
                f"; stderr ends with: {tail[-300:]}" if tail else ""
            )
            return Reply(self.open[number], "died", None, told)
        told = "lines without end" if self.flooded else f"nothing within {seconds:g} s"
        tail = process.stderr_tail()
        return Reply(
            self.open[number], "hung", None, told + (f"; stderr ends with: {tail[-300:]}" if tail else "")
        )
