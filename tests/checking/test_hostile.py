"""Nothing crashes it: whatever the input is, the answer is a report, and memory and time stay bounded."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import zstandard
from damage import RAW, damaged
from logs import HEADER, line, log, step, turn, turn_end, user, whole_turn

import conformance
from conformance.checking import exact_json, jsonl
from conformance.checking.check import check
from conformance.checking.frames import Bytes
from conformance.checking.model import FileReport
from conformance.checking.sources import opened
from conformance.cli import main

ROOT = Path(conformance.__file__).parent.parent
GOOD = log(*whole_turn())


def compressed(*parts: bytes, **more) -> bytes:
    return b"".join(zstandard.ZstdCompressor(**more).compress(each) for each in parts)


PACKED = compressed(line(HEADER), GOOD[len(line(HEADER)) :], write_checksum=True)


@pytest.mark.parametrize("data", [GOOD, PACKED], ids=["plain", "compressed"])
def test_every_truncation_gives_a_report(data):
    for cut in range(len(data)):
        (report,) = conformance.check(data[:cut]).files
        assert report.verdict in ("accepted", "refused")
        assert report.findings or (report.events in (0, 9) and report.torn_from is None), cut


@pytest.mark.parametrize("data", [GOOD, PACKED], ids=["plain", "compressed"])
def test_every_changed_byte_gives_a_report(data):
    for at in range(len(data)):
        for value in (0x00, 0xFF, data[at] ^ 0x20):
            (report,) = conformance.check(data[:at] + bytes([value]) + data[at + 1 :]).files
            assert report.verdict in ("accepted", "refused", "not judged")


def test_noise_gives_a_report():
    choose = random.Random(7)
    for size in (0, 1, 5, 100, 5_000):
        for magic in (b"", b"\x28\xb5\x2f\xfd", b"{", b"\xff\xfe", b"SQLite format 3\x00"):
            (report,) = conformance.check(magic + choose.randbytes(size)).files
            assert report.verdict != "accepted"
            assert report.findings


@pytest.mark.parametrize("text", RAW, ids=repr)
def test_any_line_in_the_middle(text):
    (report,) = conformance.check(log(turn(), user()) + text + b"\n" + line({"x": 1})).files
    assert report.events == 2


@pytest.mark.parametrize("exact", [False, True])
def test_a_value_of_200_000_levels(exact):
    deep = b'{"type":"plan/mode","seq":3,"time":1,"data":' + b"[" * 200_000 + b"]" * 200_000 + b"}\n"
    data = log(turn(), user(), step()) + deep + line({"type": "turn/end", "seq": 4, "time": 1, "data": None})
    (report,) = check(data, exact=exact, deep=True).files
    assert (report.verdict, report.events) == ("accepted", 5)
    broken = data.replace(b"]" * 200_000, b"]" * 199_999)
    (report,) = check(broken, exact=exact).files
    assert (report.refusal.condition, report.refusal.line) == ("jsonl-line", 5)


def judge(data: bytes, compression: bool = False, **limits: int) -> FileReport:
    report = FileReport("x")
    with opened(data) as source:
        jsonl.JsonlCheck(**limits).check(source, compression, report)
    return report


def test_an_overlong_line_is_bounded_and_told():
    data = log(turn(), user()) + b'"' + b"x" * 5_000_000 + b'"\n' + log(turn_end())
    report = judge(data, longest_line=1_000_000)
    assert report.verdict == "not judged"
    (finding,) = [each for each in report.findings if each.severity == "error"]
    assert (finding.condition, finding.line) == ("too-large", 4)
    assert report.events == 2


def test_a_line_just_within_the_bound_is_read():
    data = log(user("x" * 1_000_000))
    longest = len(data) - len(line(HEADER)) - 1
    assert judge(data, longest_line=longest).verdict == "accepted"
    assert judge(data, longest_line=longest - 1).verdict == "not judged"


def test_a_bomb_is_stopped():
    bomb = compressed(line(HEADER), b"\n" * 60_000_000)
    assert len(bomb) < 100_000
    report = judge(bomb, True, largest_content=20_000_000)
    assert report.verdict in ("refused", "not judged")
    assert "too-large" in {each.condition for each in report.findings}


def test_a_bomb_of_one_line_is_stopped_by_the_length_of_a_line():
    bomb = compressed(line(HEADER), b"x" * 100_000_000)
    report = judge(bomb, True)
    assert report.verdict == "not judged"


def test_what_cannot_be_read_is_told(tmp_path):
    (tmp_path / "pipe.jsonl").parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    reports = conformance.check(tmp_path).files
    assert len(reports) == 3
    for report in reports:
        assert report.verdict == "not judged"
        assert report.findings[0].condition == "unreadable"


def test_names_that_are_no_utf8(tmp_path, capsys):
    path = os.fsencode(tmp_path) + b"/\xff\n.jsonl"
    Path(os.fsdecode(path)).write_bytes(GOOD)
    for form in ("text", "json", "sarif", "junit"):
        assert main(["check", "--format", form, str(tmp_path)]) == 0
        capsys.readouterr().out.encode("utf-8")


def test_a_folder_with_100_000_entries(tmp_path):
    for number in range(100_000):
        os.close(os.open(f"{tmp_path}/{number:06}.txt", os.O_CREAT | os.O_WRONLY))
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_bytes(GOOD)
    began = time.monotonic()
    assert [each.verdict for each in conformance.check(tmp_path).files] == ["accepted"] * 3
    assert time.monotonic() - began < 20


def test_a_folder_that_is_deep(tmp_path):
    folder = tmp_path
    for _ in range(60):
        folder = folder / "d"
        folder.mkdir()
    (folder / "session.jsonl").write_bytes(GOOD)
    (folder / "back").symlink_to(tmp_path, target_is_directory=True)
    assert len(conformance.check(tmp_path).files) == 1


def test_a_file_that_grows_is_read_as_it_was(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_bytes(GOOD + line({"type": "plan/mode", "seq": 9, "time": 1, "data": "x" * 3_000_000}))
    size = path.stat().st_size
    grown = threading.Event()
    old = Bytes.at

    def grow(source: Bytes, offset: int, count: int) -> bytes:
        if not grown.is_set():
            grown.set()
            with path.open("ab") as file:
                file.write(b'{"type":"turn/st')
        return old(source, offset, count)

    Bytes.at = grow
    try:
        (report,) = conformance.check(path).files
    finally:
        Bytes.at = old
    assert grown.is_set()
    assert path.stat().st_size > size
    assert (report.verdict, report.events, report.torn_from) == ("accepted", 10, None)
    assert [each.condition for each in report.findings] == ["file-changed"]


def test_ctrl_c_ends_it_without_a_word_too_many(tmp_path):
    path = tmp_path / "log.jsonl"
    with path.open("wb") as file:
        file.write(line(HEADER))
        for seq in range(400_000):
            file.write(b'{"type":"todo/write","seq":%d,"time":1,"data":{}}\n' % seq)
    words = [sys.executable, "-P", "-m", "conformance", "check", "--exact", str(path)]
    process = subprocess.Popen(
        words, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert told == "session-conformance: interrupted\n"


def test_many_findings_are_counted_and_not_all_listed():
    data = log(turn(), *[{"type": "zzz/x"}] * 5_000)
    (report,) = conformance.check(data).files
    assert report.count("error") == 5_000
    assert len(report.findings) < 50


def test_whatever_is_damaged_can_be_told(capsys, tmp_path):
    for seed in range(0, 600, 3):
        (tmp_path / f"{seed}.jsonl").write_bytes(damaged(seed))
    for form in ("text", "json", "sarif", "junit"):
        assert main(["check", "--deep", "--format", form, str(tmp_path)]) == 1
        captured = capsys.readouterr()
        assert captured.err == ""
        captured.out.encode("utf-8")


def test_a_binary_file_is_told_in_a_few_words():
    """Behind a header that is none nothing is judged, so nothing is advised."""
    (report,) = conformance.check(random.Random(1).randbytes(20_000)).files
    assert report.verdict == "refused"
    assert len(report.findings) <= 2
    (report,) = conformance.check(GOOD + b'"\xff"\n' * 3).files
    assert [each.condition for each in report.findings].count("invalid-utf8") == 3


@pytest.mark.parametrize("exact", [False, True])
def test_a_value_that_nests_beyond_the_limit_is_not_judged(monkeypatch, exact):
    """Each level costs memory, so a line of brackets could take all of it."""
    monkeypatch.setattr(exact_json, "DEEPEST", 5_000)
    for levels, verdict in ((4_900, "accepted"), (5_100, "not judged")):
        deep = b'{"type":"plan/mode","seq":9,"time":1,"data":' + b"[" * levels + b"]" * levels + b"}\n"
        (report,) = check(GOOD + deep, exact=exact).files
        assert report.verdict == verdict
    (finding,) = report.findings
    assert (finding.condition, finding.line) == ("too-large", 11)
    (report,) = check(GOOD + b"[" * 5_100, exact=exact).files  # the last line, which is torn
    assert report.verdict == "not judged"


def test_many_empty_lines_are_passed_over_at_once():
    """Behind a fault they are lost anyway; a bomb of them has millions. The exact way counts each."""
    data = log(turn(), user()) + b"\n" * 300_000 + b"x\n\n\n" + line({"type": "turn/end"})
    fast, exact = (check(data, exact=each).files[0].record() for each in (False, True))
    assert fast == exact
    assert fast["droppedLines"] == 300_004


@pytest.mark.parametrize("words", [["explain"], ["repair", "--dry-run"]])
def test_what_is_no_file_is_told_by_its_name(tmp_path, capsys, words):
    os.mkfifo(tmp_path / "pipe")
    told = {
        "nowhere": "No such file or directory",
        "pipe": "it is no regular file",
        ".": "it is no regular file",
    }
    for name, why in told.items():
        path = str(tmp_path / name)
        assert main([*words, path]) == 2
        assert capsys.readouterr().err == f"session-conformance: {path}: {why}\n"
