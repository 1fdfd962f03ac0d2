"""Tiny requests about what is stored: repair, sessions, chunk rows, JSON lines, SQLite, backends.

Each operation has three: ``small`` and ``other`` have different results; ``refused`` is refused where the
operation is one of ``REFUSING``. Where an operation gives a text back, the text can be chosen.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from conformance.json_text import dump_ascii

Request = dict[str, Any]

FOLDER = "{folder}"
"""Stands in a request for a new folder, which whoever asks makes and removes."""
STORES = ("jsonl", "sqlite")
HEADER = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
UUID = "11111111-2222-4333-8444-555555555555"


def log(which: str, text: str) -> list[Request]:
    """A log that is whole: a turn with a title in it, or in ``other`` without one, and the end of a seed."""
    events: list[Request] = [
        {"type": "turn/start", "data": {"turn": 1}},
        {"type": "session/title", "data": {"title": text}},
        {"type": "turn/end", "data": {"turn": 1, "reason": {"kind": "completed"}}},
        {"type": "session/end-seed", "data": {}},
    ]
    if which == "other":
        del events[1]
    return [{"type": each["type"], "seq": seq, "time": seq * 10, **each} for seq, each in enumerate(events)]


def _closers(_: str, which: str, text: str) -> Request:
    return {"events": log(which, text)[: 1 if which == "other" else 2]}


def _request_header(_: str, which: str, text: str) -> Request:
    header = {"config": {"provider": "p", "model": "a" if which == "other" else "b"}}
    event = {"type": "request/header", "seq": 0, "time": 0, "data": {"header": header, "reason": "changed"}}
    return {"events": [event]}


def _equal_headers(_: str, which: str, text: str) -> Request:
    left, right = ({"config": {"provider": "p", "model": model}} for model in ("a", "b"))
    return {"left": left, "right": left if which == "other" else right}


def _pack(store: str, which: str, text: str) -> Request:
    chunk = {"type": "text-delta", "index": 0, "text": text}
    data = {"turn": 1, "step": 1, "chunk": chunk}
    count = 3 if which == "other" else 2
    events = [{"type": "assistant/chunk", "seq": seq, "time": 0, "data": data} for seq in range(count)]
    return {"store": store, "events": events}


def _unpack(store: str, which: str, text: str) -> Request:
    texts = [text, "", "a"] if which == "other" else [text, "", ""]
    data = {"turn": 1, "step": 1, "index": 0, "dt": [0, 0], "texts": texts}
    first = -1 if which == "refused" else 0
    return {"store": store, "record": {"type": "text-chunks", "seq0": first, "time0": 0, "data": data}}


def _admit(source: str, which: str, text: str) -> Request:
    events = log(which, text)
    if which == "refused":
        events[1]["seq"] = 7
    return {"source": source, "sessionId": "s", "header": HEADER, "events": events}


def _fork(_: str, which: str, text: str) -> Request:
    boundary = {"small": 2, "other": 1, "refused": 9}[which]
    return {
        "header": HEADER,
        "events": log(which, text)[:3],
        "boundary": boundary,
        "childId": "c",
        "taken": [],
    }


def _normalise(_: str, which: str, text: str) -> Request:
    events = log(which, text)
    if which == "refused":
        events[1] |= {"type": "mode/set"}
    return {"sessionId": "s", "events": events}


def _scan_file(_: str, which: str, text: str) -> Request:
    lines = [{"type": "session", **HEADER}, *log(which, text)]
    content = "".join(f"{dump_ascii(line)}\n" for line in lines)
    if text.isascii() or any("\ud800" <= letter <= "\udfff" for letter in text):
        encoded = content.encode()
    else:  # as a writer of UTF-8 has it, and not as an escape
        encoded = content.replace(dump_ascii(text), json.dumps(text, ensure_ascii=False)).encode()
    return {"hex": "" if which == "refused" else encoded.hex(), "compression": "none"}


def _load_file(_: str, which: str, text: str) -> Request:
    return {**_scan_file(_, which, text), "sessionId": "s"}


def _path(_: str, which: str, text: str) -> Request:
    session = {"small": "s", "other": "t", "refused": ""}[which]
    return {"cwd": "/work", "compression": "none", "session": session}


def _row(schema: str, event: Request) -> Request:
    last = {"is_packed": {"int": "0"}} if schema == "19" else {"ignorable": None}
    cells = {
        "seq": {"int": str(event["seq"])}, "type": {"text": event["type"]},
        "time": {"int": str(event["time"])}, "data": {"text": dump_ascii(event["data"])},
        "source_event_seqs": None, "surface_op": None,
    }  # fmt: skip
    return {**cells, **last}


def _rows_encode(schema: str, which: str, text: str) -> Request:
    events = log(which, text)[:2]
    if which == "refused":
        events[1]["sourceEventSeqs"] = [-1]
    return {"schema": int(schema), "events": events}


def _rows_decode(schema: str, which: str, text: str) -> Request:
    row = _row(schema, log(which, text)[1])
    return {"schema": int(schema), "row": row | ({"data": {"text": "{bad"}} if which == "refused" else {})}


def _rows_scan(schema: str, which: str, text: str) -> Request:
    rows = [_row(schema, event) for event in log(which, text)[:3]]
    return {"schema": int(schema), "base": 0, "rows": rows[1:] if which == "refused" else rows}


def _rows_session(schema: str, which: str, text: str) -> Request:
    empty = ("cwd", "parent_session", "seed_length", "origin", "delegation_depth", "agent_preset")
    session = {"small": "s", "other": "t", "refused": ""}[which]
    row = {
        "id" if schema == "17" else "session_key": {"text": session}, "version": {"int": "0"},
        "created_at": {"int": "1"}, **dict.fromkeys(empty), "incarnation": {"text": UUID},
        "revision": {"int": "1"},
    }  # fmt: skip
    return {"schema": int(schema), "row": row}


def _open(schema: str, which: str, text: str) -> Request:
    path = {"small": "store.sqlite", "other": "other.sqlite", "refused": "."}[which]
    return {"schema": int(schema), "path": f"{FOLDER}/{path}"}


def _backend(_: str, which: str, text: str) -> Request:
    steps = [{"create": HEADER}, {"append": {"id": "s", "events": log(which, text)}}, {"inspect": "s"}]
    return {"root": FOLDER, "steps": steps}


SCHEMAS = ("15", "17", "19", "20")
_BY_NAME: dict[str, tuple[Callable[[str, str, str], Request], tuple[str, ...], str]] = {
    "closers": (_closers, (), "events"),
    "request-header": (_request_header, (), "events"),
    "request-header.equal": (_equal_headers, (), "right"),
    "chunks.pack": (_pack, STORES, "events"),
    "chunks.unpack": (_unpack, STORES, "record"),
    "admit": (_admit, ("borrowed", "restored"), "events"),
    "fork": (_fork, (), "events"),
    "normalise": (_normalise, (), "events"),
    "jsonl.scan": (_scan_file, (), "hex"),
    "jsonl.path": (_path, (), "session"),
    "jsonl.load": (_load_file, (), "hex"),
    "rows.encode": (_rows_encode, SCHEMAS, "events"),
    "rows.decode": (_rows_decode, SCHEMAS, "row"),
    "rows.scan": (_rows_scan, SCHEMAS, "rows"),
    "rows.session": (_rows_session, ("17", "19", "20"), "row"),
    "sqlite.open": (_open, ("14", *SCHEMAS), "path"),
    "backend": (_backend, (), "steps"),
}
"""For each operation: what makes a request of variant, kind and text; its variants; what it is about."""

PAYLOADS = {name: payload for name, (_, _, payload) in _BY_NAME.items()}
AS_THEY_ARE = frozenset(("jsonl.scan", "jsonl.load", "sqlite.open"))
"""Operations whose payload is a text already, which nobody spells as JSON."""
OPERATIONS = tuple(
    name if not variants else f"{name}@{variant}"
    for name, (_, variants, _) in _BY_NAME.items()
    for variant in variants or ("",)
)
"""Capabilities in the order in which one is chosen for a check that any will do for."""
MAY_BE_MISSING = frozenset(("admit",))
"""Operations that have an answer without their payload as well."""
_NEVER_REFUSE = ("closers", "request-header", "request-header.equal", "chunks.pack", "backend")
_CARRY = (
    "chunks.pack", "chunks.unpack", "admit", "fork", "normalise", "jsonl.scan", "jsonl.load",
    "rows.decode", "rows.scan", "backend",
)  # fmt: skip
REFUSING = tuple(
    op for op in OPERATIONS if op.partition("@")[0] not in _NEVER_REFUSE and op != "rows.encode@15"
)
"""Operations that refuse their request ``refused``."""
CARRYING = tuple(op for op in OPERATIONS if op.partition("@")[0] in _CARRY)
"""Operations that give a text back."""


def request(op: str, which: str, text: str = "hi") -> Request:
    """The members of a request: small, other or refused."""
    name, _, variant = op.partition("@")
    return _BY_NAME[name][0](variant, which, text)
