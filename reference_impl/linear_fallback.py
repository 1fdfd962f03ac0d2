"""Messages of very old logs: those written before events carried markers. An optional capability.

Page: ``spec/linear-fallback.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .projection import Message, derive_messages, project
from .rejection import Rejection


def derive_messages_or_scan(events: Sequence[Any]) -> list[Message]:
    """FALL-1: without any marker in the log, every eligible event in log order. FALL-2: else as always."""
    if any(isinstance(event, dict) and "surfaceOp" in event for event in events):
        return derive_messages(events)
    messages: list[Message] = []
    for index, element in enumerate(events):
        try:
            message = project(element)
        except Rejection as refusal:
            refusal.at = index
            raise
        if message is not None:
            messages.append(message)
    return messages
