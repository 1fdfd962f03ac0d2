"""The row of a session in a SQLite store, read as a header.

Page: ``spec/session-row.md``. Schemas 17, 19 and 20 are known; a row is a dict of cells.
"""

from __future__ import annotations

import re
from typing import Any

from .chunk_rows import is_safe_integer
from .rejection import Rejection
from .values import is_seq

UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

OPTIONAL = {
    "cwd": "cwd",
    "parent_session": "parentSession",
    "seed_length": "seedLength",
    "origin": "origin",
    "delegation_depth": "delegationDepth",
    "agent_preset": "agentPreset",
}
"""Columns that may be null, with the member of the header that each of them is."""


def header_of(schema: int, row: Any) -> dict[str, Any]:
    """META-1, META-2: the header; a null cell is an absent member. Refusals have no ``at``."""
    if not isinstance(row, dict):
        raise Rejection("meta-row-not-object", "stored session metadata must be an object")
    key = "id" if schema == 17 else "session_key"
    check_types(row, key)
    check_values(row, key)
    header = {"version": row["version"], "id": row[key], "createdAt": row["created_at"]}
    for column, name in OPTIONAL.items():
        if row[column] is not None:
            header[name] = row[column]
    return header


def check_types(row: dict[str, Any], key: str) -> None:
    """META-3: the types of the columns. Whether a version is known is asked elsewhere (META-1)."""
    for column in (key, "incarnation"):
        if not isinstance(row[column], str):
            raise Rejection("meta-row-column-type", f"stored {column} must be a string")
    for column in ("version", "created_at", "revision"):
        if not is_safe_integer(row[column]):
            raise Rejection("meta-row-column-type", f"stored {column} must be a safe integer")
    for column in ("cwd", "parent_session", "origin", "agent_preset"):
        if not isinstance(row[column], str | None):
            raise Rejection("meta-row-column-type", f"stored {column} must be a string or null")
    for column in ("seed_length", "delegation_depth"):
        if row[column] is not None and not is_safe_integer(row[column]):
            raise Rejection("meta-row-column-type", f"stored {column} must be a safe integer or null")


def check_values(row: dict[str, Any], key: str) -> None:
    """META-4 to META-11: what the cells hold. Of several faults any may be told."""
    if row[key] == "":
        raise Rejection("meta-row-id", f"stored {key} must not be empty")
    if not is_seq(row["created_at"]):
        raise Rejection("meta-row-created-at", "stored created_at must be non-negative")
    if row["cwd"] is not None and not row["cwd"].startswith("/"):
        raise Rejection("meta-row-cwd", "stored session cwd must be absolute")
    if row["origin"] not in (None, "subagent"):
        raise Rejection("meta-row-origin", "stored session origin must be subagent or null")
    if UUID.fullmatch(row["incarnation"]) is None:
        raise Rejection("meta-row-incarnation", "stored session incarnation must be a UUID")
    if row["seed_length"] is not None and not is_seq(row["seed_length"]):
        raise Rejection("meta-row-seed-length", "stored seed_length must be non-negative or null")
    if row["delegation_depth"] is not None and not is_seq(row["delegation_depth"]):
        raise Rejection("meta-row-depth", "stored delegation_depth must be non-negative or null")
    if not is_seq(row["revision"]):
        raise Rejection("meta-row-revision", "stored revision must be non-negative")
