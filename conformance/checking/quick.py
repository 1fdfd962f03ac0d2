"""The fast way through the lines of a log.

A line is decoded by a typed decoder. A line that it takes has nothing wrong with it by itself, and what is
left to ask of it is asked here. A line that it does not take is decoded without types, and goes to the same
rules as on the exact way; one that even so cannot be decoded goes the exact way itself. The decoder keeps the
syntax of JSON but is narrower: it takes no lone surrogate and no value nested too deeply.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from conformance.checking.collector import Place
from conformance.checking.exact_json import MAX_SAFE
from conformance.checking.quick_types import (
    REFUSED,
    ROWS,
    AssistantMessage,
    CallData,
    Chunk,
    DeepChunk,
    StepEnd,
    StepStart,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
    decode_any,
    decode_deep,
    decode_line,
    frame_of_result,
)

if TYPE_CHECKING:
    from conformance.checking.scanning import Scan

MINUS_ZERO = re.compile(rb"-(?<![^:,\[ \t\r\n]-)(?:0(?:[.eE,}\] \t\r\n]|$)|[0-9.]+[eE]-)")
"""What stands in every line with -0, or with a number that becomes -0. The first byte is soon found."""
SHAPES = bytes(
    0x30 if 0x30 <= byte <= 0x39 else 0x65 if byte in b"eE" else 0x20 for byte in range(256)
)  # fmt: skip
"""Every digit becomes 0, every letter that may begin an exponent e, and the rest a blank."""
EXPONENT = b"0e00"
"""Digits with an exponent of two digits or more. With one digit it takes ENDLESS to be beyond all doubles."""
SEEN = frozenset((TurnStart, TurnEnd, StepStart, StepEnd, DeepChunk))
"""Classes that hold every number of their line, and none but whole ones that are safe."""
ENDLESS = b"0" * 290
"""So many digits in a row may be beyond all doubles, and the decoder reads them as an integer."""


def take_lines(scan: Scan, lines: list[bytes]) -> None:
    """Lines behind the header, without their line feeds."""
    doubtful = scan.deep and _has_minus_zero(b"\n".join(lines))
    decode, chunk = (decode_deep, DeepChunk) if scan.deep else (decode_line, Chunk)
    at = 0
    if not scan.faulty():
        kept, last = scan.kept, None
        for index, text in enumerate(lines):
            try:
                found = decode(text)
            except REFUSED:
                found = None
            if type(found) is chunk and found.seq == kept and not (doubtful and _has_minus_zero(text)):
                kept += 1
                last = found
                continue
            if last is not None:
                _count(scan, lines[at:index], last)
                last = None
            _take(scan, found, text, doubtful)
            kept, at = scan.kept, index + 1
            if scan.faulty():
                break
        else:
            if last is not None:
                _count(scan, lines[at:], last)
            return
    rest = lines[at:]
    if not any(rest):
        scan.empty_behind(len(rest))
        return
    for text in rest:
        if text:
            take_untyped(scan, text)
        else:
            scan.empty_behind(1)


def _count(scan: Scan, lines: list[bytes], last: Chunk | DeepChunk) -> None:
    """Lines with one chunk each, all of them kept, and the last of the chunks."""
    scan.kept += len(lines)
    scan.line += len(lines)
    scan.offset += sum(map(len, lines)) + len(lines)
    scan.kept_to = scan.offset
    scan.loading.last_time = last.time


def _take(scan: Scan, found: Any, text: bytes, doubtful: bool) -> None:
    """A line that is not one of many chunks. ``doubtful`` are lines with a -0 in one of them."""
    if found is None or (scan.deep and (doubtful or type(found) not in SEEN) and not _is_lossless(text)):
        take_untyped(scan, text)
        return
    kind = type(found)
    if kind in ROWS:
        last = _last_time(found) if found.seq0 == scan.kept else None
        if last is None:
            take_untyped(scan, text)
            return
        scan.kept += len(found.data.dt) + 1
    elif found.seq != scan.kept:
        take_untyped(scan, text)
        return
    else:
        last = found.time
        judge = _JUDGES.get(kind)
        if judge is not None:
            if not judge(scan, found, Place(scan.line + 1, scan.offset, text)):
                take_untyped(scan, text)
                return
        elif kind is not Chunk and kind is not DeepChunk:
            scan.loading.counted(found.seq)
        scan.kept += 1
    scan.loading.last_time = last
    scan.counted(text)
    scan.kept_to = scan.offset


def take_untyped(scan: Scan, text: bytes) -> None:
    """A line that the rules have to see whole."""
    try:
        record = decode_any(text)
    except REFUSED:
        scan.take(text)
        return
    if scan.deep and not _is_lossless(text):
        scan.take(text)
        return
    place = Place(scan.line + 1, scan.offset, text)
    scan.counted(text)
    scan.record(record, place)


def _has_minus_zero(text: bytes) -> bool:
    """Whether there may be a -0 in a text, which may be many lines."""
    return MINUS_ZERO.search(text) is not None


def _is_lossless(text: bytes) -> bool:
    """Whether surely no number of a line is -0 or beyond all doubles; the decoder refuses 1e400 itself."""
    if _has_minus_zero(text):
        return False
    shape = text.translate(SHAPES, b"+")
    if ENDLESS in shape:
        return False
    if EXPONENT in shape:
        try:
            decode_any(text)
        except REFUSED:
            return False
    return True


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


# -- what is left to ask ----------------------------------------------------------------


def _turn_start(scan: Scan, found: TurnStart, place: Place) -> bool:
    scan.loading.turn_starts(found.data.turn, found.seq, place)
    return True


def _turn_end(scan: Scan, found: TurnEnd, place: Place) -> bool:
    scan.loading.turn_ends(found.data.turn, found.seq, place)
    return True


def _step_start(scan: Scan, found: StepStart, place: Place) -> bool:
    scan.loading.step_starts(found.data.turn, found.data.step, found.seq, place)
    return True


def _step_end(scan: Scan, found: StepEnd, place: Place) -> bool:
    scan.loading.step_ends(found.data.turn, found.data.step, found.seq, place)
    return True


def _tool_call(scan: Scan, found: ToolCall, place: Place) -> bool:
    data = found.data
    scan.loading.call_starts(data.callId, data.turn, data.step, found.seq, place)
    return True


def _user_message(scan: Scan, found: UserMessage, place: Place) -> bool:
    cited = found.sourceEventSeqs
    if cited is not UNSET and not _sound(cited, found.seq):
        return False
    scan.loading.user_appends(found.seq, bool(found.data.content), place)
    return True


def _assistant_message(scan: Scan, found: AssistantMessage, place: Place) -> bool:
    cited: Any = found.sourceEventSeqs
    if cited is UNSET:
        cited = None
    elif cited and not _sound(cited, found.seq):
        return False
    calls: list[str] = []
    for block in found.data.message.content:
        if block.type == "tool-call":
            try:
                call = decode_any(bytes(block.id))
            except REFUSED:
                return False
            if not isinstance(call, str):
                return False
            calls.append(call)
    data = found.data
    if data.turn is None or data.step is None:
        return False
    projects = bool(data.message.content)
    scan.loading.assistant_appends(found.seq, calls, cited, projects, (data.turn, data.step), place)
    return True


def _tool_result(scan: Scan, found: ToolResult, place: Place) -> bool:
    cited: Any = found.sourceEventSeqs
    if cited is UNSET:
        cited = None
    elif not _sound(cited, found.seq):
        return False
    data = found.data
    call = data.message.source.callId
    if data.message.content[0].toolCallId != call:
        return False
    frame = frame_of_result(data)
    scan.loading.result_appends(found.seq, call, cited, frame, (data.turn, data.step), place)
    return True


def _sound(cited: list[int], seq: int) -> bool:
    """Whether sources are some, each once, all of them earlier."""
    return bool(cited) and max(cited) < seq and len(set(cited)) == len(cited)


_JUDGES: dict[type, Any] = {
    TurnStart: _turn_start,
    TurnEnd: _turn_end,
    StepStart: _step_start,
    StepEnd: _step_end,
    ToolCall: _tool_call,
    UserMessage: _user_message,
    AssistantMessage: _assistant_message,
    ToolResult: _tool_result,
}
