"""The operations of the reference that make sessions: admit and fork."""

from __future__ import annotations

from typing import Any

import reference_impl.fork
from conformance.adapters.members import Request, Result, has_member, member
from reference_impl.admission import Admitted, admit_borrowed, admit_restored
from reference_impl.session_header import new_header


def admit(request: Request) -> Result:
    """A log that is not in the request is no log; where a borrowed header is not there, it is a new one."""
    session_id = member(request, "sessionId")
    events = member(request, "events") if has_member(request, "events") else None
    if request["source"] == "restored":
        return told(admit_restored(member(request, "header"), events, session_id))
    header = member(request, "header") if has_member(request, "header") else new_header(session_id)
    return told(admit_borrowed(session_id, header, events))


def seed_of(request: Request) -> list[Any]:
    """The log that a live session begins with: that of its seed, once it is admitted, or none."""
    if not has_member(request, "seed"):
        return []
    return admit_borrowed("live", new_header("live"), member(request, "seed")).events


def fork(request: Request) -> Result:
    """The source is asked for by its own id, unless the request names another."""
    header = member(request, "header")
    store = reference_impl.fork.Store(header, member(request, "events"), request.get("taken", []))
    options: dict[str, Any] = {}
    if has_member(request, "boundary"):
        options["boundary"] = member(request, "boundary")
    if "childId" in request:
        options["child_id"] = request["childId"]
    return told(reference_impl.fork.fork(store, request.get("sourceId", header["id"]), **options))


def told(admitted: Admitted) -> Result:
    """A new session as the protocol tells it."""
    return {
        "events": admitted.events,
        "firstLiveSeq": admitted.first_live_seq,
        "header": admitted.header,
    }
