"""Messages of very old logs: those written before events carried markers. An optional capability.

Page: ``spec/linear-fallback.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from .event_log import Event, require_event
from .marker import is_eligible
from .projection import Message, derive_messages, project
from .rejection import Rejection


def derive_messages_or_scan(events: Sequence[Event]) -> list[Message]:
    """FALL-1: without any marker in the log, every eligible event in log order. FALL-2: else as always."""
    messages: list[Message] = []
    for index, element in enumerate(events):
        try:
            event = require_event(element)
            if "surfaceOp" in event:
                return derive_messages(events)
            message = project(event) if is_eligible(event) else None
        except Rejection as refusal:
            refusal.at = index
            raise
        if message is not None:
            messages.append(message)
    return messages
