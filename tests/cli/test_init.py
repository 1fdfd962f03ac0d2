"""``init``: what it writes, and that it never touches what is there."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from conformance import kits
from conformance.cli import main
from conformance.config import NAME, load_config
from conformance.kits import KITS, KITS_DIR

ALL = pytest.mark.parametrize("language", [*KITS])


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@ALL
def test_it_writes_the_kit_and_a_configuration(here, capsys, language):
    assert main(["init", language, "tools/kit"]) == 0
    written = files(here)
    assert {name: written[f"tools/kit/{name}"] for name in KITS[language].files} == {
        name: (KITS_DIR / language / name).read_text("utf-8") for name in KITS[language].files
    }
    assert written.keys() == {NAME, *(f"tools/kit/{name}" for name in KITS[language].files)}
    adapters = load_config(here / NAME)
    assert [*adapters] == ["my-port", "example"]
    assert {each.cwd for each in adapters.values()} == {here / "tools/kit"}
    told = capsys.readouterr().out
    assert f"fill in tools/kit/{KITS[language].port}" in told
    assert told.rstrip().endswith("session-conformance run my-port")


@ALL
def test_nothing_is_overwritten(here, capsys, language):
    """One file that is there stops all the others, the last of them too."""
    last = here / "kit" / KITS[language].files[-1]
    last.parent.mkdir(parents=True)
    last.write_text("mine")
    assert main(["init", language, "kit"]) == 2
    assert f"{last} exists already; nothing was written" in capsys.readouterr().err
    assert files(here) == {last.relative_to(here).as_posix(): "mine"}


def test_a_folder_with_other_files_is_fine(here):
    (here / "kit").mkdir()
    (here / "kit" / "notes.txt").write_text("mine")
    assert main(["init", "node", "kit"]) == 0
    assert files(here)["kit/notes.txt"] == "mine"


def test_a_link_that_leads_nowhere_is_a_file_too(here, capsys):
    (here / "kit").mkdir()
    (here / "kit" / "port.py").symlink_to(here / "elsewhere")
    assert main(["init", "python", "kit"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert not (here / "elsewhere").exists()


def test_a_configuration_that_is_there_stays(here, capsys):
    above = '[adapters.mine]\ncommand = ["true"]\n'
    (here / NAME).write_text(above)
    assert main(["init", "go", "kit"]) == 0
    assert (here / NAME).read_text() == above
    assert not (here / "kit" / NAME).exists()
    told = capsys.readouterr().out
    assert "is there already and was left as it is" in told
    assert "session-conformance run 'stdio:./adapter --example'" in told


def test_a_kit_elsewhere_has_its_configuration_with_it(here, capsys, monkeypatch):
    (here / "inside").mkdir()
    monkeypatch.chdir(here / "inside")
    assert main(["init", "rust", "../outside"]) == 0
    assert files(here / "inside") == {}
    assert tomllib.loads((here / "outside" / NAME).read_text())["adapters"]["my-port"]["cwd"] == "."
    assert "cd ../outside" in capsys.readouterr().out


def test_names_of_folders_may_be_anything(here):
    assert main(["init", "node", 'my "kit" é 😀']) == 0
    assert load_config(here / NAME)["my-port"].cwd == here / 'my "kit" é 😀'


def test_what_cannot_be_written_leaves_nothing(here, capsys, monkeypatch):
    opened = Path.open

    def full(path, *args, **kwargs):
        if path.name == "example.go" and path.is_relative_to(here):
            raise OSError(28, "No space left on device", str(path))
        return opened(path, *args, **kwargs)

    monkeypatch.setattr(Path, "open", full)
    assert main(["init", "go", "a/b/kit"]) == 2
    assert "No space left on device; nothing was left behind" in capsys.readouterr().err
    assert [*here.iterdir()] == []


def test_a_file_where_the_folder_should_be(here, capsys):
    (here / "kit").write_text("mine")
    assert main(["init", "python", "kit"]) == 2
    assert "nothing was left behind" in capsys.readouterr().err
    assert files(here) == {"kit": "mine"}


def test_an_unknown_language_is_wrong_use(here, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["init", "cobol", "kit"])
    assert stopped.value.code == 2
    assert "python" in capsys.readouterr().err


def test_an_installation_without_kits_says_so(here, capsys, monkeypatch):
    monkeypatch.setattr(kits, "KITS_DIR", here / "nowhere")
    assert main(["init", "python", "kit"]) == 2
    assert "lacks a file of its kits" in capsys.readouterr().err
