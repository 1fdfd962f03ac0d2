"""Which lines of the reference each case executes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from conformance.adapters.inprocess import InProcess
from conformance.adapters.registry import resolve
from conformance.cases import Case
from conformance.protocol import Answer, Request
from conformance.reference_sources import package_folder

Line = tuple[str, int]
"""Module name and line number."""


def trace_cases(cases: Sequence[Case]) -> list[frozenset[Line]]:
    """For each case, the lines of the reference that it executes (a call counts for the line of its def)."""
    return [lines for lines, _ in trace_bodies(case.body for case in cases)]


def trace_bodies(
    bodies: Iterable[str], *, calls_only: bool = False
) -> Iterator[tuple[frozenset[Line], Answer]]:
    """For each request line, those lines of the reference, and the answer.

    ``calls_only``: only those where a function begins that was called, in a tenth of the time.
    """
    adapter = resolve("reference")
    assert adapter.factory is not None
    connection = InProcess(adapter.factory())
    folder = str(package_folder())
    modules: dict[str, str | None] = {}
    hit: set[Line] = set()

    def module_of(filename: str) -> str | None:
        if filename not in modules:
            path = Path(filename)
            modules[filename] = path.stem if str(path.parent) == folder else None
        return modules[filename]

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        hit.add((modules[frame.f_code.co_filename] or "", frame.f_lineno))
        return None if calls_only else local

    def tracer(frame: FrameType, event: str, argument: Any) -> Any:
        if module_of(frame.f_code.co_filename) is None:
            return None
        return local(frame, event, argument)

    before = sys.gettrace()
    for body in bodies:
        hit.clear()
        sys.settrace(tracer)
        try:
            ((_, answer),) = connection.exchange(iter([Request(1, body)]))
        finally:
            sys.settrace(before)
        yield frozenset(hit), answer
