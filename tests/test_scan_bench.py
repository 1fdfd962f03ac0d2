"""Hostile files: the reference answers each as it should, in little memory; and the figures can be taken."""

from __future__ import annotations

import re
import sys

import pytest

from conformance import scan_bench
from conformance.checking.bench import BARE, MEBIBYTE, run

SLOW = {"a frame of 1 GiB of blank lines"}
TOO_LONG = r".*event line 1, at byte 92, has more than 67108864 bytes.*"
ANSWERS = {
    "100,000 lines of garbage": ("result", "0"),
    "a line of 70 MiB": ("error", TOO_LONG),
    "a frame of one line of 1 GiB": ("error", TOO_LONG),
    "200,000 levels": ("result", "1"),
    "a NUL byte in a text": ("result", "0"),
    "NUL bytes at the end": ("result", "1"),
    "a byte order mark": ("rejected", "jsonl-header-json"),
    "CR LF": ("result", "1"),
}
"""The kind of answer, and how many events are kept, what is refused, or what the tool says of itself."""


def test_every_hostile_file_has_an_answer():
    assert ANSWERS.keys() == scan_bench.HOSTILE.keys() - SLOW


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize("op", ["jsonl.scan", "jsonl.load"])
@pytest.mark.parametrize("name", ANSWERS)
def test_a_hostile_file_is_answered_in_bounded_memory(name, op, tmp_path):
    compression, write = scan_bench.HOSTILE[name]
    path = tmp_path / "hostile"
    with path.open("wb") as file:
        write(file)
    told = scan_bench.scan(op, path, compression)
    kind, what = ANSWERS[name]
    assert told["kind"] == kind
    assert re.fullmatch(what, str(told["what"]))
    assert told["rss"] - int(run([sys.executable, "-c", BARE])) < 120 * MEBIBYTE


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize("op", ["jsonl.scan", "jsonl.load"])
def test_what_a_scan_itself_needs_does_not_grow_with_the_file(op, tmp_path):
    peaks = []
    for lines in (10_000, 100_000):
        path = tmp_path / str(lines)
        path.write_bytes(scan_bench.HEADER + b"{\n" + scan_bench.TITLE * lines)
        told = scan_bench.scan(op, path, "none")
        assert (told["kind"], told["what"]) == ("result", 0)
        peaks.append(told["rss"])
    assert peaks[1] - peaks[0] < 4 * MEBIBYTE


def test_the_figures_of_a_long_log_are_told(tmp_path, capsys):
    scan_bench.long_log(tmp_path, 1, 1, 0)
    shown = capsys.readouterr().out
    assert len(re.findall(r"jsonl\.(?:scan|load), (?:plain|packed|torn)", shown)) == 6
    assert shown.count(" 0 events") == 2
