"""The operations of the reference that read stored logs: normalise and jsonl.load."""

from __future__ import annotations

from pathlib import Path

from conformance.adapters.members import Request, Result, member
from reference_impl.load import load_jsonl, read_events


def normalise(request: Request) -> Result:
    return {"events": read_events(member(request, "events"), member(request, "sessionId"))}


def jsonl_load(request: Request) -> Result:
    """``hex`` or a ``path``."""
    data = Path(request["path"]).read_bytes() if "path" in request else bytes.fromhex(member(request, "hex"))
    loaded = load_jsonl(data, request["compression"], member(request, "sessionId"))
    return {
        "header": loaded.header,
        "events": loaded.events,
        "closers": loaded.closers,
        "tornFrom": loaded.torn_from,
    }
