"""The bytes of a log file, written readably: what an author writes in place of ``hex``.

``lines`` and ``tail`` are the file as it is stored plainly, ``frames`` a file of Zstandard frames.
The forms are listed in ``vectors/README.md``. Exported cases hold ``hex`` and nothing of this.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from conformance.shorthand import ShorthandError, expand_event, expand_events, in_each_answer
from conformance.zstd_frames import frame_of

FILE_OPERATIONS = frozenset(("jsonl.scan", "jsonl.load"))
"""Operations whose requests hold a file, and whose results tell events and places in it."""

HEADER = {"type": "session", "version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
CONTENT = ("lines", "tail", "text")
FRAME = ("checksum", "cut", "block", "rle")


@dataclass
class Layout:
    """The bytes, and the places in them that an expectation may name.

    ``lines`` holds where each line begins, the header line first and what follows the last line
    last; ``frames`` where each frame begins.
    """

    data: bytes = b""
    lines: list[int] = field(default_factory=list)
    frames: list[int] = field(default_factory=list)


def expand_file(request: dict[str, Any]) -> dict[str, Any]:
    """A request with ``hex`` in place of the readable forms; one without these stays as it is.

    Raises ShorthandError.
    """
    layout = layout_of(request)
    if layout is None:
        return request
    kept = {name: value for name, value in request.items() if name not in (*CONTENT, "frames")}
    return {"hex": layout.data.hex(), **kept}


def layout_of(request: dict[str, Any]) -> Layout | None:
    """The file that a request stands for; None where it gives its bytes itself. Raises ShorthandError."""
    plain = [name for name in CONTENT if name in request]
    if not plain and "frames" not in request:
        return None
    if "hex" in request or "path" in request or (plain and "frames" in request):
        raise ShorthandError("a file is given by one of hex, lines, text and frames")
    if plain:
        data, starts = content_of(request, 0)
        return Layout(data, lines=starts)
    if not isinstance(request["frames"], list):
        raise ShorthandError("frames takes a list of frames")
    layout = Layout()
    count = 0
    for frame in request["frames"]:
        layout.frames.append(len(layout.data))
        data, lines = frame_bytes(frame, count)
        layout.data += data
        count += lines
    return layout


def frame_bytes(frame: Any, first_line: int) -> tuple[bytes, int]:
    """One frame, and how many lines it holds: its bytes in hex, or its content and how to write it."""
    if not isinstance(frame, dict):
        raise ShorthandError(f"a frame is an object, not {frame!r}")
    if "hex" in frame:
        if unknown := sorted(frame.keys() - {"hex", "holds"}):
            raise ShorthandError(f"a frame in hex knows no {', '.join(unknown)}")
        return from_hex(frame["hex"]), int(frame.get("holds", 0))
    if unknown := sorted(frame.keys() - {*CONTENT, *FRAME}):
        raise ShorthandError(f"a frame knows no {', '.join(unknown)}")
    data, starts = content_of(frame, first_line)
    written = frame_of(
        data, checksum=frame.get("checksum", "right"), block=frame.get("block"), rle=frame.get("rle", False)
    )
    return written[: len(written) - frame.get("cut", 0)], max(len(starts) - 1, 0)


def content_of(holder: dict[str, Any], first_line: int) -> tuple[bytes, list[int]]:
    """What stands in a plain file or in a frame, and where its lines begin. Raises ShorthandError."""
    if "text" in holder:
        if "lines" in holder or "tail" in holder or not isinstance(holder["text"], str):
            raise ShorthandError("text takes a text, and no lines beside it")
        return holder["text"].encode("utf-8"), []
    lines = holder.get("lines", [])
    if not isinstance(lines, list):
        raise ShorthandError("lines takes a list of lines")
    data = b""
    starts = [0]
    for number, line in enumerate(lines, first_line):
        data += line_bytes(line, number) + b"\n"
        starts.append(len(data))
    if "tail" in holder:
        data += line_bytes(holder["tail"], first_line + len(lines))
    return data, starts


def line_bytes(line: Any, number: int) -> bytes:
    """One line without its line feed. ``number`` counts from the header line, 0, so seqs are one less."""
    if isinstance(line, str):
        return line.encode("utf-8")
    if not isinstance(line, dict):
        raise ShorthandError(f"a line is a text, bytes in hex, a header or an event, not {line!r}")
    if line.keys() == {"hex"}:
        return from_hex(line["hex"])
    if line.keys() == {"bytes"}:
        return from_characters(line["bytes"])
    if "nested" in line:
        return nested_line(line)
    value = header_of(line) if "header" in line else expand_event(line, max(number - 1, 0))
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def header_of(line: dict[str, Any]) -> dict[str, Any]:
    """``{header: MEMBERS, without: NAMES}``: the usual header line with some members set or taken away."""
    members, without = line["header"], line.get("without", [])
    if line.keys() - {"header", "without"} or not isinstance(members, dict) or not isinstance(without, list):
        raise ShorthandError("a header line takes members to set, and without with names to take away")
    header = {**HEADER, **members}
    for name in without:
        if name not in header:
            raise ShorthandError(f"without names {name}, which this header does not have")
        del header[name]
    return header


def nested_line(line: dict[str, Any]) -> bytes:
    """``{nested: TEXT, times: N, rest: TEXT}``: an event of seq 7 with TEXT inside N lists and N objects."""
    times = line.get("times")
    if line.keys() - {"nested", "times", "rest"} or type(times) is not int:
        raise ShorthandError("a nested line takes a text, how many times it is nested, and a rest")
    begins, ends = '[{"a":' * times, "}]" * times
    text = f'{{"type":"a","seq":7,"time":0,"data":{begins}{line["nested"]}{ends}}}{line.get("rest", "")}'
    return text.encode("utf-8")


def from_hex(text: Any) -> bytes:
    try:
        return bytes.fromhex(text)
    except (TypeError, ValueError):
        raise ShorthandError(f"hex takes pairs of hex digits, not {text!r}") from None


def from_characters(text: Any) -> bytes:
    try:
        return str(text).encode("latin-1")
    except UnicodeEncodeError:
        raise ShorthandError(f"bytes takes characters up to \\xFF, one for each byte, not {text!r}") from None


def expand_expected(request: dict[str, Any], expect: dict[str, Any]) -> dict[str, Any]:
    """An expectation with whole events, and with bytes where it names places. Raises ShorthandError."""
    layout = layout_of(request) or Layout()
    return in_each_answer(expect, lambda answer: expand_expected_one(answer, layout))


def expand_expected_one(alternative: dict[str, Any], layout: Layout) -> dict[str, Any]:
    result = alternative.get("result")
    if not isinstance(result, dict):
        return alternative
    result = dict(result)
    for name in ("events", "closers"):
        if isinstance(result.get(name), list):
            result[name] = expand_events(result[name])
    if isinstance(result.get("tornFrom"), dict):
        result["tornFrom"] = place_of(result["tornFrom"], layout)
    return {**alternative, "result": result}


def place_of(named: dict[str, Any], layout: Layout) -> int:
    """``{line: N}``: where event line N begins, from 1. ``{frame: N}``: where frame N begins, from 0."""
    for name, starts in (("line", layout.lines), ("frame", layout.frames)):
        number = named.get(name)
        if named.keys() == {name} and type(number) is int and 0 <= number < len(starts):
            return starts[number]
    raise ShorthandError(f"{named} names no line or frame of the file in the request")
