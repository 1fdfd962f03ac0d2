"""Where the bytes of a log come from: a plain file, a compressed one, or bytes in memory."""

from __future__ import annotations

import errno
import io
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from conformance.checking.frames import MAGIC, Bytes

BLOCK = 1 << 16
"""Bytes that are read at once: few enough for their lines to stay in the cache of a processor."""
SQLITE_MAGIC = b"SQLite format 3\x00"
DATABASES = (".sqlite", ".sqlite3", ".db")
"""How the names of databases end."""
Progress = Callable[[int], None]
"""Told how many bytes of the input have been read so far."""


@contextmanager
def opened(path: str | os.PathLike[str] | bytes) -> Iterator[Bytes]:
    """A log to read from, as long as it is now. Raises OSError."""
    if isinstance(path, bytes):
        yield Bytes(io.BytesIO(path), len(path))
        return
    if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116 - the path may be any
        raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        yield Bytes(file, os.fstat(file.fileno()).st_size)


def is_database(path: str | os.PathLike[str]) -> bool:
    """Whether a file is to be judged as a SQLite database. Raises OSError."""
    with opened(path) as source:
        return holds_database(source, os.fspath(path))


def holds_database(source: Bytes, name: str) -> bool:
    """The same of one that is open: by its first bytes, else by its name, unless they are those of a log."""
    head = source.at(0, 16)
    if head == SQLITE_MAGIC:
        return True
    return name.endswith(DATABASES) and head[:4] != MAGIC and not head.lstrip().startswith(b"{")


def is_compressed(source: Bytes, name: str) -> bool:
    """Whether a log is read as Zstandard frames: by its first bytes, else by its name."""
    head = source.at(0, 4)
    if head == MAGIC:
        return True
    return name.endswith((".zstd", ".zst")) and not head.lstrip().startswith(b"{")


def blocks_of(source: Bytes, progress: Progress | None) -> Iterator[bytes]:
    """A plain file in blocks, up to the size that it had when it was opened."""
    left = source.size
    source.file.seek(0)
    while left > 0:
        block = source.file.read(min(BLOCK, left))
        if not block:
            return
        left -= len(block)
        if progress is not None:
            progress(source.size - left)
        yield block


def name_of(path: str | os.PathLike[str] | bytes) -> str:
    """What a log is called in a report."""
    return "(bytes)" if isinstance(path, bytes) else str(Path(path))


@contextmanager
def spooled(stream: BinaryIO) -> Iterator[Bytes]:
    """All of a stream, in a temporary file where it is long, so that any place of it can be read."""
    with tempfile.SpooledTemporaryFile(max_size=1 << 24) as file:
        size = 0
        while block := stream.read(BLOCK):
            size += file.write(block)
        file.seek(0)
        yield Bytes(file, size)  # type: ignore[arg-type]
