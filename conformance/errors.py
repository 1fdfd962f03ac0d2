"""The ways in which a command can end, and the errors that choose between them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process returns. Where several hold, USAGE goes before ADAPTER before DIFFERS."""

    CONFORMS = 0
    """Every selected case that was run has the verdict it should have."""
    DIFFERS = 1
    """An answer differs, or the implementation dies or hangs on a case."""
    USAGE = 2
    """Wrong use, bad vectors, or a selection that holds nothing."""
    ADAPTER = 3
    """The adapter or its environment is at fault, or nothing selected was declared."""
    INTERRUPTED = 130
    """Ended by Ctrl-C; a report that was being written is marked as incomplete."""


class ConformanceError(Exception):
    """An error that a person can act on: its text is all that is shown, never a traceback."""

    exit_code = ExitCode.USAGE


class UsageError(ConformanceError):
    """The command or a name given to it is wrong."""


class VectorError(ConformanceError):
    """A file of the corpus or of the specification is wrong; the text begins with file and line."""

    def __init__(self, message: str, *, file: object = None, line: int | None = None) -> None:
        place = ":".join(str(part) for part in (file, line) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)


class AdapterError(ConformanceError):
    """The adapter cannot be started, or does not speak the protocol."""

    exit_code = ExitCode.ADAPTER
