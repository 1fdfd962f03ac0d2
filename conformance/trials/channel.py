"""A store in a process of its own, step by step, that can be killed at any moment."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.adapters.registry import AdapterSpec, serve_command, with_import_path
from conformance.errors import AdapterError
from conformance.json_text import dump_ascii
from conformance.protocol import KINDS
from conformance.sweeps.answers import objects

Step = dict[str, Any]
Answer = dict[str, Any]

PATIENCE = 60.0
"""Seconds that a store may take for one answer. A load of a trial takes some hundredths."""


LONGEST_WORDS = 400


def in_words(answer: Answer) -> str:
    """An answer as a person reads it: ``crashed: no such table``, ``rejected: condition x, at 3``."""
    kind = next((kind for kind in KINDS if kind in answer), None)
    if kind is None:
        return f"what is no answer: {dump_ascii(answer)}"[:LONGEST_WORDS]
    value = answer[kind]
    if isinstance(value, dict):
        value = ", ".join(f"{name} {member}" for name, member in value.items())
    return f"{kind}: {value}"[:LONGEST_WORDS]


class SilentError(AdapterError):
    """The process lives, and does not answer."""


class Gone(Exception):  # noqa: N818 - what a trial waits for
    """The process has ended, and answers no more."""


class Channel:
    """A process in a group of its own, which reads and writes lines. Its files may be limited in size."""

    def __init__(self, command: list[str], largest_file: int | None = None) -> None:
        def limit() -> None:
            assert largest_file is not None
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=with_import_path(), start_new_session=True, restore_signals=False,
            preexec_fn=None if largest_file is None else limit,
        )  # fmt: skip
        self.received = b""

    def send(self, line: str) -> None:
        """One line. Raises Gone."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            raise Gone from None

    def receive(self) -> Answer:
        """One whole line. Raises Gone; what was written of a line before the end is no answer.

        Raises SilentError where there is none in time, and AdapterError where it is no object of JSON.
        """
        assert self.process.stdout is not None
        pipe = self.process.stdout.fileno()
        deadline = time.monotonic() + PATIENCE
        waiting = select.poll()
        waiting.register(pipe, select.POLLIN)
        while b"\n" not in self.received:
            if not waiting.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise SilentError(f"the store did not answer within {PATIENCE:g} seconds")
            piece = os.read(pipe, 1 << 16)
            if not piece:
                raise Gone
            self.received += piece
        line, _, self.received = self.received.partition(b"\n")
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise AdapterError(f"the store answered with a line that is no JSON: {line[:200]!r}") from None
        if not isinstance(found, dict):
            raise AdapterError(f"the store answered with what is no object: {line[:200]!r}")
        return found

    def kill(self) -> None:
        """SIGKILL to the process and to all that it started. Nothing of it runs when this returns."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """End the process, and let go of its pipes."""
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()


class Backend:
    """How a trial opens a store in a process: kept open, or opened anew by an adapter for each step."""

    def __init__(self, spec: AdapterSpec, *, kept_open: bool) -> None:
        self.kept_open = kept_open
        self.store = spec.name.removeprefix("store:")
        if spec.command is None and not kept_open:
            self.command: Callable[[], list[str]] = lambda: serve_command(spec.name)
        elif spec.command is not None:
            self.command = spec.command
        self.root = Path()
        self.number = 0

    def open(self, root: Path, largest_file: int | None = None, user: int | None = None) -> Channel:
        """A process for the store in a folder, ready to take steps. Raises Gone, AdapterError."""
        self.root = root
        if self.kept_open:
            module = ["-P", "-m", "conformance.trials.writer", self.store, str(root)]
            words = [sys.executable, *module, *([] if user is None else [str(user)])]
        else:
            words = self.command()
        channel = Channel(words, largest_file)
        try:
            if not self.kept_open:
                channel.send('{"id":0,"op":"hello","protocol":1}')
            told = channel.receive()
        except Gone:
            channel.close()
            raise
        if "result" not in told:
            channel.close()
            raise AdapterError(f"the store cannot be opened: {in_words(told)}")
        return channel

    def send(self, channel: Channel, *steps: Step) -> None:
        """Put steps, one if the store is kept open; their answer comes when they are taken."""
        if self.kept_open:
            (step,) = steps
            channel.send(dump_ascii(step))
            return
        self.number += 1
        request = {"op": "backend", "edition": "v0", "root": str(self.root), "steps": list(steps)}
        channel.send(f'{{"id":{self.number},{dump_ascii(request)[1:]}')

    def receive(self, channel: Channel) -> Answer:
        """The answer to what was sent first and is open: the first step's that is no result, or the last's.

        Raises Gone.
        """
        told = channel.receive()
        if self.kept_open or "result" not in told:
            return told
        answers = told["result"].get("steps") if isinstance(told["result"], dict) else None
        if not answers or not objects(answers):
            raise AdapterError(
                f"a result holds an answer to each step, and this is {str(told['result'])[:200]}"
            )
        return next((answer for answer in answers if "result" not in answer), answers[-1])

    def ask(self, channel: Channel, *steps: Step) -> Answer:
        """Steps and their answer. Raises Gone."""
        self.send(channel, *steps)
        return self.receive(channel)
