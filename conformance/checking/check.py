"""``check``: every log of some files and folders, one report each."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from conformance.checking.catalogue import rule_of
from conformance.checking.frames import Bytes
from conformance.checking.jsonl import JsonlCheck
from conformance.checking.model import FileReport, Finding, Report
from conformance.checking.paths import Log, find_logs
from conformance.checking.places import Stores, judge_place
from conformance.checking.sources import (
    SQLITE_MAGIC,
    blocks_of,
    holds_database,
    is_compressed,
    name_of,
    opened,
    spooled,
)

Target = str | os.PathLike[str] | bytes
Progress = Callable[[str, int, int | None], None]
"""Told the path of the log, how many bytes of it have been read, and how many it has."""


def check(
    paths: Target | Iterable[Target],
    *,
    deep: bool = False,
    exact: bool = False,
    progress: Progress | None = None,
    stdin: BinaryIO | None = None,
) -> Report:
    """Check logs, and never change them.

    ``paths`` are files, folders, ``-`` for ``stdin``, or the bytes of a log. ``deep`` looks into every
    payload for numbers that a live append would not take; ``exact`` leaves the fast way out. What cannot be
    read becomes a finding of its report. Raises TypeError for what is no path, and nothing for bad input.
    """
    return Report(list(check_each(paths, deep=deep, exact=exact, progress=progress, stdin=stdin)))


def check_each(
    paths: Target | Iterable[Target],
    *,
    deep: bool = False,
    exact: bool = False,
    progress: Progress | None = None,
    stdin: BinaryIO | None = None,
) -> Iterator[FileReport]:
    """The same, one report after the other as soon as it is there."""
    if isinstance(paths, str | bytes | os.PathLike):
        paths = [paths]
    elif not isinstance(paths, Iterable):
        raise TypeError(f"check takes paths, or the bytes of a log, and not {type(paths).__name__}")
    stores = Stores()
    for target in paths:
        if not isinstance(target, str | bytes | os.PathLike):
            raise TypeError(f"check takes paths, or the bytes of a log, and not {type(target).__name__}")
        for log in find_logs(target):
            for report in _reports(log, deep=deep, exact=exact, progress=progress, stdin=stdin):
                if report.format.startswith("jsonl") and not isinstance(log.target, bytes):
                    judge_place(report, stores)
                for finding in report.findings:
                    finding.rule = rule_of(finding.condition)
                yield report


def _reports(
    log: Log, *, deep: bool, exact: bool, progress: Progress | None, stdin: BinaryIO | None
) -> Iterator[FileReport]:
    name = name_of(log.target)
    if log.unreadable is not None:
        yield unreadable(name, log.unreadable)
        return
    told = None if progress is None else _told(progress, name)
    try:
        if log.target == "-" and stdin is not None:
            with spooled(stdin) as source:
                yield from _in_memory(source, "(stdin)", deep, exact, told)
            return
        with opened(log.target) as source:
            if isinstance(log.target, bytes):
                yield from _in_memory(source, name, deep, exact, told)
                return
            if not holds_database(source, name):
                yield _one(source, name, deep, exact, told)
                return
        from conformance.checking.databases import check_database

        yield from check_database(os.fspath(log.target))
    except OSError as error:
        yield unreadable(name, error.strerror or str(error))
    except ValueError as error:  # a path with a NUL in it
        yield unreadable(name, str(error))
    except MemoryError:
        yield unreadable(name, "there is not enough memory to check it")


def _in_memory(
    source: Bytes, name: str, deep: bool, exact: bool, told: Callable[[int], None] | None
) -> Iterator[FileReport]:
    """A log that is no file. A database becomes one for as long as it is read."""
    if source.at(0, 16) != SQLITE_MAGIC:
        yield _one(source, name, deep, exact, told)
        return
    from conformance.checking.databases import check_database

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "database")  # noqa: PTH118
        with open(path, "wb") as file:  # noqa: PTH123
            for block in blocks_of(source, None):
                file.write(block)
        for report in check_database(path):
            report.path = name
            yield report


def _one(source: Bytes, name: str, deep: bool, exact: bool, told: Callable[[int], None] | None) -> FileReport:
    report = FileReport(name)
    compressed = is_compressed(source, name)
    JsonlCheck(deep=deep, exact=exact, progress=told).check(source, compressed, report)
    if (size := source.size_now()) != source.size:
        what = "grew" if size > source.size else "became shorter"
        message = f"the file {what} while it was read; what is told is about its first {source.size:,} bytes"
        report.findings.append(Finding("file-changed", "advice", "file", message))
    return report


def _told(progress: Progress, name: str) -> Callable[[int], None]:
    def tell(done: int) -> None:
        progress(name, done, None)

    return tell


def unreadable(name: str, why: str) -> FileReport:
    """The report of what cannot be read."""
    report = FileReport(name)
    finding = Finding("unreadable", "error", "file", f"this cannot be read: {why}")
    finding.rule = rule_of("unreadable")
    report.findings.append(finding)
    return report
