"""Eligibility and the surface marker: which events may join the surface, and how they say so.

Page: ``spec/marker.md``.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from .event_log import Event, shown_type
from .rejection import Rejection
from .values import is_seq

ELIGIBLE_TYPES: Final = ("user/message", "assistant/message", "tool/result")


class Append(NamedTuple):
    """The event joins the surface at its tail."""


class Replace(NamedTuple):
    """The event takes the place of the nodes from ``start`` to ``end``, both included."""

    start: int
    end: int


Marker = Append | Replace


def is_eligible(event: Event) -> bool:
    """MARK-1, MARK-8, TRAN-1: three types are eligible; every other one, known or not, is log-only."""
    return event.get("type") in ELIGIBLE_TYPES


def read_marker(event: Event) -> Marker | None:
    """The event's marker, or None for a log-only event. MARK-2 to MARK-7, in this order."""
    if not is_eligible(event):
        if "surfaceOp" in event:  # MARK-2; MARK-7: null is present
            raise Rejection(
                "surface-op-forbidden",
                f"session event {shown_type(event)} is not surface-eligible and cannot carry surfaceOp",
            )
        if "sourceEventSeqs" in event:  # MARK-3
            raise Rejection(
                "sources-forbidden",
                f"session event {shown_type(event)} is not surface-eligible and cannot carry sourceEventSeqs",
            )
        return None
    if "surfaceOp" not in event:  # MARK-4
        raise Rejection(
            "surface-op-missing",
            f"session event {shown_type(event)} is surface-eligible and requires a surfaceOp marker",
        )
    marker = event["surfaceOp"]
    if marker == "append":
        return Append()
    if not isinstance(marker, dict):  # MARK-5
        raise Rejection(
            "surface-op-invalid", f"session event {shown_type(event)} carries an invalid surfaceOp"
        )
    if not is_replace(marker):  # MARK-6
        raise Rejection(
            "replace-op-invalid", f"session event {shown_type(event)} carries an invalid replace surfaceOp"
        )
    return Replace(int(marker["start"]), int(marker["end"]))


def is_replace(marker: dict[str, object]) -> bool:
    """MARK-6: exactly three keys, the word ``replace``, and two seqs."""
    return (
        marker.keys() == {"op", "start", "end"}
        and marker["op"] == "replace"
        and is_seq(marker["start"])
        and is_seq(marker["end"])
    )
