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


class Ticker:
    """A line that is written anew, and taken away at the end. Call it with what there is to say now."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.active = self.stream is not None and self.stream.isatty()
        self.next = time.monotonic() + FIRST_AFTER
        self.shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown:
            self.stream.write("\r\x1b[2K")
            self.stream.flush()

    def __call__(self, told: str) -> None:
        """Say it, unless something was said a moment ago."""
        if not self.active or time.monotonic() < self.next:
            return
        columns = shutil.get_terminal_size().columns - 1
        self.stream.write(f"\r\x1b[2K{clean(told)[:columns]}")
        self.stream.flush()
        self.shown = True
        self.next = time.monotonic() + EVERY


def silent(_told: str) -> None:
    """For who wants to hear nothing."""
