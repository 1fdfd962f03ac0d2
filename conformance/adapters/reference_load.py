"""The operations of the reference that read stored logs: normalise and jsonl.load."""

from __future__ import annotations

from conformance.adapters.members import Request, Result, member
from conformance.adapters.reference_files import scan_of
from reference_impl.load import load_scanned, read_events


def normalise(request: Request) -> Result:
    return {"events": read_events(member(request, "events"), member(request, "sessionId"))}


def jsonl_load(request: Request) -> Result:
    """``hex`` or a ``path``, which is read in pieces."""
    loaded = load_scanned(scan_of(request), member(request, "sessionId"))
    return {
        "header": loaded.header,
        "events": loaded.events,
        "closers": loaded.closers,
        "tornFrom": loaded.torn_from,
    }
