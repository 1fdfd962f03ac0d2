"""A progress bar for long input: how much, how fast, how long still."""

from __future__ import annotations

import os
import shutil
import time
from typing import TextIO

from conformance.terminal import clean
from conformance.ticker import Line

SHOWN_FROM = 1 << 25
"""Bytes of a log from which a bar is worth its lines."""
EVERY = 0.1


class Bar(Line):
    """How far the reading of a log is."""

    def __init__(self, stream: TextIO | None) -> None:
        super().__init__(stream)
        self.path = ""
        self.size = 0
        self.began = 0.0
        self.last = 0.0

    def at(self, path: str, done: int, size: int | None) -> None:
        """So many bytes of this log have been read."""
        if not self.active:
            return
        now = time.monotonic()
        if path != self.path:
            self.path, self.began, self.last = path, now, 0.0
            self.size = size if size is not None else _size_of(path)
        if self.size < SHOWN_FROM or now - self.last < EVERY:
            return
        self.last = now
        columns = shutil.get_terminal_size().columns - 1
        self.say(line_of(self.path, done, self.size, now - self.began, columns))


def line_of(path: str, done: int, size: int, seconds: float, columns: int = 100) -> str:
    """What the bar says, in so many columns: a line that is too long could not be taken away again."""
    rate = done / seconds if seconds > 0 else 0.0
    left = f"{(size - done) / rate:.0f} s left" if rate > 0 and size > done else ""
    full = min(20, done * 20 // size) if size else 20
    bar = "█" * full + "·" * (20 - full) + " " if columns >= 60 else ""
    told = f"{bar}{done * 100 // size if size else 100}%  {rate / 1e6:.0f} MB/s  {left}".rstrip()
    room = min(40, columns - len(told) - 1)
    if room < 8:
        return told[:columns]
    return f"{clean(path) if len(clean(path)) <= room else '…' + clean(path)[1 - room :]} {told}"


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116
    except OSError:
        return 0
