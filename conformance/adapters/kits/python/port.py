"""YOUR PORT. Nothing is declared yet, so nothing is asked; take the operations that you have into OPERATIONS.

``example_port.py`` is a whole port in this form.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

IMPLEMENTATION = {"name": "my port", "version": "0.0.0", "language": "Python"}

# The JSON parser that your port uses on stored logs.
parse: Callable[[str], Any] = json.loads


class Refusal(Exception):  # noqa: N818
    """What your port throws for a log that it refuses, and for nothing else.

    If it has a type of its own, say ``Refusal = my_port.InvalidLog`` in place of this class. Its members
    ``condition`` (a name of the ledger) and ``at`` (index of the event) are told if they are there; its text
    is the message.
    """


def fold(events: list[Any]) -> dict[str, Any]:
    """Give ``nodes``, ``replacements`` (each seq, start, end, shadowedSeqs) and ``replaceGeneration``."""
    raise NotImplementedError("fold")


def messages(events: list[Any]) -> dict[str, Any]:
    """Give ``messages``: fold, then project the nodes."""
    raise NotImplementedError("messages")


# Take the # off a line once its function is filled in.
OPERATIONS: dict[str, Callable[..., dict[str, Any]]] = {
    # "fold": fold,
    # "messages": messages,
}
