"""What check shows on a terminal: no line is too long, and the caret stands under its place."""

from __future__ import annotations

import io
import json

import pytest
from kinds import KINDS
from logs import log, turn, user
from rich.cells import cell_len
from rich.console import Console

import conformance
from conformance.checking.progress import line_of
from conformance.checking.text import cut, show


def shown(report, width, terminal=True):
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=terminal, color_system=None, legacy_windows=False)
    show(report, console)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("kind", KINDS, ids=lambda each: each.name)
def test_no_line_is_wider_than_the_terminal(kind, width):
    (report,) = conformance.check(kind.data).files
    lines = shown(report, width)
    assert [each for each in lines if cell_len(each) > width] == []
    told = " ".join(" ".join(lines).split())
    for finding in report.findings:
        assert " ".join(finding.message.split()) in told
        assert " ".join((finding.hint or "").split()) in told


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("text", ["", "x" * 300, "漢字" * 50, "a\u200bb\t" * 30])
def test_the_caret_stands_under_its_place(width, text):
    """Wherever the excerpt had to be cut, and however wide its characters are."""
    event = {"seq": 1, "time": 1, **user(text), "surfaceOp": {"op": "zap"}}
    data = log(turn()) + json.dumps(event, ensure_ascii=False).encode() + b"\n"
    (report,) = conformance.check(data).files
    report.findings = [each for each in report.findings if each.condition == "replace-op-invalid"]
    lines = shown(report, width)
    (at,) = [number for number, each in enumerate(lines) if each.strip().startswith("|")]
    before = lines[at].split("^")[0]
    line = lines[at - 1]
    place = next(number for number in range(len(line)) if cell_len(line[:number]) == cell_len(before))
    assert line[place:].rstrip("…").startswith('"surfaceOp"'[: len(line[place:]) - 1])
    assert len(line[place:]) > 5


def test_a_file_gets_whole_lines():
    """What is piped into another program is not broken to fit a screen."""
    (report,) = conformance.check(log(turn(), user("x" * 200), {"type": "zzz/x"})).files
    lines = shown(report, 40, terminal=False)
    assert max(map(len, lines)) > 80


@pytest.mark.parametrize("column", range(0, 100, 7))
@pytest.mark.parametrize("room", [16, 30, 79])
def test_a_cut_keeps_its_column(column, room):
    text = "".join(chr(0x21 + n % 90) for n in range(100))
    piece, at = cut(text, column, room)
    assert cell_len(piece) <= room
    assert piece[at] == text[column]


@pytest.mark.parametrize("columns", [20, 40, 60, 79, 120])
def test_the_bar_fits_its_line(columns):
    for done in (0, 1, 50_000_000, 100_000_000):
        told = line_of("/a/long/path/" * 9 + "\x1b.jsonl", done, 100_000_000, 3.0, columns)
        assert cell_len(told) <= columns
        assert "\x1b" not in told
        assert "%" in told
