"""One log of the JSONL store, plain or compressed, from its bytes to its report."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import zstandard

from conformance.checking import quick
from conformance.checking.advice import Adviser
from conformance.checking.collector import Collector, Place, excerpt_of
from conformance.checking.exact_json import TooDeep
from conformance.checking.frames import Bytes, Frame, FrameFault, content_of, frames_of
from conformance.checking.lines import Lines, Overlong, Seeker
from conformance.checking.loading import SCAN, NeedsExact
from conformance.checking.model import Also, FileReport
from conformance.checking.scanning import Scan
from conformance.checking.sources import Progress, blocks_of
from conformance.limits import LARGEST_CONTENT, LONGEST_LINE


class Feed:
    """Gives the lines of a log to its scan, on the fast way or on the exact one."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan

    def take(self, lines: list[bytes], suspect: bool) -> None:
        """Some lines, which may hold bytes that are no UTF-8 if they are ``suspect``. Raises NeedsExact."""
        scan = self.scan
        if scan.header is None:
            if suspect:
                self.lossy(lines[:1])
            scan.take(lines[0])
            lines = lines[1:]
        if scan.stopped:
            return
        if suspect:
            self.lossy(lines)
        if scan.exact:
            for line in lines:
                scan.take(line)
        else:
            quick.take_lines(scan, lines)

    def lossy(self, lines: list[bytes]) -> None:
        """Lines that are no UTF-8: a reader puts U+FFFD in place of what it cannot read."""
        offset = self.scan.offset
        for number, line in enumerate(lines):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                place = Place(self.scan.line + 1 + number, offset, line)
                self.scan.collector.add(
                    "invalid-utf8", "advice", "storage",
                    f"byte {error.start} of this line is no UTF-8; a reader puts U+FFFD in its place", place,
                    found=f"0x{line[error.start]:02x}", expected="UTF-8", story="wrong-encoding",
                    hint="was the text written in another encoding, or cut in the middle of a character?",
                )  # fmt: skip
            offset += len(line) + 1


class JsonlCheck:
    """Checks one log."""

    def __init__(
        self,
        *,
        deep: bool = False,
        exact: bool = False,
        longest_line: int = LONGEST_LINE,
        largest_content: int = LARGEST_CONTENT,
        progress: Progress | None = None,
    ) -> None:
        self.deep = deep
        self.exact = exact
        self.longest_line = longest_line
        self.largest_content = largest_content
        self.progress = progress

    def check(self, source: Bytes, compressed: bool, report: FileReport) -> Scan:
        """Fill in the report. What needs more than the fast way is checked again on the exact one."""
        with collector_off():
            try:
                return self.way(source, compressed, report, exact=self.exact)
            except NeedsExact:
                return self.way(source, compressed, report, exact=True)

    def way(self, source: Bytes, compressed: bool, report: FileReport, *, exact: bool) -> Scan:
        """One way through the whole log."""
        report.size = source.size
        report.format = "jsonl.zstd" if compressed else "jsonl"
        collector = Collector()
        scan = Scan(collector, exact=exact, deep=self.deep)
        adviser = Adviser(collector, scan.loading)
        lines = Lines(Feed(scan).take, self.longest_line)
        torn_from, judged = None, True
        try:
            if compressed:
                torn_from = self.frames(source, lines, scan)
            else:
                for block in blocks_of(source, self.progress):
                    lines.take(block)
                    if scan.stopped:
                        break
            scan.finish(b"" if compressed and torn_from is not None else lines.tail())
        except FrameFault as fault:
            self.frame_fault(fault, collector)
        except (Overlong, TooDeep) as beyond:
            judged = collector.refused()
            place = Place(scan.line + 1, scan.offset, b"")
            collector.add(
                "too-large", "error", "file", f"{beyond}, too many to be judged here", place,
                rank=SCAN + 3, hint="this is a limit of this program and no rule of the format",
            )  # fmt: skip
        if scan.rewound_to is not None and scan.issue is not None:
            scan.issue.also = self.first_claimant(source, compressed, scan.rewound_to)
        fill(report, scan, adviser, torn_from)
        if not compressed:
            show_lines(source, collector)
        if not judged:
            report.verdict = "not judged"
        return scan

    def first_claimant(self, source: Bytes, compressed: bool, seq: int) -> Also | None:
        """The line that has a seq which a later line has again."""
        seeker = Seeker(seq)
        lines = Lines(seeker.take, self.longest_line)
        if not compressed:
            for block in blocks_of(source, None):
                lines.take(block)
                if seeker.found is not None:
                    break
            return seeker.found
        for frame in frames_of(source):
            for piece in content_of(source, frame):
                lines.take(piece)
            if seeker.found is not None:
                break
        return seeker.found

    def frames(self, source: Bytes, lines: Lines, scan: Scan) -> int | None:
        """The frames of a compressed log, in order. Gives the byte where the torn one begins."""
        complete, torn = 0, None
        for frame in frames_of(source):
            if frame.end is None:
                torn = frame
            else:
                complete += 1
        if complete == 0:
            raise FrameFault("zstd-empty", "there is no complete frame in this file, so no header", 0)
        for number, frame in enumerate(frames_of(source)):
            if frame.end is None or scan.stopped:
                break
            if self.progress is not None:
                self.progress(frame.start)
            self.frame(source, frame, lines, first=number == 0)
        if scan.stopped:
            return None
        if scan.kept_to != lines.size:
            raise FrameFault(
                "zstd-torn-record", "the complete frames do not end with a whole, kept line", scan.kept_to
            )
        scan.complete_size = lines.size
        if torn is None:
            return None
        self.torn(source, torn, lines, scan)
        return torn.start

    def frame(self, source: Bytes, frame: Frame, lines: Lines, *, first: bool) -> None:
        """A complete frame. Raises FrameFault."""
        held: list[bytes] = []
        try:
            for piece in content_of(source, frame):
                if first:
                    held.append(piece)
                    if sum(map(len, held)) > self.longest_line:
                        raise Overlong("the header line is too long")
                else:
                    self.piece(piece, lines)
        except zstandard.ZstdError as error:
            message = f"the frame does not expand: {error}"
            raise FrameFault("zstd-frame", message, frame.start) from None
        if first:
            content = b"".join(held)
            if content.find(b"\n") != len(content) - 1 or not content:
                message = "the first frame holds something else than the header line alone"
                raise FrameFault("zstd-first-frame", message, frame.start)
            self.piece(content, lines)

    def torn(self, source: Bytes, frame: Frame, lines: Lines, scan: Scan) -> None:
        """What the frame in which the file ends still gives; nothing if what there is of it is damaged."""
        before = lines.size
        try:
            for piece in content_of(source, frame):
                before += len(piece)
                if before > self.largest_content:
                    raise Overlong(f"the frames expand to more than {self.largest_content:,} bytes")
        except zstandard.ZstdError:
            recovered = "nothing of it can be recovered"
        else:
            for piece in content_of(source, frame):
                self.piece(piece, lines)
            recovered = "the whole lines in it are recovered"
        scan.collector.add(
            "torn-frame", "loss", "storage", f"the file ends inside a frame; {recovered}",
            Place(scan.line, frame.start, b""), rank=SCAN + 2, story="torn-tail",
            hint="a repair cuts the file at the start of this frame and writes the recovered events again",
        )  # fmt: skip

    def piece(self, piece: bytes, lines: Lines) -> None:
        """Some bytes of the expanded log."""
        lines.take(piece)
        if lines.size > self.largest_content:
            raise Overlong(f"the frames expand to more than {self.largest_content:,} bytes")

    def frame_fault(self, fault: FrameFault, collector: Collector) -> None:
        """A container that is none."""
        story = "torn-tail" if fault.condition == "zstd-empty" else "damaged"
        if fault.condition == "zstd-magic" and fault.at == 0:
            story = "wrong-encoding"
        finding = collector.add(
            fault.condition, "error", "storage", fault.message, None, rank=SCAN + 5, story=story
        )
        finding.byte = fault.at


@contextmanager
def collector_off() -> Iterator[None]:
    """The collector looks for rings among objects. Here there are none, and looking takes long."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def fill(report: FileReport, scan: Scan, adviser: Adviser, torn_from: int | None) -> None:
    """What the scan and the load rules have come to."""
    loading = scan.loading
    made = None
    if scan.header is not None and scan.header.goes_on:
        made = scan.closers = loading.closers(scan.kept)
        if scan.committed_by is None:
            adviser.finish(made)
        report.edition = scan.header.edition
        report.events = scan.kept
        report.nodes = len(loading.surface)
        report.messages = sum(node.projects for node in loading.surface.nodes())
        report.closers = None if made is None else len(made)
        report.unsound_from, report.unsound_why = loading.unsound_from, loading.unsound_why
    elif scan.header is not None:
        report.edition = scan.header.edition
    report.dropped_lines = scan.dropped_lines
    report.header = scan.header.members if scan.header is not None else {}
    report.findings = scan.collector.sorted()
    report.verdict = "refused" if scan.collector.refused() else "accepted"
    if report.verdict == "accepted":
        kept_all = scan.kept_to == scan.offset and not scan.torn_bytes
        report.torn_from = torn_from if torn_from is not None else None if kept_all else scan.kept_to


def show_lines(source: Bytes, collector: Collector) -> None:
    """Excerpts for findings that were made when their line was gone."""
    for _, _, finding in collector.made:
        if finding.byte is not None and not finding.excerpt and finding.layer != "file":
            head = source.at(finding.byte, 512).split(b"\n")[0]
            finding.excerpt, finding.column = excerpt_of(head, ())
