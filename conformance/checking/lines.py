"""Cuts the bytes of a log into lines; of a line that is not whole yet no more than a bound is held."""

from __future__ import annotations

import codecs
from collections.abc import Callable

from conformance.checking.exact_json import TooDeep, parse_bytes
from conformance.checking.model import Also


class Overlong(Exception):  # noqa: N818 - it becomes a finding
    """A line or a log is beyond what this program holds."""


class Lines:
    """Takes blocks and delivers whole lines, many at once, without their line feeds.

    ``size`` counts the bytes so far.
    """

    def __init__(self, deliver: Callable[[list[bytes], bool], None], longest: int) -> None:
        self.deliver = deliver
        self.longest = longest
        self.fragments: list[bytes] = []
        self.held = 0
        self.size = 0
        self.utf8 = codecs.getincrementaldecoder("utf-8")()
        self.whole = True
        self.suspect = False

    def take(self, block: bytes) -> None:
        """The next bytes of the log. Raises Overlong."""
        self.size += len(block)
        self.look(block)
        # A bomb may be all line feeds, and a million empty lines are told faster than they are cut.
        lines = block.split(b"\n") if block.strip(b"\n") else [b""] * (len(block) + 1)
        rest = lines.pop()
        if lines:
            if self.fragments:
                self.hold(lines[0])
                lines[0] = b"".join(self.fragments)
                self.fragments, self.held = [], 0
            suspect, self.suspect = self.suspect, self.suspect and rest != b""
            self.deliver(lines, suspect)
        self.hold(rest)

    def look(self, block: bytes) -> None:
        """Whether a block is UTF-8, though a character may begin in one block and end in the next."""
        if not (self.whole and block.isascii()):
            try:
                self.utf8.decode(block)
                self.whole = self.utf8.getstate()[0] == b""
            except UnicodeDecodeError:
                self.suspect = True
                self.utf8.reset()
                self.whole = True

    def hold(self, fragment: bytes) -> None:
        """A part of a line."""
        if self.held + len(fragment) > self.longest:
            raise Overlong(f"a line has more than {self.longest:,} bytes")
        if fragment:
            self.fragments.append(fragment)
            self.held += len(fragment)

    def tail(self) -> bytes:
        """What stands behind the last line feed."""
        return b"".join(self.fragments)


class Seeker:
    """Looks for the first line that has a seq, by itself or among the chunks of a row."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self.words = (b'"seq":%d' % seq, b'"seq": %d' % seq, b'"seq0"')
        self.found: Also | None = None
        self.line = 0
        self.offset = 0

    def take(self, lines: list[bytes], suspect: bool) -> None:
        """Some lines of the log."""
        for text in lines:
            self.line += 1
            if self.found is None and any(word in text for word in self.words) and self.has(text):
                self.found = Also(self.line, self.offset, f"the first that has seq {self.seq}")
            self.offset += len(text) + 1

    def has(self, text: bytes) -> bool:
        """Whether a line has the seq."""
        try:
            record = parse_bytes(text)
        except (ValueError, TooDeep):
            return False
        if not isinstance(record, dict):
            return False
        if record.get("seq") == self.seq:
            return True
        first, data = record.get("seq0"), record.get("data")
        if not isinstance(first, int) or not isinstance(data, dict):
            return False
        texts = data.get("texts", data.get("args"))
        return isinstance(texts, list) and first <= self.seq < first + len(texts)
