"""How fast ``check`` is beside the published JSONL backend, and how much memory it takes.

    python -m conformance.checking.bench [--events N] [--rounds N] [--sizes MB,MB,…]

Both sides load the same file in a process of their own, in turns, and time their own work: the start of the
process, imports and the making of the file do not count. Memory is the peak of a process that checks the
file, above that of an interpreter that does nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from conformance.adapters.dsh import node, provision
from conformance.checking.bench_logs import CWD, SESSION, write_log

SCRIPT = Path(__file__).with_name("bench_load.mjs")
PEAK = """\
def peak():
    with open("/proc/self/status") as status:
        (line,) = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024
"""
CHECK = f"""\
import json, sys, time
from conformance.checking.check import check
{PEAK}
began, before = time.perf_counter(), time.process_time()
log, = check(sys.argv[1], deep=sys.argv[2] == "deep").files
took, cpu = time.perf_counter() - began, time.process_time() - before
told = dict(seconds=took, cpu=cpu, rss=peak(), events=log.events, nodes=log.nodes, verdict=log.verdict)
print(json.dumps(told))
"""
BARE = f"{PEAK}print(peak())"
MEBIBYTE = 1 << 20


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m conformance.checking.bench", description=__doc__)
    parser.add_argument("--events", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=5, help="0 leaves the ratios out")
    parser.add_argument("--sizes", default="50,200,1000", help="megabytes of the logs whose memory is told")
    args = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "bench.jsonl"
        events = write_log(log, args.events)
        print(f"{events:,} events, {log.stat().st_size / 1e6:.1f} MB")
        if args.rounds:
            ratios(log, events, args.rounds)
        log.unlink()
        bare = int(run([sys.executable, "-c", BARE]))
        print(f"an interpreter that does nothing: {bare / MEBIBYTE:.1f} MiB")
        for size in (int(each) for each in args.sizes.split(",") if each):
            path = Path(folder) / f"{size}.jsonl"
            write_log(path, size * 5_200)
            for way in ("plain", "deep"):
                memory(path, way, bare)
            path.unlink()
    return 0


def ratios(log: Path, events: int, rounds: int) -> None:
    """Both sides in turns; medians, and the ratio of each round."""
    runtime = node.find_node(node.STORAGE_NODE)
    package = provision.install(provision.DEFAULT_VERSION, runtime, provision.cache_root())
    theirs: list[dict[str, float]] = []
    ours: dict[str, list[dict[str, float]]] = {"plain": [], "deep": []}
    for _ in range(rounds):
        told = json.loads(run([runtime, str(SCRIPT), str(package), str(log), SESSION, CWD]))
        assert told["events"] == events, told
        theirs.append(told)
        for way, times in ours.items():
            found = json.loads(run([sys.executable, "-c", CHECK, str(log), way]))
            assert (found["events"], found["verdict"]) == (events, "accepted"), found
            times.append(found)
    print(f"load() of {provision.STORAGE} {provision.DEFAULT_VERSION}: {told_of(theirs)}")
    for way, bound in (("plain", 0.33), ("deep", 0.5)):
        told = ", ".join(
            f"{what} {ratio_of(ours[way], theirs, name)}"
            for what, name in (("time", "seconds"), ("processor", "cpu"))
        )
        print(f"check, {way}: {told_of(ours[way])}; ratio, at most {bound}: {told}", flush=True)


def told_of(times: list[dict[str, float]]) -> str:
    """The medians of one side."""
    seconds = statistics.median(each["seconds"] for each in times)
    cpu = statistics.median(each["cpu"] for each in times)
    return f"{seconds:.2f} s ({cpu:.2f} s of processor time)"


def ratio_of(ours: list[dict[str, float]], theirs: list[dict[str, float]], name: str) -> str:
    """The median of the ratios of the rounds, their range, and the ratio of the fastest of each side.

    On a machine that others use, too, the last one tells most.
    """
    each = sorted(own[name] / other[name] for own, other in zip(ours, theirs, strict=True))
    fastest = min(own[name] for own in ours) / min(other[name] for other in theirs)
    return f"{statistics.median(each):.2f} ({each[0]:.2f} to {each[-1]:.2f}; fastest rounds {fastest:.2f})"


def memory(log: Path, way: str, bare: int) -> None:
    """The peak of one check."""
    found = json.loads(run([sys.executable, "-c", CHECK, str(log), way]))
    above = (found["rss"] - bare) / MEBIBYTE
    size = log.stat().st_size / 1e6
    print(
        f"{size:,.0f} MB, {found['events']:,} events, {found['nodes']} nodes, {way}:"
        f" {above:.1f} MiB above it, {found['seconds']:.1f} s ({found['cpu']:.1f} s of processor time)",
        flush=True,
    )


def run(words: Sequence[str]) -> str:
    """What a program prints. Raises CalledProcessError."""
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
