"""How fast the reference scans and loads long logs, in how much memory, and what hostile files do to it.

    python -m conformance.scan_bench [--sizes MB,MB,…] [--rounds N]

Each figure is taken in a process of its own, beside one that reads the lines of the same log as JSON and
keeps them all: the least that a scan, which returns its events, could do. Peaks are above that of an
interpreter that does nothing. A log that is torn behind its header returns nothing, so its peak is what a
scan itself needs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import zstandard

from conformance.checking.bench import BARE, MEBIBYTE, PEAK, run
from conformance.checking.bench_logs import SESSION, write_log

FRAME_LINES = 200
LINES_OF_NOISE = 100_000
LONG = 70 << 20
DEEP = 200_000
HEADER = b'{"type":"session","version":0,"id":"bench","createdAt":1,"cwd":"/work","delegationDepth":0}\n'
TITLE = b'{"type":"session/title","seq":0,"time":0,"data":{"title":"a"}}\n'
SCAN = f"""\
import json, sys, time
from conformance.adapters.reference import answer
{PEAK}
request = dict(op=sys.argv[1], edition="v0", path=sys.argv[2], compression=sys.argv[3], sessionId="{SESSION}")
began = time.perf_counter()
told = answer(request)
took = time.perf_counter() - began
kind, value = next(iter(told.items()))
what = len(value["events"]) if kind == "result" else value if kind == "error" else value["condition"]
print(json.dumps(dict(seconds=took, rss=peak(), kind=kind, what=what)))
"""
LINES = f"""\
import json, sys, time
{PEAK}
began = time.perf_counter()
with open(sys.argv[1], "rb") as file:
    kept = [json.loads(line) for line in file]
print(json.dumps(dict(seconds=time.perf_counter() - began, rss=peak())))
"""


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m conformance.scan_bench", description=__doc__)
    parser.add_argument("--sizes", default="10,50", help="megabytes of the logs")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args(words)
    bare = int(run([sys.executable, "-c", BARE]))
    with tempfile.TemporaryDirectory() as folder:
        for size in (int(each) for each in args.sizes.split(",") if each):
            long_log(Path(folder), size, args.rounds, bare)
        for name, (compression, write) in HOSTILE.items():
            path = Path(folder) / "hostile"
            with path.open("wb") as file:
                write(file)
            told = scan("jsonl.scan", path, compression)
            answered = f"{told['kind']} {told['what']}"
            print(f"{name}, {megabytes(path):.1f} MB: {answered}, {figures(told, bare)}", flush=True)
    return 0


def long_log(folder: Path, size: int, rounds: int, bare: int) -> None:
    """A log, its compressed form, and one that is torn behind its header."""
    plain, packed, torn = (folder / name for name in ("plain", "packed", "torn"))
    write_log(plain, size * 5_200)
    compress(plain, packed)
    torn.write_bytes(HEADER + b"{\n" + plain.read_bytes().replace(b'"turn/end"', b'"turn/gone"'))
    told = [json.loads(run([sys.executable, "-c", LINES, str(plain)])) for _ in range(rounds)]
    lines = statistics.median(each["seconds"] for each in told)
    print(f"{megabytes(plain):.0f} MB, lines read and kept: {figures(middle(told), bare)}", flush=True)
    for op in ("jsonl.scan", "jsonl.load"):
        for path, compression in ((plain, "none"), (packed, "zstd"), (torn, "none")):
            each = [scan(op, path, compression) for _ in range(rounds)]
            found = middle(each)
            rate, times = megabytes(plain) / found["seconds"], found["seconds"] / lines
            print(
                f"  {op}, {path.name} ({megabytes(path):.1f} MB), {found['what']} events:"
                f" {figures(found, bare)}, {rate:.1f} MB/s, {times:.1f} times the reading of the lines",
                flush=True,
            )


def compress(plain: Path, packed: Path) -> None:
    """The header in a frame of its own, and the lines in frames as appends leave them."""
    lines = plain.read_bytes().splitlines(keepends=True)
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    with packed.open("wb") as file:
        file.write(compressor.compress(lines[0]))
        for first in range(1, len(lines), FRAME_LINES):
            file.write(compressor.compress(b"".join(lines[first : first + FRAME_LINES])))


def scan(op: str, path: Path, compression: str) -> dict[str, float]:
    """What the reference answered, and what it took. Raises CalledProcessError where it broke."""
    words = [sys.executable, "-c", SCAN, op, str(path), compression]
    told: dict[str, float] = json.loads(run(words))
    return told


def middle(told: list[dict[str, float]]) -> dict[str, float]:
    """The run with the median of the seconds."""
    return sorted(told, key=lambda each: each["seconds"])[len(told) // 2]


def figures(told: dict[str, float], bare: int) -> str:
    return f"{told['seconds']:.2f} s, {(told['rss'] - bare) / MEBIBYTE:.0f} MiB"


def megabytes(path: Path) -> float:
    return path.stat().st_size / 1e6


def noise(file: BinaryIO) -> None:
    file.write(HEADER)
    for number in range(LINES_OF_NOISE):
        file.write(b"\x00\xff\xfe{[" + str(number).encode() + b"\n")


def long_line(file: BinaryIO) -> None:
    file.write(HEADER + b'{"type":"session/title","seq":0,"time":0,"data":{"title":"')
    for _ in range(LONG >> 20):
        file.write(b"a" * (1 << 20))
    file.write(b'"}}\n')


def packed(file: BinaryIO, piece: bytes, times: int, end: bytes = b"") -> None:
    """A header, and behind it so many pieces in one frame."""
    file.write(zstandard.ZstdCompressor(write_checksum=True).compress(HEADER))
    with zstandard.ZstdCompressor(write_checksum=True).stream_writer(file, closefd=False) as frame:
        for _ in range(times):
            frame.write(piece)
        frame.write(end)


def bomb(file: BinaryIO) -> None:
    """A gigabyte of one line, in some tens of kilobytes."""
    packed(file, b"a" * (1 << 20), 1 << 10, b"\n")


def many_lines(file: BinaryIO) -> None:
    """A gigabyte of blank lines, in some tens of kilobytes."""
    packed(file, (b" " * 1023 + b"\n") * (1 << 13), 1 << 7)


def deep(file: BinaryIO) -> None:
    file.write(HEADER + b'{"type":"session/title","seq":0,"time":0,"data":')
    file.write(b"[" * DEEP + b"]" * DEEP + b"}\n")


HOSTILE: dict[str, tuple[str, Callable[[BinaryIO], object]]] = {
    "100,000 lines of garbage": ("none", noise),
    "a line of 70 MiB": ("none", long_line),
    "a frame of one line of 1 GiB": ("zstd", bomb),
    "a frame of 1 GiB of blank lines": ("zstd", many_lines),
    "200,000 levels": ("none", deep),
    "a NUL byte in a text": ("none", lambda file: file.write(HEADER + TITLE.replace(b'"a"', b'"a\0"'))),
    "NUL bytes at the end": ("none", lambda file: file.write(HEADER + TITLE + b"\0" * 4096)),
    "a byte order mark": ("none", lambda file: file.write(b"\xef\xbb\xbf" + HEADER + TITLE)),
    "CR LF": ("none", lambda file: file.write((HEADER + TITLE).replace(b"\n", b"\r\n"))),
}


if __name__ == "__main__":
    sys.exit(main())
