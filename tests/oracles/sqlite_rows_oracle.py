"""A second reading of rows of SQLite, made from the recorded results and kept apart from the reference.

It reads the cells of the protocol as they are spelled, and asks JSON Schemas what a row may look like. A log
is a string with a letter for each row, and patterns say what becomes of it. Frames are fed to a decompressor
a byte at a time. Slow, and meant to be so.

Answers are as in the protocol, without messages: ``{"result": …}`` or ``{"rejected": {"condition", "at"}}``.
"""

from __future__ import annotations

import json
import re
from typing import Any

import zstandard
from jsonschema import Draft202012Validator
from oracles import chunk_rows_oracle, seqs_codec_oracle

LAST = int("1" * 53, 2)
ROOM = 2**20
Answer = dict[str, Any]


class MalformedError(Exception):
    """A fault: its condition, and the index of an element where one is known."""

    def __init__(self, condition: str, at: int | None = None) -> None:
        super().__init__(condition)
        self.told = {"condition": condition} | ({} if at is None else {"at": at})


class UnknownError(Exception):
    """What the cell holds takes a dictionary."""


def spelled(kind: str, pattern: str = "") -> dict[str, Any]:
    """A schema of a cell of one kind."""
    return {"type": "object", "required": [kind], "properties": {kind: {"pattern": pattern}}}


NULL = {"type": "null"}
COLUMNS = {
    "seq": spelled("int"),
    "type": spelled("text"),
    "time": spelled("int"),
    "data": {"anyOf": [spelled("text"), spelled("blob")]},
    "source_event_seqs": {"anyOf": [spelled("blob"), NULL]},
    "surface_op": {"anyOf": [spelled("text"), NULL]},
    "ignorable": {"anyOf": [spelled("int"), NULL]},
}
VALUES = [
    ("row-seq-negative", {"seq": {"properties": {"int": {"not": {"pattern": "^-"}}}}}),
    ("row-type-empty", {"type": {"properties": {"text": {"minLength": 1}}}}),
    ("row-ignorable-value", {"ignorable": {"enum": [None, {"int": "0"}, {"int": "1"}]}}),
    ("row-packed-flag", {"is_packed": {"enum": [{"int": "0"}, {"int": "1"}]}}),
]


def holds(schema: dict[str, Any], row: Any) -> bool:
    return Draft202012Validator({"properties": schema}).is_valid(row)


def faults_of_columns(schema: int, row: Any) -> list[str]:
    """The conditions that the columns of a row break; any of them may be told."""
    if schema == 15:
        return []
    if not isinstance(row, dict):
        return ["row-not-object"]
    numbers = [
        int(row[name]["int"]) for name in ("seq", "time", "ignorable") if "int" in (row.get(name) or {})
    ]
    wrong = not holds(COLUMNS, row) or any(abs(number) > LAST for number in numbers)
    return ["row-column-type"] * wrong + [name for name, values in VALUES if not holds(values, row)]


# -- one row ---------------------------------------------------------------------


def read(text: str) -> Any:
    def refuse(word: str) -> None:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def stored_text(schema: int, cell: dict[str, str], room: int | None) -> str:
    """The text of a data cell. Raises MalformedError with ``chunk-size`` where there is too much of it."""
    if "text" in cell:
        content = cell["text"].encode()
    else:
        content = b""
        frame = bytes.fromhex(cell["blob"])
        decompressor = zstandard.ZstdDecompressor().decompressobj()
        try:
            for place in range(len(frame)):
                content += decompressor.decompress(frame[place : place + 1])
                if decompressor.eof or (room is not None and len(content) > room):
                    break
        except zstandard.ZstdError:
            if schema >= 19 and re.match("28b52ffd", cell["blob"]):
                raise UnknownError from None
            raise MalformedError("row-data-invalid") from None
    if room is not None and len(content) > room:
        raise MalformedError("chunk-size")
    try:
        return content.decode("utf-8", "strict")
    except UnicodeDecodeError:
        raise MalformedError("row-data-invalid") from None


def parsed(condition: str, text: str) -> Any:
    try:
        return read(text)
    except ValueError:
        raise MalformedError(condition) from None


def sources(schema: int, cell: dict[str, str], seq: int) -> Any:
    if schema == 15:
        return parsed("seqs-text-invalid", cell["text"])
    kind, *told = seqs_codec_oracle.decode(min(schema, 19), bytes.fromhex(cell["blob"]), seq)
    if kind == "rejected":
        raise MalformedError(str(told[0]))
    return told[0]


def events_of(schema: int, row: dict[str, Any]) -> list[Any]:
    """The events of a row whose columns are right. Raises MalformedError and UnknownError."""
    kind, seq, time = row["type"]["text"], int(row["seq"]["int"]), int(row["time"]["int"])
    both = (row["source_event_seqs"], row["surface_op"])
    packed = {15: None, 19: row.get("is_packed")}.get(schema, row.get("ignorable"))
    if packed == {"int": {19: "1"}.get(schema, "0")}:
        if kind not in chunk_rows_oracle.NAMES.values():
            raise MalformedError("row-packed-tag")
        if both != (None, None):
            raise MalformedError("row-packed-surface")
        data = parsed("row-data-invalid", stored_text(schema, row["data"], ROOM))
        record = {"type": kind, "seq0": seq, "time0": time, "data": data}
        found, told = chunk_rows_oracle.unpack("sqlite", record)
        if told == "chunk-size":  # of the text that it would write itself; ours was measured above
            found, told = unpacked_in_short(record)
        if found == "rejected":
            raise MalformedError(str(told))
        return list(told)
    event = {"type": kind, "seq": seq, "time": time}
    if both[0] is not None:
        event["sourceEventSeqs"] = sources(schema, both[0], seq)
    if both[1] is not None:
        event["surfaceOp"] = parsed("row-op-invalid", both[1]["text"])
    event["data"] = parsed("row-data-invalid", stored_text(schema, row["data"], None))
    if row.get("ignorable") == {"int": "1"}:
        event["ignorable"] = True
    return [event]


def unpacked_in_short(record: dict[str, Any]) -> tuple[str, Any]:
    """The members of a row of text, asked with its texts left out, and given them afterwards."""
    texts = record["data"]["texts"]
    short = {**record, "data": {**record["data"], "texts": [""] * len(texts)}}
    found, told = chunk_rows_oracle.unpack("sqlite", short)
    if found == "events":
        for event, text in zip(told, texts, strict=True):
            event["data"]["chunk"]["text"] = text
    return found, told


def decode(schema: int, row: Any) -> list[Answer]:
    """The answers to ``rows.decode`` that are right."""
    if faults := faults_of_columns(schema, row):
        return [{"rejected": {"condition": fault}} for fault in faults]
    try:
        return [{"result": {"events": events_of(schema, row)}}]
    except MalformedError as fault:
        return [{"rejected": fault.told}]
    except UnknownError:
        return [{"result": {"undecidable": True}}]


# -- a log -----------------------------------------------------------------------


def scan(schema: int, rows: list[Any], base: int) -> list[Answer]:
    """The answers to ``rows.scan`` that are right.

    In the string ``g`` is a good row, ``e`` a good end of a turn, capital letters the same with another seq
    than is due, and ``x`` a row that cannot be read. Behind one of these it is of no account what is due.
    """
    wrong = [
        {"rejected": {"condition": fault, "at": at}}
        for at, row in enumerate(rows)
        for fault in faults_of_columns(schema, row)
    ]
    if wrong:
        return wrong
    letters, groups, due = "", [], base
    for row in rows:
        try:
            members = events_of(schema, row)
        except UnknownError:
            return [{"result": {"undecidable": True}}]
        except MalformedError:
            letters, members = f"{letters}x", []
        else:
            letter = "e" if members[-1]["type"] == "turn/end" else "g"
            letters += letter if int(row["seq"]["int"]) == due else letter.upper()
        groups.append(members)
        due += len(members)
    parts = re.fullmatch("(?P<kept>[ge]*)(?P<rest>([xGE].*)?)", letters)
    assert parts is not None
    first = len(parts["kept"])
    if re.search("[eE]", parts["rest"]):
        if schema != 15:
            condition = "row-committed-corrupt"
        else:
            condition = "row-committed-unparsable" if letters[first] == "x" else "row-committed-gap"
        return [{"rejected": {"condition": condition, "at": first}}]
    events = [event for members in groups[:first] for event in members]
    if first == len(rows):
        return [{"result": {"events": events, "tornFrom": None}}]
    torn = base + len(events) if schema == 15 else int(rows[first]["seq"]["int"])
    return [{"result": {"events": events, "tornFrom": torn}}]


# -- writing ---------------------------------------------------------------------


def encode(schema: int, events: list[Any]) -> Answer:
    """The answer to ``rows.encode``, cells of JSON as ``{"json": V}`` or ``{"compressed": V}``."""
    for at, event in enumerate(events):
        kind = seqs_codec_oracle.encode(min(schema, 19), event.get("sourceEventSeqs", []))[0]
        if schema != 15 and kind == "rejected":
            return {"rejected": {"condition": "seqs-value-not-seq", "at": at}}
    records = events if schema == 15 else chunk_rows_oracle.pack("sqlite", events)
    return {"result": {"rows": [written(schema, record) for record in records]}}


def written(schema: int, record: Any) -> dict[str, Any]:
    packed = "seq0" in record
    text = json.dumps(record["data"], separators=(",", ":"), ensure_ascii=False)
    row: dict[str, Any] = {
        "seq": {"int": str(int(record["seq0" if packed else "seq"]))},
        "type": {"text": record["type"]},
        "time": {"int": str(int(record["time0" if packed else "time"]))},
        "data": {
            "compressed"
            if schema == 17 and len(text.encode("utf-8", "surrogatepass")) > 4095
            else "json": json.loads(text, parse_constant=lambda _: None)
        },
        "source_event_seqs": None,
        "surface_op": {"json": record["surfaceOp"]} if "surfaceOp" in record else None,
    }
    if "sourceEventSeqs" in record:
        seqs = record["sourceEventSeqs"]
        cell = {"json": seqs} if schema == 15 else None
        row["source_event_seqs"] = cell or {"blob": seqs_codec_oracle.encode(min(schema, 19), seqs)[1]}
    if schema == 19:
        row["is_packed"] = {"int": str(int(packed))}
    else:
        row["ignorable"] = {"int": "0"} if packed else {"int": "1"} if record.get("ignorable") else None
    return row


# -- the row of a session --------------------------------------------------------

TEXT_OR_NULL = {"anyOf": [spelled("text"), NULL]}
NUMBER_OR_NULL = {"anyOf": [spelled("int"), NULL]}
HEADER = {
    "version": ("version", spelled("int")),
    "created_at": ("createdAt", spelled("int")),
    "cwd": ("cwd", TEXT_OR_NULL),
    "parent_session": ("parentSession", TEXT_OR_NULL),
    "seed_length": ("seedLength", NUMBER_OR_NULL),
    "origin": ("origin", TEXT_OR_NULL),
    "delegation_depth": ("delegationDepth", NUMBER_OR_NULL),
    "agent_preset": ("agentPreset", TEXT_OR_NULL),
    "incarnation": (None, spelled("text")),
    "revision": (None, spelled("int")),
}
PATTERNS = {
    "meta-row-id": ("id", "text", "."),
    "meta-row-created-at": ("created_at", "int", "^[0-9]"),
    "meta-row-cwd": ("cwd", "text", "^/"),
    "meta-row-origin": ("origin", "text", "^subagent$"),
    "meta-row-incarnation": ("incarnation", "text", "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"),
    "meta-row-seed-length": ("seed_length", "int", "^[0-9]"),
    "meta-row-depth": ("delegation_depth", "int", "^[0-9]"),
    "meta-row-revision": ("revision", "int", "^[0-9]"),
}


def session(schema: int, row: Any) -> list[Answer]:
    """The answers to ``rows.session`` that are right."""
    if not isinstance(row, dict):
        return [{"rejected": {"condition": "meta-row-not-object"}}]
    key = {17: "id"}.get(schema, "session_key")
    columns = {"id": ("id", spelled("text")), **HEADER}
    cells = {("id" if name == key else name): cell for name, cell in row.items()}
    faults = [
        condition
        for condition, (name, kind, pattern) in PATTERNS.items()
        if kind in (cells[name] or {}) and not re.search(pattern, cells[name][kind])
    ]
    for name, (_, shape) in columns.items():
        number = int((cells[name] or {}).get("int", "0"))
        if abs(number) > LAST or not Draft202012Validator(shape).is_valid(cells[name]):
            faults.append("meta-row-column-type")
    if faults:
        return [{"rejected": {"condition": fault}} for fault in faults]
    header = {}
    for name, (member, _) in columns.items():
        if member is not None and cells[name] is not None:
            ((kind, text),) = cells[name].items()
            header[member] = int(text) if kind == "int" else text
    return [{"result": {"header": header}}]
