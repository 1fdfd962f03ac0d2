"""``session-conformance.toml``: named adapters, their folder and environment, and what options override."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest
from support import DOUBLES, vector_text

from conformance.cli import main
from conformance.config import NAME, find_config, load_config
from conformance.errors import VectorError


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "sample.yaml").write_text(vector_text(3))
    (tmp_path / "below/deeper").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> None:
        (tmp_path / NAME).write_text(text)

    return write


def words_of(*more: str) -> str:
    return json.dumps([sys.executable, str(DOUBLES), *more])


def test_a_named_adapter_runs_from_any_folder_below(project, monkeypatch, capsys):
    project(f"[adapters.my-port]\ncommand = {words_of('good')}\n")
    monkeypatch.chdir("below/deeper")
    assert main(["run", "my-port", "--vectors", "../../sample.yaml"]) == 0
    assert "against my-port" in capsys.readouterr().out


def test_folder_and_environment_are_those_of_the_entry(project, capsys):
    tell = "import os, sys; sys.stderr.write(os.getcwd() + ' ' + os.environ['MODE']); sys.exit(4)"
    command = json.dumps([sys.executable, "-c", tell])
    project(f'[adapters.tell]\ncommand = {command}\ncwd = "below"\nenv = {{MODE = "quiet"}}\n')
    assert main(["run", "tell", "--vectors", "sample.yaml"]) == 3
    assert f"{Path.cwd() / 'below'} quiet" in capsys.readouterr().err


def test_a_python_adapter_with_a_folder_of_its_own(project, capsys):
    Path("below/port.py").write_text("from conformance.adapters.reference import create\n")
    project('[adapters.port]\npython = "port:create"\ncwd = "below"\n')
    assert main(["run", "port", "--vectors", "sample.yaml"]) == 0
    project('[adapters.port]\npython = "below.port:create"\njobs = 2\n')
    assert main(["run", "port", "--vectors", "sample.yaml"]) == 0


def test_what_the_entry_says_holds_unless_an_option_says_otherwise(project, capsys):
    project(
        f'[adapters.port]\ncommand = {words_of("hangs")}\ntime-limit = 0.5\nstrict = ["position"]\n'
        'profile = "tutorial"\nbaseline = "known.yaml"\n'
    )
    Path("known.yaml").write_text("format: 1\nknown_failures: []\n")
    assert main(["run", "port", "--report", "a.ndjson"]) == 0
    start = json.loads(Path("a.ndjson").read_text().splitlines()[0])
    assert (start["profile"], start["strict"], start["limits"]["answer_seconds"]) == (
        "tutorial",
        ["position"],
        0.5,
    )
    assert main(["run", "port", "--strict", "", "--profile", "isolation", "--report", "b.ndjson"]) == 0
    start = json.loads(Path("b.ndjson").read_text().splitlines()[0])
    assert (start["profile"], start["strict"]) == ("isolation", [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[adapters.x]\n", "is not valid under any of the given schemas"),
        ('[adapters.x]\ncommand = "node x"\n', "is not of type 'array'"),
        ('[adapters.x]\ncommand = ["a"]\npython = "b:c"\n', "is valid under each of"),
        ('[adapters.x]\ncommand = ["a"]\ncolour = "red"\n', "colour"),
        ('[adapters.reference]\ncommand = ["a"]\n', "reference"),
        ('[adapter.x]\ncommand = ["a"]\n', "adapter"),
        ("[adapters\n", "is not TOML"),
    ],
)
def test_a_broken_file_is_one_message(project, capsys, text, told):
    project(text)
    assert main(["run", "x"]) == 2
    err = capsys.readouterr().err
    assert NAME in err
    assert told in err
    assert len(err.splitlines()) == 1


def test_unknown_names_tell_the_known_ones(project, capsys):
    project(f"[adapters.my-port]\ncommand = {words_of('good')}\n")
    assert main(["run", "mine"]) == 2
    assert "session-conformance.toml names my-port" in capsys.readouterr().err


def test_without_a_file_there_is_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load_config(find_config()) == {}
    (tmp_path / NAME).write_bytes(b"\xff")
    with pytest.raises(VectorError):
        load_config(tmp_path / NAME)


def test_the_command_that_repeats_a_case_names_the_adapter(project, capsys):
    project(f"[adapters.my-port]\ncommand = {words_of('two-kinds')}\n")
    main(["run", "my-port", "--vectors", "sample.yaml"])
    again = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  again"))
    assert shlex.split(again)[1:4] == ["session-conformance", "run", "my-port"]
