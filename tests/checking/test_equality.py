"""The checker, fast and exact, says what the reference says: on vectors, sweeps and drawn logs."""

from __future__ import annotations

import json

import pytest
import zstandard
from damage import damaged
from logs import HEADER, line

from conformance.checking import equality, quick
from conformance.checking.equality import by_reference, differences, swept
from conformance.checking.equality_logs import draw_log
from conformance.corpus import load_corpus

SEEDS = 4_000


def assert_equal(data: bytes, compression: str = "none") -> None:
    _, found = differences(data, compression)
    assert found == [], data


@pytest.mark.parametrize("part", range(8))
def test_damaged_logs(part):
    for seed in range(part, SEEDS, 8):
        assert_equal(damaged(seed))


def test_the_damage_is_of_many_kinds():
    """Otherwise the test above would say little."""
    verdicts = [by_reference(damaged(seed), "none") for seed in range(SEEDS)]
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


# -- logs that nobody wrote -----------------------------------------------------------


@pytest.mark.parametrize("part", range(4))
def test_drawn_logs(part):
    for number in range(part, 800, 4):
        assert_equal(*draw_log("suite", number))


def test_drawn_logs_are_of_many_kinds():
    told = [by_reference(*draw_log("suite", number)) for number in range(800)]
    assert len({each[1] for each in told if each[0] == "refused"}) >= 30
    assert 0.3 < sum(each[0] == "accepted" for each in told) / len(told) < 0.7
    assert {draw_log("suite", number)[1] for number in range(50)} == {"none", "zstd"}


def test_damages_of_sweeps():
    seen = 0
    for name, data, compression in swept(40, stride=23):
        assert differences(data, compression)[1] == [], name
        seen += 1
    assert seen > 500


def unsound(cited: list[int], seq: int) -> bool:
    return True


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("_sound", unsound),  # duplicate and later sources pass
        ("_last_time", lambda row: row.time0),  # rows of the wrong length pass
        ("_has_minus_zero", lambda text: False),
        ("frame_of_result", lambda data: {}),  # a rewrite differs from everything
        ("_is_lossless", lambda text: True),
    ],
)
def test_a_fault_of_the_fast_way_is_seen(monkeypatch, name, fault):
    """The comparison can fail: one small mistake in the fast way, and some drawn log tells the ways apart."""
    monkeypatch.setattr(quick, name, fault)
    assert any(differences(*draw_log("suite", number))[1] for number in range(2_000))


def test_the_command_tells_what_differs_and_how_to_repeat_it(monkeypatch, capsys):
    assert equality.main(["--logs", "20", "--seed", "suite"]) == 0
    assert "20 logs" in capsys.readouterr().out
    monkeypatch.setattr(quick, "take_untyped", lambda scan, text: None)
    assert equality.main(["--logs", "20", "--seed", "suite"]) == 1
    told = capsys.readouterr().out
    assert "of seed suite: the exact way tells" in told
    assert equality.main(["--sweep", "10", "--stride", "60"]) == 1
