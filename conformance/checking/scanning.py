"""The storage scan: from the lines of a log to its events, and what a reader keeps of them.

``kept`` counts events and says which seq comes next; ``kept_to`` is the byte behind the last line that is
kept. The first fault may still be a torn tail; a ``turn/end`` in its line or behind it makes it an error.
"""

from __future__ import annotations

import re
from typing import Any

from conformance.checking.collector import Collector, Place
from conformance.checking.exact_json import has_half, is_number, not_lossless, parse_bytes, rounded, show
from conformance.checking.header import Header, read_header
from conformance.checking.loading import SCAN, Loading
from conformance.checking.model import Finding
from conformance.checking.rows import ROWS, Row, RowFault, read_row
from conformance.checking.shapes import Event

HALF = re.compile(rb"\\u[dD][89a-fA-F]")
"""The escape of half a surrogate pair, in a line as it is stored."""


class Scan:
    """The state behind the lines so far. ``line`` counts lines of the file, the header included."""

    def __init__(self, collector: Collector, *, exact: bool, deep: bool = False) -> None:
        self.collector = collector
        self.exact = exact
        self.deep = deep
        self.header: Header | None = None
        self.loading = Loading(collector, "", keep_ids=exact)
        self.line = 0
        self.offset = 0
        self.kept = 0
        self.kept_to = 0
        self.issue: Finding | None = None
        self.committed_by: int | None = None
        self.dropped_lines = 0
        self.dropped_events = 0
        self.rewound_to: int | None = None
        self.torn_bytes = 0
        self.complete_size = 0
        self.closers: list[Event] | None = None

    @property
    def stopped(self) -> bool:
        """Whether nothing behind can be judged."""
        return self.header is not None and not self.header.goes_on

    def faulty(self) -> bool:
        """Whether a fault has been found, so that nothing behind it is kept."""
        return self.issue is not None

    def take(self, text: bytes) -> None:
        """The next whole line, without its line feed. Raises TooDeep, and then it is not counted."""
        place = Place(self.line + 1, self.offset, text)
        if self.header is None:
            self.header = read_header(place, self.collector)
            self.counted(text)
            self.kept_to = self.offset
            if self.header.goes_on:
                found = self.header.members.get("id")
                self.loading.session = found if isinstance(found, str) else ""
                self.loading.header(self.header.members, place)
            return
        try:
            record = parse_bytes(text)
        except ValueError:
            self.counted(text)
            self.unreadable(place)
            return
        self.counted(text)
        if self.issue is None:
            self.look_inside(record, place)
        self.record(record, place)

    def counted(self, text: bytes) -> None:
        """A line has been read."""
        self.line += 1
        self.offset += len(text) + 1

    def look_inside(self, record: object, place: Place) -> None:
        """Texts that are no Unicode, and numbers that a live append would not take."""
        if HALF.search(place.text) is not None and has_half(record):
            self.collector.add(
                "lone-surrogate", "advice", "load", "a text holds half of a surrogate pair", place,
                story="wrong-encoding", found="a lone surrogate",
                hint="v0 keeps it as it is; UTF-8 cannot hold it, so who writes the log again must escape it",
            )  # fmt: skip
        if self.deep and not_lossless(record):
            self.collector.add(
                "number-not-lossless", "advice", "live",
                "a payload holds -0 or a number beyond all doubles", place, found="-0 or 1e400",
                hint="a stored log with it loads; a live append, a fork and create refuse it",
            )  # fmt: skip

    def record(self, record: object, place: Place) -> None:
        """One line that is JSON."""
        if isinstance(record, dict) and isinstance(tag := record.get("type"), str) and tag in ROWS:
            row = read_row(record, tag)
            if isinstance(row, RowFault):
                self.misshapen(row, place)
            else:
                self.row(row, place)
            return
        seq = record.get("seq") if isinstance(record, dict) else None
        if self.issue is None and is_number(seq) and seq == self.kept:
            assert isinstance(record, dict)
            self.loading.take(record, self.kept, place)
            self.kept += 1
            self.kept_to = self.offset
            return
        if self.issue is None:
            self.gap(record, seq, 1, place)
        else:
            self.behind(1)
        if isinstance(record, dict) and record.get("type") == "turn/end":
            self.commit(place)

    def row(self, row: Row, place: Place) -> None:
        """A packed row: kept whole, or not at all."""
        if self.issue is None and row.seq0 == self.kept:
            self.kept += row.count
            self.kept_to = self.offset
            self.loading.last_time = row.last_time
            return
        if self.issue is None:
            self.gap(row.record, row.seq0, row.count, place)
        else:
            self.behind(row.count)

    # -- faults -------------------------------------------------------------------

    def unreadable(self, place: Place) -> None:
        """A line that is no JSON. It cannot tell of a turn's end."""
        self.dropped_lines += 1
        if self.issue is not None and not place.text:
            return
        story, hint = _why_unreadable(place.text)
        message = "this line is empty" if not place.text.strip() else "this line is not JSON"
        self.fault("jsonl-line", message, place, (), story=story, hint=hint)

    def misshapen(self, fault: RowFault, place: Place) -> None:
        """A packed row that is none. A reader takes it for a line that it cannot read."""
        self.dropped_lines += 1
        hint = f"{fault.condition}: a reader drops the whole row"
        self.fault("jsonl-line", fault.what, place, fault.names, hint=hint)

    def gap(self, record: object, seq: object, count: int, place: Place) -> None:
        """A line whose seq is not the next one."""
        self.dropped_lines += 1
        self.dropped_events += count
        is_row = isinstance(record, dict) and "seq0" in record and "seq" not in record
        names = ("seq0",) if is_row else ("seq",)
        expected = str(self.kept)
        if not isinstance(record, dict):
            message, found = "this line is no event, and so has no seq", show(record)
            self.fault("jsonl-gap", message, place, (), found=found, expected=expected)
        elif not is_number(seq):
            found = show(seq) if "seq" in record else "absent"
            self.fault("jsonl-gap", "the seq is no number", place, names, found=found, expected=expected)
        else:
            assert isinstance(seq, int | float)
            self.number_gap(seq, is_row, count, place, names)

    def number_gap(self, seq: float, is_row: bool, count: int, place: Place, names: tuple[str, ...]) -> None:
        """A seq that was used before, or one that leaves others out."""
        seq = rounded(seq) if isinstance(seq, int) else seq
        whole = seq == seq and abs(seq) < 2**63 and seq == int(seq)
        if whole and 0 <= seq < self.kept:
            self.rewound_to = int(seq)
            message = f"seq {int(seq)} is used a second time: the log goes back instead of on"
            story, hint = (
                "two-writers",
                "two processes had the session open, each with its own end of the log",
            )
            if is_row:
                message = f"a packed row of {count} chunks begins with seq {int(seq)}, stored already"
                hint = "the row overlaps what was stored before it; a reader drops it whole"
        else:
            between = f"{int(seq) - self.kept} events are missing" if whole and seq > self.kept else None
            message = between or "the seq is not the next one"
            story, hint = (
                "lost-events",
                "lines were lost, removed or never written; nothing can bring them back",
            )
        self.fault(
            "jsonl-gap", message, place, names,
            seq=int(seq) if whole else None, found=show(seq), expected=str(self.kept), story=story, hint=hint,
        )  # fmt: skip

    def behind(self, count: int) -> None:
        """A line behind the fault: it is lost, whatever it holds."""
        self.dropped_lines += 1
        self.dropped_events += count

    def empty_behind(self, count: int) -> None:
        """Empty lines behind the fault, of which there may be very many."""
        self.line += count
        self.offset += count
        self.dropped_lines += count

    def fault(self, condition: str, message: str, place: Place, names: tuple[str, ...], **told: Any) -> None:
        """A fault of the scan. Only the first one is what the reader may report."""
        first = self.issue is None
        if first:
            rank = SCAN
        else:
            rank = SCAN + 1
            told.setdefault("hint", "behind the first fault, so a reader never comes to it")
        finding = self.collector.add(condition, "loss", "storage", message, place, names, rank=rank, **told)
        if first:
            self.issue = finding

    def commit(self, place: Place) -> None:
        """A turn/end at or behind the fault: what is there was written to last, so the log is refused."""
        if self.issue is None or self.committed_by is not None:
            return
        self.committed_by = place.line
        self.issue.severity = "error"

    # -- the end ------------------------------------------------------------------

    def finish(self, tail: bytes) -> None:
        """What stands behind the last line feed is no line, even if it could be read."""
        if self.header is None:
            self.no_line(tail)
            return
        if tail and not self.stopped:
            self.torn(tail)
        if self.issue is not None:
            self.conclude(self.issue)

    def no_line(self, tail: bytes) -> None:
        """A file without a line feed."""
        place = Place(1, 0, tail)
        message = "the file is empty" if not tail else "there is no line feed in this file, so no header"
        story = "torn-tail" if tail else None
        self.collector.add("jsonl-empty", "error", "storage", message, place, rank=SCAN, story=story)

    def torn(self, tail: bytes) -> None:
        """The last line has no line feed."""
        self.torn_bytes = len(tail)
        place = Place(self.line + 1, self.offset, tail)
        try:
            parse_bytes(tail)
        except ValueError:
            message = "the last line is cut off, and is dropped"
            hint = "the write of it did not come to its end; a repair cuts it off"
        else:
            message = "the last line is complete but has no line feed, so a reader drops it"
            hint = "readers that go line by line keep it by mistake; a repair cuts it off"
        self.collector.add(
            "torn-line", "loss", "storage", message, place, rank=SCAN + 2, story="torn-tail", hint=hint
        )

    def conclude(self, issue: Finding) -> None:
        """What the first fault comes to, now that the rest of the file is known."""
        lost = f"{self.dropped_lines} lines with {self.dropped_events} events"
        if self.dropped_lines == 1:
            lost = f"1 line with {self.dropped_events} events"
        if self.committed_by is not None:
            where = "this very line ends a turn" if self.committed_by == issue.line else (
                f"line {self.committed_by} ends a turn behind it"
            )  # fmt: skip
            self._hint(issue, f"{where}, so the fault is no unfinished write and the whole log is refused")
        else:
            self._hint(issue, f"nothing behind it ends a turn, so a reader drops {lost}")
            if issue.condition == "jsonl-line" and issue.story is None:
                issue.story = "torn-tail"

    @staticmethod
    def _hint(issue: Finding, text: str) -> None:
        issue.hint = text if issue.hint is None else f"{issue.hint}; {text}"


def _why_unreadable(text: bytes) -> tuple[str | None, str | None]:
    stripped = text.strip()
    if b"\x00" in text:
        if not stripped.strip(b"\x00"):
            return "torn-tail", "the line is all NUL bytes, as a file system leaves them after a power cut"
        return "damaged", "there are NUL bytes in it"
    if stripped.startswith(b"\x28\xb5\x2f\xfd"):
        return "wrong-encoding", "compressed bytes in a plain log"
    if stripped[:7] in (b"<<<<<<<", b"=======", b">>>>>>>"):
        return "damaged", "a version control system left its conflict markers"
    if not stripped:
        return None, "an empty line is no event"
    if not text.isascii():
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            return "damaged", f"byte {error.start} of the line is no UTF-8"
    if b"}{" in stripped:
        return "two-writers", "two records stand on one line, as when two writers append at once"
    return None, None
