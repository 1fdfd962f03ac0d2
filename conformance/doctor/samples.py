"""Requests that the checks send: tiny logs whose right treatment is beyond doubt.

Those about what is stored are in ``samples_stored``.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from conformance.doctor import samples_stored as stored
from conformance.json_text import dump_ascii
from conformance.operations import OPERATIONS
from conformance.schemas import fault, spelled_as_text
from conformance.shorthand import expand_request

Request = dict[str, Any]

LOGS: dict[str, list[Any]] = {
    "small": [{"user": "hi"}],
    "other": [{"user": "a"}, {"user": "b"}, {"user": "c", "replace": [0, 1]}],
    "empty": [],
    "no-marker": [{"user": "a"}, {"user": "b", "without": ["surfaceOp"]}],
    "gap": [{"user": "a"}, {"user": "b", "seq": 7}],
    "no-start": [{"user": "a"}, {"user": "b", "replace": [5, 5], "sourceEventSeqs": [5]}],
}
INVALID = ("no-marker", "gap", "no-start")
"""Logs that every implementation refuses."""
CELLS = {
    "0": ("[0]", "00", "0000"),
    "0,1,2": ("[0,1,2]", "000202", "010003"),
    "2,0": ("[2,0]", "0203", "000203"),
}
"""Lists of seqs, and how they are stored by schema 15 (text), 17 and 19 (hex)."""
SCHEMAS = (15, 17, 19)
LOG_OPERATIONS = ("fold", "messages", "transcript", "window", "messages.linear-fallback")
TEXT_OPERATIONS = (*LOG_OPERATIONS, "project", "classify", "surface.live", "session.live", "tutorial")
"""Operations with events, and in them texts of any length."""
CELL_OPERATIONS = tuple(f"seqs.{verb}@{schema}" for verb in ("encode", "decode") for schema in SCHEMAS)
ANY_OPERATION = (*TEXT_OPERATIONS, *CELL_OPERATIONS, *stored.OPERATIONS)
"""Capabilities in the order in which one is chosen for a check that any will do for."""


def request(op: str, log: str = "small", text: str | None = None) -> Request:
    """The members of a request. ``text`` takes the place of the text of the first message."""
    if op in stored.OPERATIONS:
        which = log if log in ("small", "other") else "refused"
        return stored.request(op, which) if text is None else stored.request(op, which, text)
    name, _, schema = op.partition("@")
    if schema:
        return cell(name, int(schema), "0" if log == "small" else "0,1,2" if log == "other" else "2,0")
    elements = [dict(element) for element in LOGS[log]]
    if text is not None:
        elements[0]["user"] = text
    if op == "tutorial":
        return {
            "events": [{"type": "user/message", "content": text or element["user"]} for element in elements]
        }
    if op in ("project", "classify"):
        return expand_request({"event": elements[-1]})
    if op == "surface.live":
        steps = [{"push": element} for element in elements]
        return expand_request({"baseSeq": 0, "steps": [*steps, {"observe": True}]})
    if op == "session.live":
        steps = [{"append": element} for element in elements]
        return expand_request({"steps": [*steps, {"observe": ["nodes", "replaceGeneration", "messages"]}]})
    if op == "window":
        return expand_request({"baseSeq": 0, "events": elements})
    return expand_request({"events": elements})


def cell(name: str, schema: int, seqs: str) -> Request:
    """A request about one cell of source seqs."""
    if name == "seqs.encode":
        return {"schema": schema, "values": [int(seq) for seq in seqs.split(",")]}
    stored = CELLS[seqs][SCHEMAS.index(schema)]
    return (
        {"schema": schema, "text": stored} if schema == 15 else {"schema": schema, "hex": stored, "rowSeq": 9}
    )


def payload(op: str) -> str:
    """The member that an operation is about; ``NAME_text`` spells it where ``has_text_spelling``."""
    if op.startswith("seqs.decode"):
        return "text" if op.endswith("@15") else "hex"
    name = name_of(op)
    return stored.PAYLOADS.get(name) or OPERATIONS[name].members[-1]


def has_text_spelling(op: str) -> bool:
    """Whether the payload may come as text; a cell, a file or a path is a text already."""
    return not op.startswith("seqs.decode") and name_of(op) not in stored.AS_THEY_ARE


def wrong_result(op: str, value: Any) -> object:
    """What is wrong with the shape of a result, or None."""
    if name_of(op) == "sqlite.open":  # the suite adds the rest of what the schema asks for
        return None if value.get("opened") is True else "opened must be true"
    return fault(f"op/{name_of(op)}#/$defs/result", value)


def name_of(op: str) -> str:
    """The operation of a capability, without its variant."""
    return op.partition("@")[0]


def as_text(members: Request, op: str, text: str | None = None) -> Request:
    """The request with its payload spelled as JSON text, or with the text that is given."""
    name = payload(op)
    spelled = {key: value for key, value in members.items() if key != name}
    return {**spelled, f"{name}_text": dump_ascii(members[name]) if text is None else text}


def all_as_text(members: Request, op: str) -> Request:
    """The request with its payload, and whatever else may come as JSON text, spelled so."""
    names = {payload(op), *spelled_as_text(name_of(op))}
    return {
        f"{key}_text" if key in names else key: dump_ascii(value) if key in names else value
        for key, value in members.items()
    }


def body(op: str, members: Request, edition: str = "v0") -> str:
    """What stands behind the id of a request line."""
    return dump_ascii({"op": name_of(op), "edition": edition, **members})[1:]


def walk_texts(value: Any) -> list[str]:
    """Every text inside an answer, those in ``NAME_text`` read as what they spell."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in walk_texts(item)]
    if isinstance(value, dict):
        found: list[str] = []
        for name, member in value.items():
            if name.endswith("_text") and isinstance(member, str):
                with contextlib.suppress(ValueError, RecursionError):
                    member = json.loads(member)
            found += walk_texts(member)
        return found
    return []
