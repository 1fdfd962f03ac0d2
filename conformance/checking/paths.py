"""Which logs are meant: files as they are named, and what looks like a log in folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.checking.sources import DATABASES

SUFFIXES = (".jsonl", ".jsonl.zstd", ".jsonl.zst", *DATABASES)
"""Names by which files in a folder are taken for logs."""


@dataclass(slots=True)
class Log:
    """A log to be checked; ``unreadable`` tells why it cannot be."""

    target: str | os.PathLike[str] | bytes
    unreadable: str | None = None


def find_logs(target: str | os.PathLike[str] | bytes) -> Iterator[Log]:
    """The logs of one path, in the order of their names."""
    if isinstance(target, bytes) or target == "-" or not os.path.isdir(target):  # noqa: PTH112
        yield Log(target)
        return
    yield from _in_folder(os.fspath(target))


def _in_folder(root: str) -> Iterator[Log]:
    """Folders are gone through one after the other; a link to a folder is not followed."""
    pending = [root]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Log(folder, unreadable=error.strerror or str(error))
            continue
        folders = []
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
            elif entry.name.endswith(SUFFIXES):
                yield Log(entry.path)
        pending += reversed(folders)
