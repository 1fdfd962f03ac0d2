"""The reference, asked to open a database that the runner made."""

from __future__ import annotations

from conformance.adapters.members import Request, Result, member
from reference_impl.sqlite_open import open_database


def sqlite_open(request: Request) -> Result:
    open_database(member(request, "path"), request["schema"])
    return {"opened": True}
