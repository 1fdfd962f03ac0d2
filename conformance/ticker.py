"""How far a long command is, in one line on a terminal; nothing at all where there is no terminal."""

from __future__ import annotations

import shutil
import sys
import time
from types import TracebackType
from typing import Self, TextIO

from conformance.terminal import clean

FIRST_AFTER = 1.0
EVERY = 0.2
"""Seconds."""


class Line:
    """One line on a terminal, written anew each time and taken away at the end."""

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream  # None if whoever started this program has closed it
        self.active = stream is not None and stream.isatty()
        self.shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hide()

    def say(self, told: str) -> None:
        """Put a text in the place of the one before; it must fit the width of the terminal."""
        self._write(told)
        self.shown = True

    def hide(self) -> None:
        """Take the line away."""
        if self.shown:
            self._write("")
            self.shown = False

    def _write(self, told: str) -> None:
        assert self.stream is not None
        self.stream.write(f"\r\x1b[2K{told}")
        self.stream.flush()


class Ticker(Line):
    """Call it with what there is to say now."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__(stream or sys.stderr)
        self.next = time.monotonic() + FIRST_AFTER

    def __call__(self, told: str) -> None:
        """Say it, unless something was said a moment ago."""
        if not self.active or time.monotonic() < self.next:
            return
        columns = shutil.get_terminal_size().columns - 1
        self.say(clean(told)[:columns])
        self.next = time.monotonic() + EVERY


def silent(_told: str) -> None:
    """For who wants to hear nothing."""
