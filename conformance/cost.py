"""How the cost of an implementation grows: exponents, not seconds, so that machines can be compared.

Logs are handed to an in-process adapter as Python values, without any transport. The growth
exponent between two sizes is log(time ratio) / log(size ratio): 1 is linear in the log.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.adapters.inprocess import Callee, describe
from conformance.errors import AdapterError

Event = dict[str, Any]
STRETCH = 100
"""Nodes on a bounded surface before a replace takes them all."""
MESSAGE = {"id": "m", "role": "user", "source": {"kind": "user"}, "content": [{"type": "text", "text": "a"}]}


@dataclass(frozen=True, slots=True)
class Growth:
    """One measured series: sizes, the median seconds for each, and the exponents between neighbours."""

    name: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def exponents(self) -> list[float]:
        """log(time ratio) / log(size ratio) for each pair of neighbouring sizes."""
        pairs = zip(self.sizes, self.sizes[1:], self.seconds, self.seconds[1:], strict=False)
        return [
            math.log(later / earlier) / math.log(larger / smaller)
            for smaller, larger, earlier, later in pairs
        ]


def append_only(count: int) -> list[Event]:
    """A log whose surface grows with every event."""
    return [append(seq) for seq in range(count)]


def bounded(count: int) -> list[Event]:
    """A log that is compacted whenever its surface has STRETCH nodes."""
    log: list[Event] = []
    nodes: list[int] = []
    for seq in range(count):
        if len(nodes) < STRETCH:
            log.append(append(seq))
            nodes.append(seq)
        else:
            log.append(replace(seq, nodes[0], nodes[-1], nodes))
            nodes = [seq]
    return log


def append(seq: int) -> Event:
    return {"type": "user/message", "seq": seq, "time": seq, "data": MESSAGE, "surfaceOp": "append"}


def replace(seq: int, start: int, end: int, sources: list[int]) -> Event:
    marker = {"op": "replace", "start": start, "end": end}
    return {**append(seq), "surfaceOp": marker, "sourceEventSeqs": list(sources)}


def fold_growth(
    callee: Callee, name: str, make: Callable[[int], list[Event]], sizes: tuple[int, ...]
) -> Growth:
    """Whole folds of logs of growing length."""
    return Growth(name, sizes, tuple(seconds_of(callee, fold_request(make(size))) for size in sizes))


def replace_growth(callee: Callee, sizes: tuple[int, ...], replaces: int = 100) -> Growth:
    """Replaces of one node in the middle of surfaces of growing size, the appends subtracted."""

    def cost(size: int) -> float:
        log = append_only(size)
        node = size // 2
        after = list(log)
        for seq in range(size, size + replaces):
            after.append(replace(seq, node, node, [node]))
            node = seq
        return max(seconds_of(callee, fold_request(after)) - seconds_of(callee, fold_request(log)), 1e-9)

    return Growth("replace of one node, by surface size", sizes, tuple(cost(size) for size in sizes))


def live_growth(callee: Callee, sizes: tuple[int, ...]) -> Growth:
    """The incremental view, read after every push, over a bounded surface."""

    def request(size: int) -> dict[str, Any]:
        steps: list[dict[str, Any]] = []
        for event in bounded(size):
            steps += ({"push": event}, {"observe": True})
        return {"op": "surface.live", "edition": "v0", "baseSeq": 0, "steps": steps}

    return Growth(
        "incremental view, read after every event",
        sizes,
        tuple(seconds_of(callee, request(size)) for size in sizes),
    )


def fold_request(log: list[Event]) -> dict[str, Any]:
    return {"op": "fold", "edition": "v0", "events": log}


def seconds_of(callee: Callee, request: dict[str, Any], rounds: int = 3) -> float:
    """Median seconds for one request; the collector of garbage is kept out of it."""
    times = []
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            started = time.perf_counter()
            try:
                answer = callee(request)
            except Exception as error:
                raise AdapterError(f"the adapter broke on a valid log: {describe(error)}") from None
            times.append(time.perf_counter() - started)
            if "result" not in answer:
                raise AdapterError(f"a valid log was not accepted: {str(answer)[:300]}")
    finally:
        gc.enable()
    return statistics.median(times)


def measure(callee: Callee, largest: int) -> Iterator[Growth]:
    """All series, up to logs of ``largest`` events."""
    sizes = tuple(size for size in (10_000, 100_000, 1_000_000) if size <= largest)
    yield fold_growth(callee, "fold, append-only log", append_only, sizes)
    yield fold_growth(callee, "fold, bounded surface", bounded, sizes)
    yield replace_growth(callee, tuple(size // 10 for size in sizes))
    yield live_growth(callee, tuple(size // 10 for size in sizes))
