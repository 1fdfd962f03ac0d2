"""Lines from stdout, read with more patience than a run has: each fault is marked, then forgiven.

A run would stop at a byte order mark; the doctor notes it and reads on, so that what comes after
it can be judged too, and one fault of the glue does not show as ten.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.protocol import KINDS

LONGEST_OBJECT = 5000
"""Lines that one answer spread over several lines may have before it is given up."""
_DECODER = json.JSONDecoder()
Message = dict[str, Any]


@dataclass(slots=True)
class Mark:
    """A fault of lines: the first line that shows it, what had been sent last, and how often it was seen."""

    id: str
    line: str
    sent: str
    times: int = 1


class Marks:
    """Faults by id, each with its first evidence; shared by all processes of one examination."""

    def __init__(self) -> None:
        self.found: dict[str, Mark] = {}

    def add(self, fault: str, line: str, sent: str) -> None:
        """Note a fault."""
        if fault in self.found:
            self.found[fault].times += 1
        else:
            self.found[fault] = Mark(fault, line, sent)

    def names(self) -> set[str]:
        """The faults that were seen so far."""
        return set(self.found)

    def forget(self, *faults: str) -> None:
        """Drop faults that a check has found the cause of."""
        for fault in faults:
            self.found.pop(fault, None)


class Unreadable:
    """A line that is meant as an answer and is no JSON."""

    def __init__(self, text: str) -> None:
        self.text = text


class Reader:
    """Turns the lines of one process into messages; a line that is none is marked."""

    def __init__(self, marks: Marks) -> None:
        self.marks = marks
        self.sent = "nothing yet"
        self.stray = "stdout-log"
        """What a line that answers nothing is called; another name once the input has ended."""
        self._held: list[str] = []

    def feed(self, line: bytes) -> Iterator[tuple[Message | Unreadable, str]]:
        """The messages in one line, each with its text; usually one."""
        text = self._decode(line)
        if not text.strip():
            if not self._held:
                self._mark("blank-line" if self.stray == "stdout-log" else self.stray, text)
            return
        yield from self._messages(text)

    @property
    def holding(self) -> bool:
        """Whether the beginning of an answer over several lines is held back."""
        return bool(self._held)

    def finish(self) -> Iterator[tuple[Message | Unreadable, str]]:
        """What is held back when nothing more comes."""
        if self._held:
            text = "\n".join(self._held)
            self._held.clear()
            yield Unreadable(text), text

    def _decode(self, line: bytes) -> str:
        if line.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            self._mark("bom", repr(line[:60])[2:-1])
            line = line.removeprefix(codecs.BOM_UTF8)
        if line.endswith(b"\r"):
            self._mark("crlf", repr(line[-60:])[2:-1])
            line = line[:-1]
        try:
            return line.decode("utf-8")
        except UnicodeDecodeError:
            if line[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
                return line.replace(b"\0", b"")[2:].decode("latin-1")
            self._mark("invalid-utf8", repr(line[:160])[2:-1])
            return line.decode("utf-8", "replace")

    def _messages(self, text: str) -> Iterator[tuple[Message | Unreadable, str]]:
        if self._held:
            alone = self._parse(text)
            if not (isinstance(alone, dict) and "id" in alone and KINDS_OF & alone.keys()):
                yield from self._join(text)
                return
            yield from self.finish()
        value = self._parse(text)
        if isinstance(value, dict):
            yield from self._message(value, text)
        elif value is not _NOT_JSON:
            self._mark(self.stray, text)
        elif text.lstrip().startswith("{"):
            yield from self._several(text.strip())
        elif (begin := text.find('{"id"')) > 0 and isinstance(self._parse(text[begin:]), dict):
            self._mark(self.stray, text)
            yield from self._messages(text[begin:])
        else:
            self._mark(self.stray, text)

    def _message(self, value: Message, text: str) -> Iterator[tuple[Message | Unreadable, str]]:
        if "id" in value or KINDS_OF & value.keys():
            yield value, text
        else:  # a structured log line
            self._mark(self.stray, text)

    def _several(self, text: str) -> Iterator[tuple[Message | Unreadable, str]]:
        """Several answers in one line, the beginning of an answer over several lines, or no JSON at all."""
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            if text.endswith("}") and text != "{}":
                yield Unreadable(text), text
            else:
                self._held.append(text)
            return
        self._mark("no-line-end", text)
        yield from self._message(value, text[:end])
        if text[end:].strip():
            yield from self._messages(text[end:].strip())

    def _join(self, text: str) -> Iterator[tuple[Message | Unreadable, str]]:
        self._held.append(text)
        joined = "\n".join(self._held)
        closes = text.rstrip().endswith("}")
        value = self._parse(joined) if closes else _NOT_JSON
        if isinstance(value, dict):
            self._held.clear()
            self._mark("many-lines", joined)
            yield from self._message(value, joined)
        elif len(self._held) > LONGEST_OBJECT:
            yield from self.finish()

    def _parse(self, text: str) -> Any:
        """The value, ``_NOT_JSON`` if it is none; NaN and the infinities are marked and read."""
        constants: list[str] = []
        try:
            value = json.loads(text, parse_constant=constants.append)
        except (ValueError, RecursionError):
            return _NOT_JSON
        if constants:
            self._mark("nan", text)
        return value

    def _mark(self, fault: str, line: str) -> None:
        self.marks.add(fault, line, self.sent)


KINDS_OF = frozenset(KINDS)
_NOT_JSON = object()
