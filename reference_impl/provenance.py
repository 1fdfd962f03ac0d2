"""Provenance: which earlier events an event cites, and that a replace cites all it shadows.

Page: ``spec/provenance.md``.
"""

from __future__ import annotations

from .event_log import Event, shown_type
from .rejection import Rejection
from .values import is_seq


def check_provenance(event: Event, seq: int, shadowed: list[int]) -> None:
    """PROV-1 to PROV-6 on the whole list, in this order. ``shadowed`` is empty for an append.

    An append may leave the member out (PROV-7), and anybody may cite more than is shadowed (PROV-8).
    """
    sources: list[int] = []
    if "sourceEventSeqs" in event:
        sources = read_sources(event["sourceEventSeqs"], event, seq)
    cited = set(sources)
    missing = [node for node in shadowed if node not in cited]
    if missing:  # PROV-6
        raise Rejection(
            "sources-incomplete",
            "surface replace: sourceEventSeqs must include every shadowed surface node;"
            f" missing {', '.join(str(node) for node in missing)}",
        )


def read_sources(cited: object, event: Event, seq: int) -> list[int]:
    """PROV-1 to PROV-5: the cited seqs as integers, in the order written.

    Smaller than ``seq`` is all that is asked, so a source may be from before a window (WIN-3).
    """
    if not isinstance(cited, list):  # PROV-1
        raise Rejection(
            "sources-not-array", f"sourceEventSeqs on event at seq {seq} must be an array when present"
        )
    if not cited and event.get("type") != "assistant/message":  # PROV-2
        raise Rejection("sources-empty", "sourceEventSeqs must not be empty except on assistant/message")
    for member in cited:  # PROV-3, before anything is said of the list as a whole
        if not is_seq(member):
            raise Rejection(
                "source-not-seq",
                f"session event {shown_type(event)} sourceEventSeqs"
                " must densely contain non-negative safe integers",
            )
    sources = [int(member) for member in cited]
    if len(set(sources)) != len(sources):  # PROV-4
        raise Rejection("sources-duplicate", "sourceEventSeqs must not contain duplicates")
    for source in sources:  # PROV-5
        if source >= seq:
            raise Rejection(
                "source-not-earlier",
                f"sourceEventSeqs must reference earlier events: {source} >= current seq {seq}",
            )
    return sources
