"""The members of a request, in either spelling. For adapters in Python, the reference's own first."""

from __future__ import annotations

from typing import Any

from conformance.json_text import parse_exact

Request = dict[str, Any]
Result = dict[str, Any]


class MissingMemberError(Exception):
    """The request lacks something that its operation cannot do without."""


def has_member(request: Request, name: str) -> bool:
    """Whether a member is there, null included."""
    return name in request or f"{name}_text" in request


def member(request: Request, name: str) -> Any:
    """A member in either spelling; the text spelling keeps -0 and integers of any length."""
    if name in request:
        return request[name]
    if f"{name}_text" not in request:
        raise MissingMemberError(f"the member {name} (or {name}_text)")
    return parse_exact(request[f"{name}_text"])
