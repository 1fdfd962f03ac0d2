"""The tool-result rewrite: a tool result may give way only to itself with other content.

Page: ``spec/rewrite.md``.
"""

from __future__ import annotations

from typing import Any

from .event_log import Event
from .rejection import Rejection
from .values import equal_json


def check_rewrite(event: Event, shadowed: list[Event]) -> None:
    """REWR-1 to REWR-3, in this order. ``shadowed`` holds the events that the replace removes.

    They are the nodes of this moment, so a rewrite of a rewrite meets the newest one (REWR-6).
    """
    if event.get("type") != "tool/result":  # REWR-8: other replacements are free
        return
    if len(shadowed) != 1:  # REWR-1
        raise Rejection(
            "tool-result-span", "tool/result surface replacement must rewrite exactly one current node"
        )
    target = shadowed[0]
    if target.get("type") != "tool/result":  # REWR-2
        raise Rejection(
            "tool-result-target", "tool/result surface replacement must target a current tool/result"
        )
    if not equal_json(without_content(target), without_content(event)):  # REWR-3
        raise Rejection("tool-result-changed", "tool/result surface replacement may change only content")


def without_content(event: Event) -> dict[str, Any]:
    """REWR-4, REWR-5: an event's data with one block left, and that block's content set to null.

    Nothing beside data is compared (REWR-7).
    """
    data = event.get("data")
    message = data.get("message") if isinstance(data, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(data, dict) or not isinstance(message, dict) or not isinstance(content, list):
        raise Rejection("event-shapeless", "a tool/result must hold a message with a content list")
    first = content[0] if content else {}
    if not isinstance(first, dict):
        raise Rejection("event-shapeless", "a tool/result must hold an object as its first content block")
    return {**data, "message": {**message, "content": [{**first, "content": None}]}}
