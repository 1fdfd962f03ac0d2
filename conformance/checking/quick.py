"""The fast way through the lines of a log.

A line is decoded by a typed decoder. What only counts is counted; what takes part in a rule goes, decoded,
to the same rules as on the exact way. A line that the decoder does not take goes the exact way itself, so
that every finding about a line is made there. The decoder keeps the syntax of JSON but is narrower: it
takes no ``1.0`` for a seq, no lone surrogate, no value nested too deeply.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from conformance.checking.collector import Place
from conformance.checking.exact_json import MAX_SAFE
from conformance.checking.shapes import ELIGIBLE, KNOWN_TYPES

if TYPE_CHECKING:
    from conformance.checking.scanning import Scan

Seq = Annotated[int, Meta(ge=0, le=MAX_SAFE)]
Whole = Annotated[int, Meta(ge=-MAX_SAFE, le=MAX_SAFE)]
Number = int | float

JUDGED = ELIGIBLE | {
    "turn/start", "turn/end", "step/start", "step/end", "tool/call", "request/header", "request/context",
    "todo/write", "llm/retry", "llm/retry-started", "compaction/start", "compaction/summary",
    "compaction/end", "session/end-seed",
}  # fmt: skip
"""Known types of which more is asked than their envelope. The others only count."""

LOSSY = re.compile(rb"-0|[0-9][eE]|[0-9]{300}")
"""What stands in every text with a number that is not lossless, and in some others."""


class TextData(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The data of a row of text or reasoning."""

    turn: Number
    step: Number
    index: Number
    dt: list[Whole]
    texts: Annotated[list[str], Meta(min_length=1)]


class CallData(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The data of a row of a tool call."""

    turn: Number
    step: Number
    index: Number
    id: str
    dt: list[Whole]
    args: Annotated[list[str], Meta(min_length=1)]
    name: str | UnsetType = UNSET


class Chunk(msgspec.Struct, forbid_unknown_fields=True, gc=False, tag_field="type", tag="assistant/chunk"):
    """The most frequent line of all."""

    seq: Seq
    time: Whole
    data: Raw


def _plain(name: str, tag: str) -> type[msgspec.Struct]:
    fields = [("seq", Seq), ("time", Whole), ("data", Raw)]
    return msgspec.defstruct(name, fields, forbid_unknown_fields=True, gc=False, tag_field="type", tag=tag)


def _judged(name: str, tag: str) -> type[msgspec.Struct]:
    fields: list[Any] = [("seq", Raw), ("time", Raw), ("data", Raw)]
    fields += [(each, Raw, b"") for each in ("surfaceOp", "sourceEventSeqs", "ignorable")]
    return msgspec.defstruct(name, fields, gc=False, tag_field="type", tag=tag)


def _row(name: str, tag: str, data: type[msgspec.Struct]) -> type[msgspec.Struct]:
    fields = [("seq0", Seq), ("time0", Whole), ("data", data)]
    return msgspec.defstruct(name, fields, forbid_unknown_fields=True, gc=False, tag_field="type", tag=tag)


def _classes() -> tuple[Any, frozenset[type], frozenset[type]]:
    counted = [_plain(f"Counted{number}", tag)
               for number, tag in enumerate(sorted(KNOWN_TYPES - JUDGED - {"assistant/chunk"}))]  # fmt: skip
    judged = [_judged(f"Judged{number}", tag) for number, tag in enumerate(sorted(JUDGED))]
    rows = [
        _row("TextRow", "text-chunks", TextData),
        _row("ReasoningRow", "reasoning-chunks", TextData),
        _row("CallRow", "tool-call-chunks", CallData),
    ]
    union: Any = Chunk
    for each in [*counted, *judged, *rows]:
        union = union | each
    return union, frozenset(counted), frozenset(rows)


_UNION, _COUNTED, _ROWS = _classes()
_decode_line: Callable[[bytes], Any] = msgspec.json.Decoder(_UNION).decode
_decode_any: Callable[[bytes], Any] = msgspec.json.Decoder().decode
_REFUSED = (msgspec.MsgspecError, RecursionError, ValueError)


def take_lines(scan: Scan, lines: list[bytes]) -> None:
    """Lines behind the header, without their line feeds."""
    kept, offset, line = scan.kept, scan.offset, scan.line
    loading, deep = scan.loading, scan.deep
    decode, search = _decode_line, LOSSY.search
    chunk = None
    for text in lines:
        try:
            found = decode(text)
        except _REFUSED:
            found = None
        kind = type(found)
        if (
            kind is Chunk
            and found.seq == kept
            and scan.issue is None
            and not (deep and search(text) is not None)
        ):
            kept += 1
            offset += len(text) + 1
            line += 1
            chunk = found
            continue
        scan.kept, scan.offset, scan.line = kept, offset, line
        if chunk is not None:
            scan.kept_to, loading.last_time, chunk = offset, chunk.time, None
        if found is None or (deep and search(text) is not None):
            scan.take(text)
        else:
            _take(scan, found, kind, text)
        kept, offset, line = scan.kept, scan.offset, scan.line
    scan.kept, scan.offset, scan.line = kept, offset, line
    if chunk is not None:
        scan.kept_to, loading.last_time = offset, chunk.time


def _take(scan: Scan, found: Any, kind: type, text: bytes) -> None:
    """A line that the decoder has taken, and that is no chunk in its place."""
    if scan.issue is None:
        if kind in _COUNTED and found.seq == scan.kept:
            scan.loading.last_time = found.time
            scan.loading.counted(found.seq)
        elif kind in _ROWS and found.seq0 == scan.kept and (last := _last_time(found)) is not None:
            scan.loading.last_time = last
            scan.kept += len(found.data.dt)
        else:
            _judge(scan, text)
            return
        scan.kept += 1
        scan.line += 1
        scan.offset += len(text) + 1
        scan.kept_to = scan.offset
        return
    _judge(scan, text)


def _judge(scan: Scan, text: bytes) -> None:
    """A line that the rules have to see."""
    try:
        record = _decode_any(text)
    except _REFUSED:
        scan.take(text)
        return
    place = Place(scan.line + 1, scan.offset, text)
    scan.line += 1
    scan.offset += len(text) + 1
    scan.record(record, place)


def _last_time(row: Any) -> int | None:
    """The time of the last chunk of a row; None where the row is not as it should be."""
    data = row.data
    count = len(data.args if type(data) is CallData else data.texts)
    if len(data.dt) != count - 1 or row.seq0 + count - 1 > MAX_SAFE:
        return None
    time: int = row.time0
    for gap in data.dt:
        time += gap
        if not -MAX_SAFE <= time <= MAX_SAFE:
            return None
    return time
