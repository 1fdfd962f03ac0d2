"""A row of ``sessions``: the header that it stands for, and whether a reader takes it.

Rules: META-1 to META-11 from schema 17 on. Schemas 14 and 15 ask of the row itself that its numbers can be
read and when the session began, and of the header what a load asks.
"""

from __future__ import annotations

from typing import Any

from conformance.checking.collector import Collector, Place
from conformance.checking.db_gates import COMPARED_FROM, is_uuid
from conformance.checking.exact_json import MAX_SAFE, is_seq, show
from conformance.checking.loading import HEADER, SCAN, Loading, tell_of_windows
from conformance.checking.shapes import Event

NOWHERE = Place(0, -1, b"")
ROW = SCAN - 2
"""The rank of what is asked of the row: a reader takes it before the rows of events."""
HEADER_COLUMNS = {
    "cwd": "cwd", "parent_session": "parentSession", "seed_length": "seedLength", "origin": "origin",
    "delegation_depth": "delegationDepth", "agent_preset": "agentPreset",
}  # fmt: skip
NUMBERS = ("version", "created_at", "revision")
NUMBERS_OR_NULL = ("seed_length", "delegation_depth")
TEXTS_OR_NULL = ("cwd", "parent_session", "origin", "agent_preset")


def key_of(row: dict[str, Any], schema: int) -> Any:
    """The id of a session."""
    return row["session_key"] if schema >= 19 else row["id"]


def header_of(row: dict[str, Any], schema: int) -> Event:
    """The header that a row of ``sessions`` stands for."""
    header = {"version": row["version"], "id": key_of(row, schema), "createdAt": row["created_at"]}
    for column, name in HEADER_COLUMNS.items():
        if row.get(column) is not None:  # an early schema reads a table that lacks some of them
            header[name] = row[column]
    return header


def is_readable(row: dict[str, Any], schema: int, collector: Collector) -> bool:
    """Whether the cells are of the types that a reader takes (META-3); else a finding tells which is not."""
    wrong = _type_fault(row, schema)
    if wrong is not None:
        collector.add("meta-row-column-type", "error", "storage", wrong, rank=ROW)
    return wrong is None


def take_header(row: dict[str, Any], schema: int, loading: Loading) -> None:
    """What else is asked of a row, and of its header."""
    collector = loading.collector
    if schema >= COMPARED_FROM:
        _values(row, schema, collector)
        return
    if row["created_at"] < 0:
        collector.add("meta-row-created-at", "error", "storage", "created_at is negative", rank=ROW)
    header = header_of(row, schema)
    loading.header_members(header, NOWHERE)
    later = [
        ("header-origin", "origin", header.get("origin", "subagent") == "subagent", "is not subagent"),
        ("header-depth", "delegationDepth", is_seq(header.get("delegationDepth", 0)), "is negative"),
        ("header-preset", "agentPreset", isinstance(header.get("agentPreset", ""), str), "is no text"),
    ]
    for condition, name, sound, what in later:
        if not sound:
            loading.fault((condition, f"{name} {what}", (name,)), NOWHERE, HEADER, found=show(header[name]))


def _type_fault(row: dict[str, Any], schema: int) -> str | None:
    """Numbers that a reader in JavaScript cannot hold are refused by every schema, texts from 17 on."""
    for name in NUMBERS:
        if not _is_whole(row.get(name, 0 if name == "revision" else None)):
            return f"{name} is no safe integer"
    for name in NUMBERS_OR_NULL:
        if row.get(name) is not None and not _is_whole(row[name]):
            return f"{name} is neither a safe integer nor null"
    if not isinstance(key_of(row, schema), str):
        return "the id is no text"
    if schema < COMPARED_FROM:
        return None
    if not isinstance(row["incarnation"], str):
        return "incarnation is no text"
    wrong = next((name for name in TEXTS_OR_NULL if not isinstance(row[name], str | None)), None)
    return None if wrong is None else f"{wrong} is neither a text nor null"


def _is_whole(cell: object) -> bool:
    return type(cell) is int and abs(cell) <= MAX_SAFE


def _values(row: dict[str, Any], schema: int, collector: Collector) -> None:
    """META-4 to META-11."""
    cwd = row["cwd"]
    faults = [
        ("meta-row-id", key_of(row, schema) == "", "the id is empty"),
        ("meta-row-created-at", row["created_at"] < 0, "created_at is negative"),
        ("meta-row-cwd", cwd is not None and not cwd.startswith("/"), "cwd is no absolute path here"),
        ("meta-row-origin", row["origin"] not in (None, "subagent"), 'origin is not "subagent" or null'),
        ("meta-row-incarnation", not is_uuid(row["incarnation"]), "incarnation is no UUID"),
        ("meta-row-seed-length", (row["seed_length"] or 0) < 0, "seed_length is negative"),
        ("meta-row-depth", (row["delegation_depth"] or 0) < 0, "delegation_depth is negative"),
        ("meta-row-revision", row["revision"] < 0, "revision is negative"),
    ]
    for condition, wrong, message in faults:
        if wrong:
            finding = collector.add(condition, "error", "storage", message, rank=ROW)
            if condition == "meta-row-cwd":
                finding.found, finding.expected = show(cwd), "a path that begins with /"
                tell_of_windows(finding, cwd)
