"""The line that says how far a long command is."""

from __future__ import annotations

import io

import pytest

from conformance import ticker
from conformance.ticker import Ticker
from conformance.trials import kills


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(ticker.time, "monotonic", lambda: now[0])
    return now


def test_it_says_nothing_of_what_is_soon_done(clock):
    screen = Screen()
    with Ticker(screen) as tell:
        tell("1 of 9")
        clock[0] += 0.9
        tell("2 of 9")
    assert screen.getvalue() == ""


def test_it_is_written_anew_now_and_then_and_taken_away(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "11")
    screen = Screen()
    with Ticker(screen) as tell:
        clock[0] += 1
        tell("1 of 9\x1b and more")
        clock[0] += 0.15
        tell("2 of 9")
        clock[0] += 0.15
        tell("3 of 9")
    assert screen.getvalue() == "\r\x1b[2K1 of 9\\u00\r\x1b[2K3 of 9\r\x1b[2K"


def test_who_is_no_terminal_gets_nothing(clock):
    stream = io.StringIO()
    with Ticker(stream) as tell:
        clock[0] += 60
        tell("1 of 9")
    assert stream.getvalue() == ""


def test_kill_trials_that_are_broken_off_say_how_far_they_came(monkeypatch, capsys):
    from conformance.cli import main

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(kills, "one_trial", interrupted)
    assert main(["kill-trials", "store:jsonl", "--trials", "3"]) == 130
    printed = capsys.readouterr()
    assert "broken off store:jsonl, kept-open: 0 kills, 0 events answered for" in printed.out
    assert "interrupted" in printed.err
