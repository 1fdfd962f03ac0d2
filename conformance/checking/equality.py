"""Holds the fast way of ``check`` to the exact one, and both to the reference, on logs that nobody wrote.

    python -m conformance.checking.equality [--logs N] [--first N] [--seed S] [--sweep EVENTS [--stride N]]

Every log follows from the seed and its number alone, so ``--first NUMBER --logs 1`` repeats a difference.
``--sweep`` takes every damage that ``sweep`` does to a log of so many events instead, plain and compressed.
Exits with 1 where two ways say different things of a log.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from conformance.checking.check import check
from conformance.checking.equality_logs import draw_log
from conformance.checking.frames import MAGIC

Told = tuple[Any, ...]
LINES = ("jsonl-line", "jsonl-gap")
PLACES = ("zstd-frame", "zstd-magic", "zstd-reserved-bit", "zstd-reserved-block")
"""Faults of which the reference tells the byte in the file."""


def by_reference(data: bytes, compression: str) -> Told:
    """What a reader does: its counts, or the condition that it refuses the log with and where."""
    from conformance.adapters.reference import answer

    request = {"hex": data.hex(), "compression": compression, "edition": "v0"}
    found = answer({**request, "op": "jsonl.scan"})
    if "result" in found:
        session = found["result"]["header"]["id"]
        found = answer({**request, "op": "jsonl.load", "sessionId": session})
    if "result" in found:
        told = found["result"]
        return "accepted", len(told["events"]), len(told["closers"]), told["tornFrom"]
    refusal = found["rejected"]
    condition, at = refusal["condition"], refusal.get("at")
    if condition.startswith("zstd") and condition not in PLACES:
        at = None
    return "refused", condition, at


def by_check(data: bytes, *, exact: bool, deep: bool = False) -> tuple[Told, dict[str, Any]]:
    """The same of the checker, and its whole report."""
    (report,) = check(data, exact=exact, deep=deep).files
    if report.verdict == "accepted":
        return ("accepted", report.events, report.closers, report.torn_from), report.record()
    refusal = report.refusal
    assert refusal is not None, report
    at = refusal.seq
    if refusal.condition in LINES:
        at = (refusal.line or 0) - 1
    elif refusal.condition.startswith("zstd"):
        at = refusal.byte if refusal.condition in PLACES else None
    return ("refused", refusal.condition, at), report.record()


def differences(data: bytes, compression: str) -> tuple[Told, list[str]]:
    """What the reference says of a log, and where the checker says something else, by itself or to itself."""
    expected = by_reference(data, compression)
    exact, record = by_check(data, exact=True)
    found = []
    if exact != expected:
        found.append(f"the reference says {expected}, the exact way {exact}")
    _, fast_record = by_check(data, exact=False)
    if fast_record != record:
        found.append(f"the exact way tells {record}, the fast way {fast_record}")
    deep, fast_deep = by_check(data, exact=True, deep=True), by_check(data, exact=False, deep=True)
    if deep != fast_deep:
        found.append(f"with deep, the exact way tells {deep[1]}, the fast way {fast_deep[1]}")
    return expected, found


def swept(events: int, stride: int = 1) -> Iterator[tuple[str, bytes, str]]:
    """Every damage that a sweep does to a good log: its name, the bytes and the compression."""
    from conformance.sweeps.damages import KINDS, damages
    from conformance.sweeps.good_log import build

    for compression in ("none", "zstd"):
        good = build(events, compression)
        for kind in KINDS:
            for damage in damages(kind, good, stride):
                data = damage.apply(good.data)
                # Nothing but its first bytes says that a log in memory is compressed.
                if (data[:4] == MAGIC) == (compression == "zstd"):
                    yield f"{compression}, {damage}", data, compression


def main(words: Sequence[str] | None = None) -> int:
    """Draw, compare and tell."""
    parser = argparse.ArgumentParser(prog="python -m conformance.checking.equality", description=__doc__)
    parser.add_argument("--logs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first log")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--sweep", type=int, metavar="EVENTS", help="events of the log that is damaged")
    parser.add_argument("--stride", type=int, default=1, help="damage every so many bytes only")
    args = parser.parse_args(words)
    logs: Iterator[tuple[str, bytes, str]]
    if args.sweep is not None:
        logs = swept(args.sweep, args.stride)
    else:
        numbers = range(args.first, args.first + args.logs)
        logs = ((f"log {each} of seed {args.seed}", *draw_log(args.seed, each)) for each in numbers)
    verdicts: Counter[str] = Counter()
    different, size, began = 0, 0, time.monotonic()
    for name, data, compression in logs:
        size += len(data)
        expected, found = differences(data, compression)
        verdicts[expected[0] if expected[0] == "accepted" else expected[1]] += 1
        for told in found:
            different += 1
            print(f"{name}: {told}", flush=True)
    took = time.monotonic() - began
    for condition, count in verdicts.most_common():
        print(f"{condition:28} {count:8,}")
    print(f"{verdicts.total():,} logs, {size / 1e6:.1f} MB, in {took:.0f} s: {different} differences")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
