"""Everything that runs: vectors, adapters, engine, verdicts, reports and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from conformance.checking.model import Report

__version__ = "0.1.0"
SESSION_CONFORMANCE = True
"""Says that this is our package ``conformance`` and not somebody else's."""


def check(
    paths: str | os.PathLike[str] | bytes | Iterable[str | os.PathLike[str] | bytes],
    *,
    deep: bool = False,
) -> Report:
    """Check stored logs: files, folders, or the bytes of a log. Nothing is written.

    ``paths`` is one or several of them; bytes are the log itself and never a path. ``deep`` looks into every
    payload for numbers that a live append would not take. What cannot be read becomes a finding; nothing is
    raised for bad input, and TypeError for what is no path.

    The report holds one ``conformance.checking.FileReport`` for each log, or for each session of a database,
    and can be gone through; as text it is what ``session-conformance check`` prints.
    """
    from conformance.checking.check import check as check_logs

    return check_logs(paths, deep=deep)
