"""The teaching version of chapter 6: event shapes of its own, no seqs, no surface. A profile of its own.

Page: ``spec/tutorial.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def derive_messages(events: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """TUT-1 to TUT-4: the messages of a teaching log, in log order."""
    messages: list[dict[str, str]] = []
    for event in events:
        kind = event["type"]
        if kind == "user/message":  # TUT-1
            messages.append({"role": "user", "content": event["content"]})
        elif kind == "assistant/message":  # TUT-2
            messages.append({"role": "assistant", "content": event["content"]})
        elif kind == "tool/result":  # TUT-3
            messages.append({"role": "tool", "content": f"{event['name']}: {event['content']}"})
    return messages  # TUT-4: a chunk is for showing, not for the model
