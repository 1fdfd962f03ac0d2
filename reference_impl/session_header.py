"""The session header: what is known of a session beside its log.

Page: ``spec/session-header.md``.
"""

from __future__ import annotations

from typing import Any, Final

from .clock import now
from .lossless_json import is_lossless
from .rejection import Rejection
from .values import is_number, is_seq, show, to_double

Header = dict[str, Any]
"""A header is kept as it came, with members that nobody knows (HEAD-14)."""

FORMAT_VERSION: Final = 0


def new_header(session_id: str) -> Header:
    """HEAD-15: the header of a session that was made without one."""
    return {"version": FORMAT_VERSION, "id": session_id, "createdAt": now()}


def check_borrowed_header(header: object, session_id: str) -> Header:
    """HEAD-1, then what every header has to be."""
    if not is_lossless(header):
        raise Rejection("header-not-lossless", "session header is not losslessly JSON-serializable")
    return check_header(header, session_id)


def check_header(header: object, session_id: str | None) -> Header:
    """HEAD-2 to HEAD-12, in this order (HEAD-13). What is unknown is kept (HEAD-14).

    Without ``session_id`` no particular id is asked for.
    """
    if not isinstance(header, dict):  # HEAD-2
        raise Rejection("header-not-record", "session header is not a plain JSON record")
    version = header.get("version")
    if not is_number(version) or to_double(version) != FORMAT_VERSION:  # type: ignore[arg-type]  # HEAD-3
        raise Rejection(
            "header-version", f"session header version must be 0, got {shown_member(header, 'version')}"
        )
    if session_id is not None and header.get("id") != session_id:  # HEAD-4
        raise Rejection(
            "header-id",
            f'session header id "{shown_member(header, "id")}" does not match session id "{session_id}"',
        )
    if not is_seq(header.get("createdAt")):  # HEAD-5
        raise Rejection("header-created-at", "session header createdAt must be a non-negative safe integer")
    check_optional_members(header)
    return header


def check_optional_members(header: Header) -> None:
    """HEAD-6 to HEAD-12. A member that is null is present, and so has to be what is asked for."""
    if "cwd" in header and not isinstance(header["cwd"], str):  # HEAD-6
        raise Rejection("header-cwd", "session header cwd must be a string")
    if "cwd" in header and not header["cwd"].startswith("/"):  # HEAD-7
        raise Rejection(
            "header-cwd-relative",
            f'session header cwd must be an absolute path, got "{header["cwd"]}"',
        )
    if "parentSession" in header and not isinstance(header["parentSession"], str):  # HEAD-8
        raise Rejection("header-parent", "session header parentSession must be a string")
    if "seedLength" in header and not is_seq(header["seedLength"]):  # HEAD-9
        raise Rejection("header-seed-length", "session header seedLength must be a non-negative safe integer")
    if "origin" in header and header["origin"] != "subagent":  # HEAD-10
        raise Rejection("header-origin", 'session header origin must be "subagent"')
    if "delegationDepth" in header and not is_seq(header["delegationDepth"]):  # HEAD-11
        raise Rejection("header-depth", "session header delegationDepth must be a non-negative safe integer")
    if "agentPreset" in header and not isinstance(header["agentPreset"], str):  # HEAD-12
        raise Rejection("header-preset", "session header agentPreset must be a string")


def shown_member(header: Header, name: str) -> str:
    """A member as messages print it."""
    return show(header[name]) if name in header else "undefined"
