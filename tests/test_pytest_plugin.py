"""The pytest plugin, in a project of its own: collected, readable, and without effect unless asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from session_conformance import assert_conforms
from support import WRONG, double_name, vector_text

from conformance.resources import vectors_dir


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-c",
        "/dev/null",
        "--rootdir",
        str(folder),
    ]
    return subprocess.run(
        [*argv, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def project(tmp_path):
    (tmp_path / "sample.yaml").write_text(vector_text(5))
    (tmp_path / "compose.yaml").write_text("services: {a: !!binary x}\n")
    (tmp_path / "test_own.py").write_text("def test_own():\n    assert True\n")
    return tmp_path


def test_cases_are_tests(project):
    done = run_pytest(project, "--adapter", "reference", "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sample.yaml::sample::case-3 PASSED" in done.stdout  # pytest shows the dots of a name so
    assert "6 passed" in done.stdout


def test_nothing_happens_unless_asked(project):
    done = run_pytest(project)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_without_an_adapter_nothing_of_ours_is_imported(project):
    (project / "test_own.py").write_text(
        "import sys\n\ndef test_own():\n    assert not {'conformance', 'yaml'} & sys.modules.keys()\n"
    )
    done = run_pytest(project, "test_own.py")
    assert done.returncode == 0, done.stdout


def test_a_failure_reads_as_on_the_command_line(project):
    (project / "sample.yaml").write_text(WRONG)
    done = run_pytest(project, "--adapter", "reference", "sample.yaml")
    assert done.returncode == 1
    for line in (
        "fail: nodes[0]: 7, not 0",
        "  rules    FOLD-2",
        "  why      It expects what is not so.",
        "  differs  nodes[0]",
        "  again    pytest --adapter reference sample.yaml::sample.wrong",
        "FAILED sample.yaml::sample.wrong - fail: nodes[0]: 7, not 0",
    ):
        assert line in done.stdout.splitlines(), done.stdout
    assert "Traceback" not in done.stdout
    assert "runtest" not in done.stdout


def test_selection_by_name_and_several_workers(project):
    done = run_pytest(project, "--adapter", "reference", "-k", "case-3")
    assert "1 passed, 5 deselected" in done.stdout
    done = run_pytest(project, "--adapter", double_name("good"), "-n", "2", "-p", "xdist")
    assert "6 passed" in done.stdout


def test_a_crash_fails_one_case_and_the_rest_goes_on(project):
    (project / "sample.yaml").write_text(vector_text(5, poison=2))
    done = run_pytest(project, "--adapter", double_name("dies"), "sample.yaml")
    assert done.returncode == 1
    assert "crashed: the adapter was ended by SIGABRT" in done.stdout
    assert "1 failed, 4 passed" in done.stdout


def test_the_adapters_own_faults_are_failures(project):
    done = run_pytest(project, "--adapter", double_name("logs-on-stdout"), "sample.yaml")
    assert done.returncode == 1
    assert "logs belong on stderr" in done.stdout
    for workers in ((), ("-n", "2")):
        done = run_pytest(project, "--adapter", double_name("exits-nonzero"), "sample.yaml", *workers)
        assert done.returncode == 1
        assert "adapter problem: the adapter exited with code 9" in done.stdout


def test_what_is_not_declared_is_skipped(project):
    done = run_pytest(project, "--adapter", double_name("declares-nothing"), "sample.yaml", "-rs")
    assert "5 skipped" in done.stdout
    assert "the adapter does not declare fold" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--adapter", "nonsense"], "unknown adapter 'nonsense'"),
        (
            ["--adapter", "reference", "--conformance-strict", "texts"],
            "strict knows condition and position",
        ),
    ],
)
def test_wrong_options_are_one_message(project, words, told):
    done = run_pytest(project, *words)
    assert done.returncode == 4
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_an_adapter_that_cannot_start_is_said_without_a_traceback(project):
    done = run_pytest(project, "--adapter", "stdio:/no/such/program", "sample.yaml")
    assert done.returncode == 4
    assert "cannot be started: /no/such/program" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_broken_file_is_an_error_with_its_line(project):
    (project / "sample.yaml").write_text(WRONG.replace("nodes: [7]", "nodes: no"))
    done = run_pytest(project, "--adapter", "reference", "sample.yaml")
    assert done.returncode == 2
    assert "sample.yaml:11: no means different things to different YAML readers" in done.stdout


def test_optional_files_run_only_when_named(project):
    (project / "sample.yaml").write_text(vector_text(2).replace("edition: v0", "edition: v0\noptional: true"))
    assert "1 passed" in run_pytest(project, "--adapter", "reference").stdout
    assert "2 passed" in run_pytest(project, "--adapter", "reference", "sample.yaml").stdout


def test_another_package_called_conformance_is_one_message(project):
    (project / "conformance").mkdir()
    (project / "conformance/__init__.py").write_text("")
    done = run_pytest(project, "--adapter", "reference")
    assert done.returncode == 4
    assert "session-conformance needs its package 'conformance'" in done.stderr
    assert str(project / "conformance") in done.stderr
    assert run_pytest(project).returncode == 0


def test_the_whole_corpus_as_tests(tmp_path):
    done = run_pytest(
        tmp_path,
        "--adapter",
        "reference",
        "--conformance-strict",
        "condition,position",
        "-q",
        str(vectors_dir()),
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_assert_conforms_with_a_name_and_with_a_function():
    from conformance.adapters.reference import answer

    assert_conforms("reference", topics=["surface/replace"])
    assert_conforms(answer, select=["surface.replace.*"], strict=["condition", "position"])


def test_assert_conforms_says_what_does_not(tmp_path):
    from conformance.adapters.reference import answer

    def half(request):
        if request["op"] == "hello":
            return answer(request)
        return {"result": {"nodes": [], "replacements": [], "replaceGeneration": 0}}

    with pytest.raises(
        AssertionError,
        match=r"conform:\nsurface\.replace\.first-two: fail: nodes\[0\]: 3, not",
    ):
        assert_conforms(half, topics=["surface/replace"])

    def nothing(request):
        told = answer(request)
        told["result"]["capabilities"] = []
        return told

    with pytest.raises(AssertionError, match="declares nothing"):
        assert_conforms(nothing)
