"""What a reader does with a stored log: the order of its checks, identity, known types, and how it ends.

Page: ``spec/load.md``. The bytes, the old shapes, the closers and the admission have pages of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from .admission import admit_restored
from .closers import closers
from .event_log import Event, shown_seq, shown_type
from .jsonl import Scan
from .legacy import normalise
from .rejection import Rejection

KNOWN_TYPES: Final = frozenset(
    (
        "agent-preset/selected", "agent/inbox/spliced", "approval/asked", "approval/decided",
        "approval/policy", "assistant/chunk", "assistant/message", "command/done", "command/run",
        "compaction/end", "compaction/prune", "compaction/start", "compaction/summary",
        "feedback/record", "goal/change", "hook/invoked", "hook/result", "llm/retry",
        "llm/retry-started", "permission/preset", "plan/mode", "request/context", "request/header",
        "sandbox/mode", "schedule/change", "session/end-seed", "session/title",
        "session/title-llm-request", "step/end", "step/start", "subagent/descriptor", "team/member",
        "team/message/delivered", "team/message/queued", "team/task", "todo/write",
        "tool-workflow/agent-end", "tool-workflow/agent-start", "tool-workflow/run-end",
        "tool-workflow/run-start", "tool/call", "tool/code-dispatch", "tool/code-dispatch-start",
        "tool/result", "turn/end", "turn/start", "user/message", "web/deepseek-search-llm-request",
    )
)  # fmt: skip
"""LOAD-4: the types of edition v0."""


@dataclass
class Loaded:
    """LOAD-9: a log as its reader has it.

    ``events`` are the stored ones in the shapes of today, ``closers`` what ends an open turn behind them
    (LOAD-6). ``torn_from`` is the byte offset behind the last line that was kept, None for a whole file.
    """

    header: dict[str, Any]
    events: list[Event]
    closers: list[Event]
    torn_from: int | None


def load_scanned(scanned: Scan, session_id: str) -> Loaded:
    """LOAD-1: behind the scan identity, shapes, types, closers, admission; the first failure is reported.

    ``scanned`` is what the scan of the file gave; ``session_id`` is the id that was asked for. ``at`` of a
    refusal by the scan is a line or a byte, by everything here the seq of an event.
    """
    require_identity(scanned.header, session_id)
    events = read_events(scanned.events, session_id)
    ending = closers(events)
    read_events(ending, session_id, len(events))  # LOAD-8: they are stored, so a reader has to take them
    admitted = admit_restored(scanned.header, [*events, *ending])  # LOAD-7
    return Loaded(admitted.header, events, ending, scanned.torn_from)


def require_identity(header: dict[str, Any], session_id: str) -> None:
    """LOAD-2, LOAD-3: the log is the one asked for, and its header can name its place in a store."""
    if header["id"] != session_id:
        raise Rejection(
            "jsonl-identity", f'requested id "{session_id}" does not match header id "{header["id"]}"'
        )
    if "cwd" in header and (header["cwd"] in (None, "") or isinstance(header["cwd"], list)):
        raise Rejection("path-project-empty", "header id cannot name a storage path")


def read_events(events: list[Any], session_id: str, first: int = 0) -> list[Event]:
    """Shapes brought up to date, then LOAD-4 over all events. ``at`` of a refusal counts from ``first``."""
    current = normalise(events, session_id, first)
    for index, event in enumerate(current, first):
        require_known(event, session_id, index)
    return current


def require_known(event: Event, session_id: str, index: int) -> None:
    """LOAD-4: a type that nobody knows is refused, for it may change what the rest of the log means.

    LOAD-5: unless its writer has marked the event with ``ignorable: true``.
    """
    kind = event.get("type")
    if (isinstance(kind, str) and kind in KNOWN_TYPES) or event.get("ignorable") is True:
        return
    raise Rejection(
        "event-type-unknown",
        f'session "{session_id}" contains event type {shown_type(event)} (seq {shown_seq(event)})'
        " unknown to this harness and not marked ignorable; refusing to interpret the log",
        index,
    )
