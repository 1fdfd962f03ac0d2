"""Which lines of the reference each case executes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from conformance.adapters.inprocess import InProcess
from conformance.adapters.registry import resolve
from conformance.cases import Case
from conformance.protocol import Request
from conformance.reference_sources import package_folder

Line = tuple[str, int]
"""Module name and line number."""


def trace_cases(cases: Sequence[Case]) -> list[frozenset[Line]]:
    """For each case, the lines of the reference that it executes (a call counts for the line of its def)."""
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
        return local

    def tracer(frame: FrameType, event: str, argument: Any) -> Any:
        if module_of(frame.f_code.co_filename) is None:
            return None
        return local(frame, event, argument)

    traced: list[frozenset[Line]] = []
    before = sys.gettrace()
    for case in cases:
        hit.clear()
        sys.settrace(tracer)
        try:
            list(connection.exchange(iter([Request(1, case.body)])))
        finally:
            sys.settrace(before)
        traced.append(frozenset(hit))
    return traced
