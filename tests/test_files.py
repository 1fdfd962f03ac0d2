"""Files that commands write: whole or not at all, and refused before a long run rather than behind it."""

from __future__ import annotations

import pytest

from conformance.cli import main
from conformance.errors import UsageError
from conformance.files import require_writable, write_whole


def test_a_folder_that_is_not_there_yet_is_asked_for_and_not_made(tmp_path):
    require_writable(tmp_path)
    require_writable(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_file_is_no_folder(tmp_path, name):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(UsageError, match=r"cannot be written to: Not a directory"):
        require_writable(tmp_path / name)
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("words", [["fuzz", "reference", "--examples", "3"], ["sweep", "--events", "200"]])
def test_a_long_run_asks_before_it_begins(tmp_path, capsys, words):
    (tmp_path / "file").write_text("")
    assert main([*words, "--save", str(tmp_path / "file")]) == 2
    assert "cannot be written to" in capsys.readouterr().err


def test_what_cannot_be_written_whole_leaves_what_was_there(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=r"report .* cannot be written"):
        write_whole(tmp_path / "folder", "text", "report")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]
