"""One lane of a pool: one process at a time, the requests it holds, and those under suspicion.

When a process dies or hangs with requests unanswered, nobody knows yet which one did it:
they are put one by one to fresh processes, and only one that fails as the first request of
a fresh process is blamed.
"""

from __future__ import annotations

import selectors
import time
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from conformance.adapters.limits import MAX_STRAY_LINES, WINDOW_BYTES, WINDOW_REQUESTS
from conformance.adapters.process import AdapterProcess, AnswerTooLong
from conformance.errors import AdapterError
from conformance.json_text import JsonTextError, parse_answer
from conformance.protocol import HELLO_BODY, Answer, Request, read_answer, read_hello

if TYPE_CHECKING:
    from conformance.adapters.stdio import StdioPool

DRAIN_READS = 512
WEIGH_SECONDS = 0.1


class Lane:
    """One process at a time, the requests it holds, and the requests under suspicion."""

    def __init__(self, pool: StdioPool) -> None:
        self.pool = pool
        self.process: AdapterProcess | None = None
        self.pending: dict[int, Request] = {}
        self.suspects: deque[Request] = deque()
        self.greeted = False
        self.answered = 0
        self.asked_alone = False
        self.unexplained: str | None = None
        self.held_bytes = 0
        self.oldest: int | None = None
        self.oldest_since = 0.0
        self.stray_lines = 0
        self.watching_write = False
        self.weigh_at = 0.0
        self.cautious = False

    # -- starting and ending ---------------------------------------------------

    def start(self) -> None:
        """Start a fresh process and greet it; its hello is the first request it holds."""
        pool = self.pool
        self.process = AdapterProcess(pool.argv, pool.env, pool.cwd)
        self.greeted, self.answered, self.stray_lines = False, 0, 0
        self.watching_write = False
        pool.selector.register(self.process.stdout, selectors.EVENT_READ, self)
        pool.selector.register(self.process.stderr, selectors.EVENT_READ, self)
        self.pending = {0: Request(0, HELLO_BODY)}
        self.oldest, self.oldest_since = 0, time.monotonic()
        self.send(self.pending[0].line())

    def stop(self) -> None:
        """End the process at once."""
        if self.process is None:
            return
        self.unwatch()
        self.process.kill()
        self.process = None
        self.pending = {}
        self.held_bytes = 0
        self.oldest = None

    def unwatch(self) -> None:
        process = self.process
        assert process is not None
        watched = self.pool.selector.get_map()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe in watched:
                self.pool.selector.unregister(pipe)
        self.watching_write = False

    def finish(self) -> None:
        """Close the input of an idle process and see it off; anything unusual is a problem of the run."""
        process = self.process
        if process is None:
            return
        if self.pending:
            self.stop()
            return
        process.close_stdin()
        end = time.monotonic() + self.pool.limits.exit_seconds
        while process.returncode is None and time.monotonic() < end:
            process.read_stderr()
            self.read_stdout_again(process)
            time.sleep(0.002)
        self.read_stdout_again(process)
        if process.returncode is None:
            self.pool.problem(
                f"the adapter did not exit within {self.pool.limits.exit_seconds:g} s of the end of its input"
            )
        elif process.returncode != 0:
            self.pool.problem(
                f"the adapter {process.describe_end()} at the end of its input; 0 is expected"
                + _quoted(process.stderr_tail())
            )
        self.stop()

    def read_stdout_again(self, process: AdapterProcess) -> None:
        try:
            for line in process.read_lines() if process.stdout_open else []:
                self.stray(line, "after its last answer")
        except AnswerTooLong:
            self.pool.problem("the adapter went on writing after its last answer")

    # -- sending ---------------------------------------------------------------

    def fill(self) -> None:
        """Hand out requests as far as the window allows; start a process if there is work for one."""
        if self.suspects:
            self.fill_suspect()
            return
        if self.process is None:
            request = next(self.pool.source, None)
            if request is None:
                return
            self.suspects.append(request)  # asked alone, which costs nothing for a first request
            self.fill_suspect()
            return
        if not self.greeted or self.asked_alone:
            return
        if self.cautious:
            self.ask_alone()
            return
        lines: list[bytes] = []
        while len(self.pending) < WINDOW_REQUESTS and self.held_bytes < WINDOW_BYTES:
            request = next(self.pool.source, None)
            if request is None:
                break
            lines.append(self.hold(request))
        if lines:
            self.send(b"".join(lines))

    def fill_suspect(self) -> None:
        if self.process is None:
            try:
                self.start()
            except AdapterError as error:
                self.pool.give_up(str(error))
                return
        if self.greeted and not self.pending:
            self.asked_alone = True
            self.send(self.hold(self.suspects.popleft()))

    def ask_alone(self) -> None:
        """One request at a time, for an adapter whose answers could not be read once."""
        request = next(self.pool.source, None)
        if request is not None:
            self.asked_alone = True
            self.send(self.hold(request))

    def hold(self, request: Request) -> bytes:
        if not self.pending:
            self.oldest, self.oldest_since = request.number, time.monotonic()
        self.pending[request.number] = request
        self.held_bytes += len(request.body)
        return request.line()

    def send(self, data: bytes) -> None:
        assert self.process is not None
        self.process.send(data)
        self.watch_write()

    def flush(self) -> None:
        if self.process is not None:
            self.process.flush()
            self.watch_write()

    def watch_write(self) -> None:
        assert self.process is not None
        wanted = bool(self.process.unsent)
        if wanted and not self.watching_write:
            self.pool.selector.register(self.process.stdin, selectors.EVENT_WRITE, self)
        elif self.watching_write and not wanted:
            self.pool.selector.unregister(self.process.stdin)
        self.watching_write = wanted

    # -- receiving -------------------------------------------------------------

    def read(self, pipe: int) -> None:
        process = self.process
        if process is None:
            return
        if pipe == process.stderr:
            process.read_stderr()
            if not process.stderr_open:
                self.pool.selector.unregister(process.stderr)
        elif pipe == process.stdout:
            try:
                lines = process.read_lines()
            except AnswerTooLong:
                self.fail("died", "the adapter wrote more than 64 MiB without a line end")
                return
            for line in lines:
                self.receive(line)
                if self.process is not process:
                    return
            if not process.stdout_open:
                self.ended()

    def drain(self, process: AdapterProcess) -> None:
        """Take what a process that has ended left in its pipe; a child of it may hold the pipe open."""
        for _ in range(DRAIN_READS):
            before = process.bytes_read
            self.read(process.stdout)
            if self.process is not process or process.bytes_read == before:
                return

    def receive(self, line: bytes) -> None:
        """Take one line from the process: an answer, or a stray line."""
        try:
            message = parse_answer(line.decode("utf-8"))
        except (UnicodeDecodeError, JsonTextError) as error:
            self.unreadable(line, f"is no JSON ({error})" if line.strip() else "is empty")
            return
        number = message.get("id") if type(message) is dict else None
        if type(number) is not int or number not in self.pending:
            self.stray(line, "answers no open request")
            if not self.greeted and type(message) is dict and "result" in message:
                self.pool.give_up(
                    f"hello was answered under the id {number!r}; the id is the number 0, not a text"
                )
            return
        answer = read_answer(message)
        if not self.greeted:
            self.greet(answer)
            return
        self.answer(number, answer)

    def unreadable(self, line: bytes, what: str) -> None:
        """A line that is no JSON. Where one answer is waited for and the line looks like one, it is that."""
        looks_like_an_answer = line.lstrip(b"\xef\xbb\xbf \t").startswith(b"{")
        if not self.greeted and looks_like_an_answer:
            self.stray(line, what)
            self.pool.give_up("hello was answered with a line that cannot be read")
        elif self.asked_alone and looks_like_an_answer:
            self.stray(line, what)
            self.cautious = True
            self.answer(next(iter(self.pending)), Answer("malformed", f"the answer {what}"))
        else:
            self.stray(line, what)

    def answer(self, number: int, answer: Answer) -> None:
        """An open request has its answer."""
        request = self.pending.pop(number)
        self.held_bytes -= len(request.body)
        self.answered += 1
        self.asked_alone = False
        if self.unexplained and not self.suspects:
            if not self.cautious:
                told = f"{self.unexplained}, and no request does it alone; state leaks between requests"
                self.pool.problem(told)
            self.unexplained = None
        if number == self.oldest:
            self.oldest = next(iter(self.pending), None)
            self.oldest_since = time.monotonic()
        self.pool.finished.append((number, answer))

    def greet(self, answer: Answer) -> None:
        pool = self.pool
        try:
            hello = read_hello(answer)
        except AdapterError as error:
            pool.give_up(str(error))
            return
        self.greeted, self.pending, self.oldest = True, {}, None
        if pool.first_hello is None:
            pool.first_hello = hello
        elif (hello.capabilities, hello.editions) != (
            pool.first_hello.capabilities,
            pool.first_hello.editions,
        ):
            pool.give_up("the adapter declared other capabilities after a restart")

    def stray(self, line: bytes, what: str) -> None:
        """A line that is no answer is charged to the run."""
        self.stray_lines += 1
        shown = line[:80].decode("utf-8", "replace") + ("…" if len(line) > 80 else "")
        self.pool.problem(
            f"a line on stdout {what}: {shown!r}; stdout is for answers only, logs belong on stderr"
        )
        if self.stray_lines > MAX_STRAY_LINES:
            self.pool.give_up(f"the adapter wrote more than {MAX_STRAY_LINES} lines that answer nothing")

    # -- when things go wrong --------------------------------------------------

    def check(self, now: float) -> None:
        """Look at the clock and at the process."""
        process = self.process
        if process is None:
            return
        limits = self.pool.limits
        if self.oldest is not None:
            limit = limits.answer_seconds if self.greeted else limits.hello_seconds
            if now - self.oldest_since > limit:
                self.fail("hung", f"no answer within {limit:g} s")
                return
        if now >= self.weigh_at:
            self.weigh_at = now + WEIGH_SECONDS
            held = process.resident_mib()
            if held > limits.memory_mib:
                told = f"the adapter held {held:.0f} MiB of memory, the limit is {limits.memory_mib}"
                self.fail("died", told)
                return
        if process.returncode is not None and self.pending:
            self.drain(process)
            if self.process is process and self.pending:
                self.ended()

    def ended(self) -> None:
        """The process has ended, or closed its output."""
        process = self.process
        assert process is not None
        process.wait(0.2)
        partial = process.take_partial()
        if partial.strip():
            self.stray(partial, "is cut short")
        if self.pending:
            self.fail("died", f"the adapter {process.describe_end()}")
        elif self.pool.given_up is None:
            self.pool.problem(f"the adapter {process.describe_end()} before the end of its input")
            self.lose()

    def fail(self, kind: str, what: str) -> None:
        """The process died or hung: blame the request that did it, or find out which one it was."""
        assert self.process is not None
        stderr = self.process.stderr_tail()
        if not self.greeted:
            hint = "; are answers flushed, each with a line end?" if kind == "hung" else ""
            self.pool.give_up(f"hello failed: {what}{hint}{_quoted(stderr)}")
            self.lose()
            return
        unanswered = list(self.pending.values())
        if self.answered == 0 and len(unanswered) == 1:
            if kind == "hung" and self.stray_lines:
                kind, what = "malformed", f"{what}, but {self.stray_lines} lines that answer nothing"
            self.pool.finished.append((unanswered[0].number, Answer(kind, what, stderr)))
            self.pool.source = _chain(list(self.suspects), self.pool.source)
            self.suspects.clear()
            self.unexplained = None
        else:
            self.suspects.extendleft(reversed(unanswered))
            self.unexplained = f"{what} with {len(unanswered)} requests unanswered"
        self.pool.hangs_left -= kind == "hung"
        self.lose()

    def lose(self) -> None:
        """Put the process away and charge the budget."""
        self.stop()
        self.asked_alone = False
        self.pool.restarts_left -= 1
        if self.pool.restarts_left < 0:
            self.pool.give_up(
                f"{self.pool.limits.restarts} processes died or hung before it", adapter_at_fault=False
            )
        elif self.pool.hangs_left < 0:
            self.pool.give_up(f"{self.pool.limits.hangs} processes hung before it", adapter_at_fault=False)

    def unfinished(self) -> list[Request]:
        """Requests without an answer: sent, or waiting to be asked alone."""
        return [request for request in self.pending.values() if request.number != 0] + list(self.suspects)


def _chain(first: list[Request], rest: Iterator[Request]) -> Iterator[Request]:
    yield from first
    yield from rest


def _quoted(stderr: str) -> str:
    return f"; its stderr ends with: {stderr[-1000:]}" if stderr else ""
