"""The reference, asked about log files: given as bytes or by a path, read in pieces, within limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from conformance.adapters.members import Request, Result, member
from conformance.limits import LARGEST_CONTENT, LONGEST_LINE
from reference_impl.jsonl import Scan, Scanner, scan, scan_source
from reference_impl.jsonl_path import Place, check_place, check_store, place_of
from reference_impl.zstd_container import scan_zstd, scan_zstd_source

__all__ = ["LimitedScanner", "TooLarge", "jsonl_scan", "place_of_log", "scan_of"]


class TooLarge(Exception):  # noqa: N818 - neither a refusal nor a fault: this program cannot judge the input
    """The input is beyond a limit of this program, which says nothing about the log."""


@dataclass
class LimitedScanner(Scanner):
    """A scanner that raises TooLarge in place of holding a line, or reading contents, without end."""

    longest_line: int = LONGEST_LINE
    largest_content: int = LARGEST_CONTENT
    held: int = 0

    def write(self, piece: bytes) -> None:
        if self.size + len(piece) > self.largest_content:
            told = f"expand to more than {self.largest_content} bytes, too many to be judged here"
            raise TooLarge(f"the frames {told}")
        super().write(piece)

    def hold(self, fragment: bytes) -> None:
        self.held = (self.held if self.fragments else 0) + len(fragment)
        if self.held > self.longest_line:
            which = "the header line" if self.header is None else f"event line {self.line + 1}"
            told = f"has more than {self.longest_line} bytes, too many to be judged here"
            raise TooLarge(f"{which}, at byte {self.begins()}, {told}")
        super().hold(fragment)

    def begins(self) -> int:
        """Where the line at hand begins: behind the bytes that were read before this piece, or within it."""
        return self.size - sum(len(fragment) for fragment in self.fragments)


@dataclass(frozen=True)
class File:
    """A source in an open file."""

    stream: IO[bytes]

    def read(self, offset: int, count: int) -> bytes:
        self.stream.seek(offset)
        return self.stream.read(count)


def scan_of(request: Request) -> Scan:
    """The scan of the file of a request: ``hex``, or a ``path`` that is read in pieces.

    Raises Rejection, TooLarge, and OSError for a path that cannot be read.
    """
    compression = member(request, "compression")
    if "path" in request:
        with Path(request["path"]).open("rb") as stream:
            return scan_stream(stream, compression)
    data = bytes.fromhex(member(request, "hex"))
    return scan_zstd(data, LimitedScanner()) if compression == "zstd" else scan(data)


def jsonl_scan(request: Request) -> Result:
    """``hex`` or a ``path``."""
    found = scan_of(request)
    return {"header": found.header, "events": found.events, "tornFrom": found.torn_from}


def scan_stream(stream: IO[bytes], compression: str) -> Scan:
    """A plain file may be of any length, as long as its lines are not."""
    if compression == "zstd":
        return scan_zstd_source(File(stream), LimitedScanner())
    return scan_source(File(stream), LimitedScanner(largest_content=1 << 62))


def place_of_log(
    session: str,
    cwd: str | None,
    compression: str,
    found: dict[str, str] | None,
    files: list[str] | None,
) -> dict[str, Any]:
    """The result of ``jsonl.path``. Raises Rejection."""
    place = place_of(session, cwd, compression)
    if found is not None:
        check_place(Place(found["project"], found["segment"], place.file), session, cwd, compression)
    if files is not None:
        check_store(files, session, compression)
    return asdict(place)
