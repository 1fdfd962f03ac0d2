"""The long logs of the benchmark are sound, and memory does not grow with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import conformance
from conformance.checking import bench
from conformance.checking.bench_logs import write_log
from conformance.checking.progress import line_of

ROOT = Path(conformance.__file__).parent.parent


def test_the_log_is_sound_and_mostly_chunks(tmp_path):
    path = tmp_path / "log.jsonl"
    events = write_log(path, 5_000)
    (report,) = conformance.check(path, deep=True).files
    assert (report.verdict, report.events, report.findings) == ("accepted", events, [])
    assert path.read_bytes().count(b'"assistant/chunk"') > 0.9 * events


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc")
def test_memory_stays_flat(tmp_path):
    peaks = []
    for events in (20_000, 200_000):
        path = tmp_path / f"{events}.jsonl"
        write_log(path, events)
        words = [sys.executable, "-c", bench.CHECK, str(path), "plain"]
        done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT)
        peaks.append(int(done.stdout.split('"rss": ')[1].split(",")[0]))
    bare = int(subprocess.run([sys.executable, "-c", bench.BARE], capture_output=True, text=True).stdout)
    assert max(peaks) - bare < 40 << 20
    assert peaks[1] - peaks[0] < 4 << 20


def test_the_bar_tells_rate_and_time_left():
    told = line_of("log.jsonl", 50_000_000, 200_000_000, 1.0)
    assert "25%" in told
    assert "50 MB/s" in told
    assert "3 s left" in told
