"""The reference, asked about log files: given as bytes or by a path, read in pieces."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from reference_impl.jsonl import Bytes, Source, TooLarge, scan_source
from reference_impl.jsonl_path import Place, check_place, place_of
from reference_impl.zstd_container import scan_zstd_source

__all__ = ["TooLarge", "place_of_log", "scan_file"]


@dataclass(frozen=True)
class File:
    """A source in an open file."""

    stream: IO[bytes]

    def read(self, offset: int, count: int) -> bytes:
        self.stream.seek(offset)
        return self.stream.read(count)


def scan_file(file: bytes | str, compression: str) -> dict[str, Any]:
    """The result of ``jsonl.scan`` for bytes or a path.

    Raises Rejection, TooLarge, and OSError for a path that cannot be read.
    """
    if isinstance(file, str):
        with Path(file).open("rb") as stream:
            return scan_any(File(stream), compression)
    return scan_any(Bytes(file), compression)


def scan_any(source: Source, compression: str) -> dict[str, Any]:
    scan = scan_zstd_source(source) if compression == "zstd" else scan_source(source)
    return {"header": scan.header, "events": scan.events, "tornFrom": scan.torn_from}


def place_of_log(
    session: str, cwd: str | None, compression: str, found: dict[str, str] | None
) -> dict[str, Any]:
    """The result of ``jsonl.path``. Raises Rejection."""
    place = place_of(session, cwd, compression)
    if found is not None:
        check_place(Place(found["project"], found["segment"], place.file), session, cwd, compression)
    return asdict(place)
