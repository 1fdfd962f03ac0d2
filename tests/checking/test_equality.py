"""The checker, fast and exact, says what the reference says, on vectors and on damaged logs."""

from __future__ import annotations

import json

import pytest
import zstandard
from damage import damaged
from logs import HEADER, line

from conformance.adapters.reference import HANDLERS
from conformance.checking.check import check
from conformance.corpus import load_corpus
from reference_impl.rejection import Rejection

SEEDS = 4_000


def reference(data: bytes, compression: str) -> tuple[object, ...]:
    """What a reader does, by the reference: counts, or the condition and where it stands."""
    try:
        header = HANDLERS["jsonl.scan"]({"hex": data.hex(), "compression": compression})["header"]
        request = {"hex": data.hex(), "compression": compression, "sessionId": header["id"]}
        told = HANDLERS["jsonl.load"](request)
    except Rejection as refusal:
        return "refused", refusal.condition, refusal.at
    return "accepted", len(told["events"]), len(told["closers"]), told["tornFrom"]


LINES = ("jsonl-line", "jsonl-gap")
PLACES = ("zstd-frame", "zstd-magic", "zstd-reserved-bit", "zstd-reserved-block")


def ours(data: bytes, *, exact: bool, deep: bool = False) -> tuple[object, ...]:
    """The same of the checker, and all its findings."""
    (report,) = check(data, exact=exact, deep=deep).files
    if report.verdict == "accepted":
        return ("accepted", report.events, report.closers, report.torn_from), report.record()
    refusal = report.refusal
    at = refusal.seq
    if refusal.condition in LINES:
        at = refusal.line - 1
    elif refusal.condition.startswith("zstd"):
        at = refusal.byte if refusal.condition in PLACES else None
    return ("refused", refusal.condition, at), report.record()


def assert_equal(data: bytes, compression: str = "none") -> None:
    expected = reference(data, compression)
    exact, found_exactly = ours(data, exact=True)
    fast, found_fast = ours(data, exact=False)
    if expected[0] == "refused" and str(expected[1]).startswith("zstd") and expected[1] not in PLACES:
        expected = (*expected[:2], None)
    assert exact == expected, data
    assert fast == expected, data
    assert found_fast == found_exactly, data
    assert ours(data, exact=True, deep=True) == ours(data, exact=False, deep=True), data


@pytest.mark.parametrize("part", range(8))
def test_damaged_logs(part):
    for seed in range(part, SEEDS, 8):
        assert_equal(damaged(seed))


def test_the_damage_is_of_many_kinds():
    """Otherwise the test above would say little."""
    verdicts = [reference(damaged(seed), "none") for seed in range(SEEDS)]
    conditions = {each[1] for each in verdicts if each[0] == "refused"}
    assert len(conditions) >= 25, sorted(conditions)
    assert 0.1 < sum(each[0] == "accepted" for each in verdicts) / SEEDS < 0.7


def test_damaged_compressed_logs():
    for seed in range(600):
        data = damaged(seed)
        head, _, rest = data.partition(b"\n")
        middle = len(rest) // (2 + seed % 3)
        parts = [head + b"\n", rest[:middle], rest[middle:]]
        compressor = zstandard.ZstdCompressor(write_checksum=seed % 2 == 0)
        packed = b"".join(compressor.compress(each) for each in parts if each)
        if seed % 4 == 0:
            packed = packed[: len(packed) * (seed % 97) // 97]
        if seed % 11 == 0 and packed:
            at = seed * 31 % len(packed)
            packed = packed[:at] + bytes([packed[at] ^ 0x55]) + packed[at + 1 :]
        if packed[:4] == b"\x28\xb5\x2f\xfd":  # else nothing says that it is compressed
            assert_equal(packed, "zstd")


def logs_of_the_corpus() -> list[tuple[str, bytes, str]]:
    """Every request that holds a log, or events that a log could hold."""
    found = []
    for case in load_corpus():
        request = case.request
        if "hex" in request and "compression" in request:
            found.append((case.id, bytes.fromhex(request["hex"]), request["compression"]))
            continue
        events = request.get("events")
        if events is None and "events_text" in request:
            try:
                events = json.loads(request["events_text"])
            except (ValueError, RecursionError):
                continue
        if isinstance(events, list):
            try:
                lines = b"".join(line(event) for event in events).replace(b"Infinity", b"1e999")
            except RecursionError:  # deep values have tests of their own
                continue
            found.append((case.id, line(HEADER) + lines, "none"))
    return found


CORPUS = logs_of_the_corpus()


def test_there_are_many_logs_in_the_corpus():
    assert len(CORPUS) > 800


@pytest.mark.parametrize("part", range(4))
def test_every_log_of_the_corpus(part):
    for _, data, compression in CORPUS[part::4]:
        magic = data[:4] == b"\x28\xb5\x2f\xfd"
        if magic != (compression == "zstd"):
            continue  # the checker goes by the bytes and not by what is said of them
        assert_equal(data, compression)
