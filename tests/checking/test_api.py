"""``conformance.check`` for programs and notebooks: what it takes, what it gives, how it shows itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from logs import log, turn, turn_end, user, whole_turn

import conformance
from conformance.checking import FileReport, Finding, Report
from conformance.cli import main

BROKEN = log(turn(), user(), {"type": "zzz/<b>"}, turn_end())


@pytest.fixture
def paths(tmp_path):
    """A sound log and a broken one."""
    for name, data in (("a.jsonl", log(*whole_turn())), ("b.jsonl", BROKEN)):
        (tmp_path / name).write_bytes(data)
    return [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]


def test_what_it_takes(paths):
    """A path as text or object, a folder, several of any kind, a generator, the bytes themselves."""
    folder = paths[0].parent
    for given in (folder, str(folder), paths, tuple(map(str, paths)), (each for each in paths)):
        report = conformance.check(given)
        assert isinstance(report, Report)
        assert [each.verdict for each in report] == ["accepted", "refused"]
    (mixed,) = conformance.check([BROKEN])
    assert isinstance(mixed, FileReport)
    assert (mixed.path, mixed.verdict) == ("(bytes)", "refused")
    assert isinstance(mixed.refusal, Finding)
    assert len(conformance.check([])) == 0


@pytest.mark.parametrize("given", [None, 5, [None], [Path("x"), 5]])
def test_what_is_no_path_is_the_callers_mistake(given):
    with pytest.raises(TypeError, match=r"check takes paths, or the bytes of a log, and not (NoneType|int)"):
        conformance.check(given)


@pytest.mark.parametrize("given", ["", "nowhere", "a\0b", "x" * 5_000])
def test_what_cannot_be_read_is_told_and_not_raised(given):
    (report,) = conformance.check(given)
    assert (report.verdict, [each.condition for each in report.findings]) == ("not judged", ["unreadable"])


def test_as_text_it_is_what_the_command_prints(paths, capsys):
    assert main(["check", *map(str, paths)]) == 1
    assert capsys.readouterr().out == f"{conformance.check(paths)}\n"


def test_what_a_notebook_shows(paths):
    report = conformance.check(paths)
    assert repr(report) == "<Report of 2 logs: 1 accepted, 1 refused>"
    assert repr(report.files[1]) == f"<FileReport {str(paths[1])!r}: refused, 1 findings>"
    for each in (report, report.files[1]):
        shown = each._repr_html_()
        assert shown.startswith("<pre>")
        assert "zzz/&lt;b&gt;" in shown
        assert "<b>" not in shown
