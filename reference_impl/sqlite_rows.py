"""The rows of a SQLite store: how events are written into columns, and read again.

Page: ``spec/sqlite-rows.md``. A row is a dict from the names of its columns to what a driver gives for
their cells: None, an int, a float, a text or bytes. Schemas 15, 17, 19 and 20 are known.
"""

from __future__ import annotations

import json
from typing import Any

import zstandard

from . import chunk_rows, seqs_codec
from .chunk_rows import Event, is_safe_integer, malformed
from .rejection import Rejection
from .stored_json import read_json
from .written_numbers import as_written

Row = dict[str, Any]

COMPACT = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
LEAST_COMPRESSED = 4096
"""UTF-8 bytes of data from which schema 17 compresses it."""
LEVEL = 3
FRAME_MAGIC = b"\x28\xb5\x2f\xfd"
PIECE = 1 << 16
"""Bytes that are expanded at a time."""
LARGEST_CONTENT = 1 << 29
"""Bytes that a cell may expand to. A limit of this program; only a packed row has one by its rules."""


class UndecidableError(Exception):
    """ROWS-20: the cell may be compressed with a dictionary that this reader does not have."""


# -- writing ---------------------------------------------------------------------


def encode(schema: int, events: list[Event]) -> list[Row]:
    """ROWS-1: the rows of one batch, in order. ``at`` of a refusal is the index of an event."""
    if schema == 15:
        return [encode_event(schema, event, index) for index, event in enumerate(events)]
    rows: list[Row] = []
    index = 0
    for record in chunk_rows.pack_sqlite(events):
        if record is events[index]:
            rows.append(encode_event(schema, record, index))
            index += 1
        else:
            rows.append(encode_packed(schema, record))
            index += len(chunk_rows.members_of(record))
    return rows


def encode_event(schema: int, event: Event, index: int) -> Row:
    """ROWS-2, ROWS-3: one event is one row; a member that it does not have is a null cell."""
    row: Row = {
        "seq": int(event["seq"]),
        "type": event["type"],
        "time": int(event["time"]),
        "data": encode_data(schema, json_text(event["data"])),
        "source_event_seqs": None,
        "surface_op": None,
    }
    if "sourceEventSeqs" in event:
        row["source_event_seqs"] = encode_sources(schema, event["sourceEventSeqs"], index)
    if "surfaceOp" in event:
        row["surface_op"] = json_text(event["surfaceOp"])
    if schema == 19:
        row["is_packed"] = 0
    else:
        row["ignorable"] = 1 if "ignorable" in event else None
    return row


def encode_packed(schema: int, record: chunk_rows.Row) -> Row:
    """ROWS-6: a run of chunks is the seq and the time of its first member, and a flag that says so."""
    row: Row = {
        "seq": record["seq0"],
        "type": record["type"],
        "time": record["time0"],
        "data": encode_data(schema, json_text(record["data"])),
        "source_event_seqs": None,
        "surface_op": None,
    }
    if schema == 19:
        row["is_packed"] = 1
    else:
        row["ignorable"] = 0
    return row


def json_text(value: object) -> str:
    """ROWS-4: compact JSON text, as CHNK-11 has it. Lone surrogates are escaped, for UTF-8 has no others."""
    try:
        text = COMPACT.encode(value)
    except ValueError:  # JSON has no word for a number beyond all doubles
        text = COMPACT.encode(as_written(value))
    return chunk_rows.LONE_SURROGATE.sub(chunk_rows.escaped, text)


def encode_data(schema: int, text: str) -> str | bytes:
    """ROWS-4: schema 17 compresses what is long and gets strictly shorter.

    Schemas 19 and 20 compress with a dictionary that is not public; here they give the text.
    """
    content = text.encode()
    if schema != 17 or len(content) < LEAST_COMPRESSED:
        return text
    frame = zstandard.ZstdCompressor(level=LEVEL).compress(content)
    return frame if len(frame) < len(content) else text


def encode_sources(schema: int, values: list[object], index: int) -> str | bytes:
    """ROWS-3: a list of seqs as the sequence codec of the schema writes it; an empty one is not null."""
    if schema == 15:
        return seqs_codec.encode_15(values)
    try:
        return seqs_codec.encode_17(values) if schema == 17 else seqs_codec.encode_19(values)
    except Rejection as refusal:
        refusal.at = index
        raise


# -- reading: the columns --------------------------------------------------------


def decode(schema: int, row: Any) -> list[Event]:
    """ROWS-5: the events of one row, one unless it is packed. Refusals have no ``at``."""
    check_columns(schema, row)
    return decode_columns(schema, row)


def check_columns(schema: int, row: Any) -> None:
    """ROWS-7 to ROWS-12, before anything is interpreted. ROWS-13: schema 15 asks nothing of this."""
    if schema == 15:
        return
    if not isinstance(row, dict):
        raise Rejection("row-not-object", "stored event must be an object")
    if not is_safe_integer(row["seq"]):
        raise Rejection("row-column-type", "stored seq must be a safe integer")
    if row["seq"] < 0:
        raise Rejection("row-seq-negative", "stored seq must be non-negative")
    if not isinstance(row["type"], str):
        raise Rejection("row-column-type", "stored type must be a string")
    if row["type"] == "":
        raise Rejection("row-type-empty", "stored type must not be empty")
    if not is_safe_integer(row["time"]):
        raise Rejection("row-column-type", "stored time must be a safe integer")
    if not isinstance(row["data"], str | bytes):
        raise Rejection("row-column-type", "stored data must be a string or blob")
    if not isinstance(row["source_event_seqs"], bytes | None):
        raise Rejection("row-column-type", "stored source_event_seqs must be a blob or null")
    if not isinstance(row["surface_op"], str | None):
        raise Rejection("row-column-type", "stored surface_op must be a string or null")
    if schema == 19:
        if row["is_packed"] not in (0, 1):
            raise Rejection("row-packed-flag", "stored event is_packed must be 0 or 1")
    elif row["ignorable"] is not None:
        if not is_safe_integer(row["ignorable"]):
            raise Rejection("row-column-type", "stored ignorable must be a safe integer or null")
        if row["ignorable"] not in (0, 1):
            raise Rejection("row-ignorable-value", "stored event ignorable must be 0, 1, or null")


# -- reading: what the columns say -----------------------------------------------


def decode_columns(schema: int, row: Row) -> list[Event]:
    """The events of a row whose columns were checked. Every refusal from here on is a hole in the log."""
    if is_packed(schema, row):
        return decode_packed(schema, row)
    return [decode_event(schema, row)]


def is_packed(schema: int, row: Row) -> bool:
    """ROWS-6: what the flag of the schema says; a type alone says nothing, and schema 15 has no flag."""
    if schema == 15:
        return False
    if schema == 19:
        return bool(row["is_packed"] == 1)
    return bool(row["ignorable"] == 0)


def decode_event(schema: int, row: Row) -> Event:
    """ROWS-2, ROWS-3, ROWS-14: a null cell is an absent member; only 1 marks an event as ignorable."""
    event = {"type": row["type"], "seq": row["seq"], "time": row["time"]}
    if row["source_event_seqs"] is not None:
        event["sourceEventSeqs"] = decode_sources(schema, row["source_event_seqs"], row["seq"])
    if row["surface_op"] is not None:
        event["surfaceOp"] = decode_op(row["surface_op"])
    event["data"] = decode_data(content_of(schema, row["data"], LARGEST_CONTENT))
    if schema != 19 and row["ignorable"] == 1:
        event["ignorable"] = True
    return event


def decode_sources(schema: int, cell: Any, seq: int) -> object:
    """ROWS-3: the cell as the sequence codec of the schema reads it; the place inside it is not told."""
    try:
        if schema == 15:
            return seqs_codec.decode_15(cell)
        if schema == 17:
            return seqs_codec.decode_17(cell)
        return seqs_codec.decode_19(cell, seq)
    except Rejection as refusal:
        refusal.at = None
        raise


def decode_op(text: str) -> object:
    """ROWS-18: whatever the JSON text holds; what it should hold is asked elsewhere."""
    try:
        return read_json(text)
    except ValueError:
        raise Rejection("row-op-invalid", "the surface_op is no JSON text") from None


def decode_packed(schema: int, row: Row) -> list[Event]:
    """ROWS-15, ROWS-16, ROWS-19, in this order: tag, surface, size of the stored text, then its members."""
    if row["type"] not in list(chunk_rows.KIND_OF_ROW):
        raise malformed("row-packed-tag", "packed discriminator requires a chunk tag", row)
    if row["source_event_seqs"] is not None or row["surface_op"] is not None:
        raise malformed("row-packed-surface", "packed surface fields must be null", row)
    content = content_of(schema, row["data"], chunk_rows.MOST_BYTES)
    if len(content) > chunk_rows.MOST_BYTES:
        raise malformed("chunk-size", f"data exceeds {chunk_rows.MOST_BYTES} UTF-8 bytes", row)
    data = decode_data(content)
    record = {"type": row["type"], "seq0": row["seq"], "time0": row["time"], "data": data}
    chunk_rows.check_shape(record)
    chunk_rows.check_lists(record, chunk_rows.LEAST_MEMBERS, bounded=True)
    chunk_rows.check_ends(record, bounded=False)  # the size of the text was asked for above
    return chunk_rows.expand(record)


# -- reading: data ---------------------------------------------------------------


def content_of(schema: int, cell: str | bytes, most: int) -> bytes:
    """ROWS-17, ROWS-19: the bytes of a text, or of a compressed one, and no more than a piece too many."""
    if isinstance(cell, str):
        return cell.encode("utf-8", "surrogatepass")
    content = b""
    try:
        with zstandard.ZstdDecompressor().stream_reader(cell) as reader:
            while len(content) <= most and (piece := reader.read(PIECE)):
                content += piece
    except zstandard.ZstdError:
        if schema != 17 and cell.startswith(FRAME_MAGIC):
            raise UndecidableError from None
        return b""  # which is no JSON text
    return content


def decode_data(content: bytes) -> object:
    """ROWS-17: bytes that are no UTF-8 are no JSON; nothing is put in the place of a wrong one."""
    try:
        return read_json(content.decode())
    except ValueError:  # which a wrong byte is as well
        raise Rejection("row-data-invalid", "the data is no JSON text") from None
