"""Seconds and counts that bound a run against an adapter behind a pipe."""

from __future__ import annotations

from dataclasses import dataclass

WINDOW_REQUESTS = 64
"""How many requests may be unanswered at once."""
WINDOW_BYTES = 1 << 20
"""How many bytes of requests may be unanswered at once; one request may always be on its way."""
MAX_STRAY_LINES = 1000
"""How many lines that answer nothing one process may write before it is given up."""
SHOWN_PROBLEMS = 20
"""How many problems of a run are told one by one."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that a caller may set."""

    answer_seconds: float = 10.0
    """How long the oldest unanswered request may take."""
    hello_seconds: float = 30.0
    """How long a process may take from its start to its answer to hello."""
    exit_seconds: float = 5.0
    """How long a process may take to end after the end of its input."""
    total_seconds: float | None = None
    """How long the whole run may take; what is unanswered then ends as not-run."""
    memory_mib: int = 4096
    """How much memory one adapter process may hold (its resident set, where the system tells)."""
    restarts: int = 100
    """How many processes may die or hang before the rest of the run is given up."""
    hangs: int = 100
    """How many of them may hang, each of which takes ``answer_seconds``."""
