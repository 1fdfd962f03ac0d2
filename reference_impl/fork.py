"""Forking: a new session from the beginning of a live one.

Page: ``spec/fork.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from .admission import Admitted, admit_borrowed
from .event_log import Event
from .message_shape import member_of
from .rejection import Rejection
from .session_header import Header, new_header
from .values import equal_json, is_seq, show

OMITTED: Final = object()
"""Stands for a boundary that was not given. Null is given, and is no boundary."""


class Store(NamedTuple):
    """What a fork needs to know of the sessions there are: one that may be forked, and all ids in use."""

    header: Header
    events: Sequence[Event]
    taken: Sequence[str]


def fork(store: Store, source_id: str, boundary: object = OMITTED, child_id: str | None = None) -> Admitted:
    """The child: FORK-1 to FORK-6 in this order, then all that admission asks (FORK-9).

    Raises Rejection; ``at`` is set only where an event is refused by admission.
    """
    in_use = [store.header["id"], *store.taken]
    if child_id in in_use:  # FORK-1
        raise Rejection("fork-exists", f'session "{child_id}" already exists')
    if source_id != store.header["id"]:  # FORK-2
        raise Rejection("fork-not-found", f'session "{source_id}" not found')
    seed = prefix(store.events, boundary, source_id)
    child = child_id if child_id is not None else free_id(in_use)
    return admit_borrowed(child, child_header(child, store.header, len(seed)), seed)


def prefix(events: Sequence[Event], boundary: object, source_id: str) -> Sequence[Event]:
    """FORK-3 to FORK-7: the events up to the boundary, that one included; without a boundary all."""
    if boundary is OMITTED:
        if not events:
            return []
        boundary = events[-1]["seq"]
    if not is_seq(boundary):  # FORK-3
        raise Rejection(
            "fork-boundary-not-seq",
            f'fork boundary for session "{source_id}" must be a non-negative safe integer,'
            f" got {show(boundary)}",
        )
    place = int(boundary)  # type: ignore[call-overload]
    if place >= len(events):  # FORK-4
        raise Rejection(
            "fork-boundary-absent",
            f'fork boundary {place} does not exist in session "{source_id}"'
            f" (last seq: {show(events[-1]['seq']) if events else 'none'})",
        )
    if not equal_json(events[place]["seq"], place):  # FORK-5
        raise Rejection(
            "fork-boundary-mismatch",
            f'fork boundary {place} does not match a contiguous event seq in session "{source_id}"',
        )
    check_turns(events[: place + 1], source_id)
    return events[: place + 1]


def check_turns(events: Sequence[Event], source_id: str) -> None:
    """FORK-6: the last turn event of the prefix is no start. Turn numbers are not compared."""
    open_turn: Event | None = None
    for event in events:
        if event["type"] == "turn/start":
            open_turn = event
        elif event["type"] == "turn/end":
            open_turn = None
    if open_turn is not None:
        raise Rejection(
            "fork-open-turn",
            f'fork boundary {len(events) - 1} in session "{source_id}" ends inside open turn'
            f" {show(member_of(open_turn.get('data'), 'turn'))}",
        )


def child_header(child: str, source: Header, seed_length: int) -> Header:
    """FORK-8: of its parent's header a child has the ``cwd``, and nothing else."""
    header = new_header(child)
    if "cwd" in source:
        header["cwd"] = source["cwd"]
    header["parentSession"] = source["id"]
    header["seedLength"] = seed_length
    return header


def free_id(in_use: Sequence[str]) -> str:
    """FORK-10: the first of session-1, session-2 … that is not in use."""
    number = 1
    while f"session-{number}" in in_use:
        number += 1
    return f"session-{number}"
