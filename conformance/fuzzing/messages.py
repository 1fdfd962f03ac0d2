"""Payloads of events: cached, since most of what a log holds says nothing about the log.

The dicts given out here are shared. Whoever wants another one makes a copy.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

Data = dict[str, Any]

TEXTS = ("a", "b", "", "hello", "two\nlines", " 再见", "😀", '"<b>" & \\')
"""What people and models say."""
CALL_IDS = ("c1", "c2", "c3")
MODEL = {"kind": "model", "provider": "example", "model": "example-1"}


def text_block(text: str) -> Data:
    return {"type": "text", "text": text}


def call_block(call: str) -> Data:
    return {"type": "tool-call", "id": call, "name": "read", "arguments": "{}"}


@lru_cache(maxsize=8192)
def content_of(texts: tuple[str, ...], calls: tuple[str, ...] = ()) -> list[Data]:
    """Text blocks, then calls."""
    return [*(text_block(text) for text in texts), *(call_block(call) for call in calls)]


@lru_cache(maxsize=16384)
def user(number: int, texts: tuple[str, ...]) -> Data:
    """The data of a ``user/message``."""
    return {"id": f"m{number}", "role": "user", "source": {"kind": "user"}, "content": content_of(texts)}


@lru_cache(maxsize=16384)
def assistant(
    number: int, texts: tuple[str, ...], calls: tuple[str, ...] = (), turn: int = 1, step: int = 1
) -> Data:
    """The data of an ``assistant/message``; without texts and calls its content is empty."""
    message = {"id": f"m{number}", "role": "assistant", "source": MODEL, "content": content_of(texts, calls)}
    return {"turn": turn, "step": step, "message": message}


@lru_cache(maxsize=16384)
def result(number: int, call: str, texts: tuple[str, ...], turn: int = 1, step: int = 1) -> Data:
    """The data of a ``tool/result``."""
    block = {"type": "tool-result", "toolCallId": call, "content": content_of(texts), "isError": False}
    source = {"kind": "tool", "callId": call}
    message = {"id": f"m{number}", "role": "user", "source": source, "content": [block]}
    return {"turn": turn, "step": step, "message": message}


@lru_cache(maxsize=1024)
def call(call_id: str, turn: int = 1, step: int = 1) -> Data:
    """The data of a ``tool/call``."""
    return {"turn": turn, "step": step, "callId": call_id, "name": "read", "arguments": "{}"}


@lru_cache(maxsize=1024)
def chunk(text: str, turn: int = 1, step: int = 1) -> Data:
    """The data of an ``assistant/chunk``."""
    return {"turn": turn, "step": step, "chunk": {"type": "text-delta", "index": 0, "text": text}}


@lru_cache(maxsize=1024)
def boundary(kind: str, turn: int, step: int) -> Data:
    """The data of a ``turn/start``, ``turn/end``, ``step/start`` or ``step/end``."""
    data: Data = {"turn": turn} if kind.startswith("turn") else {"turn": turn, "step": step}
    return {**data, "reason": {"kind": "completed"}} if kind == "turn/end" else data


def rewritten(data: Data, texts: tuple[str, ...]) -> Data:
    """The data of a tool result with other content, and nothing else changed."""
    message = data["message"]
    first, *rest = message["content"]
    return {**data, "message": {**message, "content": [{**first, "content": content_of(texts)}, *rest]}}


LOG_ONLY: tuple[tuple[str, Any], ...] = (
    ("turn/start", boundary("turn/start", 1, 0)),
    ("turn/end", boundary("turn/end", 1, 0)),
    ("step/start", boundary("step/start", 1, 1)),
    ("step/end", boundary("step/end", 1, 1)),
    ("assistant/chunk", chunk("a")),
    ("assistant/chunk", chunk("")),
    ("tool/call", call("c1")),
    ("compaction/start", {}),
    ("compaction/end", {}),
    ("session/end-seed", {}),
    ("todo/write", {}),
)
"""Events that never join the surface, as type and data."""

LOOKALIKES: tuple[tuple[Any, Any], ...] = (
    *LOG_ONLY,
    *((kind, user(0, ("a",))) for kind in (
        "user/messages", "context/message", "steering/message", "User/message", "user/message ", "message",
        "",
    )),
    *((kind, result(0, "c1", ("a",))) for kind in ("tool/results", "tool/result/extra", "TOOL/RESULT")),
    *((kind, assistant(0, ("a",))) for kind in ("assistant/messag", "assistant", "Assistant/Message")),
    ("turn/start", None), ("nothing/known", None), (["user/message"], None), (None, None), (0, None),
    (True, None), ({}, None),
)  # fmt: skip
"""The same, and types that look as if they did join, or are no texts."""
