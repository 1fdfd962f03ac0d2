"""README and docs: every snippet that can be executed is executed, in a small project that has a port.

The port, ``my_port``, is the reference behind an interface of its own. A ``sh`` block is run line by line;
a line that ends in ``# exits N`` must exit with N, any other with 0. Blocks that mention the list of known
failures are run, in their order, in a project whose port has a fault. Only the lines of ``NOT_RUN`` are not
executed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml
from test_spec_pages import dead_links

from conformance.config import load_config
from conformance.resources import vectors_dir

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
DECODER_PAGE = ROOT / "docs" / "check-a-decoder.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
GUIDE = [  # worked through by test_guide.py
    "test-my-port.md", "read-a-result.md", "quickstart.zh.md", "repair-a-crash.md", "gate-a-backend.md",
    "fuzz.md",
    "check-a-log.md",
]  # fmt: skip
NOT_RUN = {
    'session-conformance run dsh-plugin --module ./lib/index.js --config \'{"root": "{root}/sessions"}\''
    " --topic backend": "needs a plugin, and Node; tests/adapters/test_dsh_plugin.py has one",
    "session-conformance run dsh-backend:jsonl --topic backend": "needs Node, and has a known failure",
    "session-conformance run dsh-backend:sqlite14 --topic backend": "the same, and has known failures",
    "session-conformance sweep dsh-backend:sqlite14 --files --events 20 --stride 900 --kind cut  # exits 1": (
        "needs Node"
    ),
    "sh .ci/venv && .venv/bin/session-conformance run": "CI runs it from a fresh clone",
    "sh .ci/venv test && .venv/bin/pytest": "CI runs it from a fresh clone",
    "python -m pip install path/to/session-conformance": "CI installs the wheel",
    "python -m pip install ./vendor/session-conformance": "CI installs the wheel",
}
KNOWN_FAILURES = "known-failures.yaml"
ADAPTER = "python:my_package.adapter:create"

MY_PORT = """\
from conformance.adapters import reference
from reference_impl.rejection import Rejection


class InvalidLog(Exception):
    pass


class Surface:
    def __init__(self, told):
        self.nodes = told["nodes"]
        self.replacements = told["replacements"]
        self.generation = told["replaceGeneration"]


def fold(events):
    try:
        surface = Surface(reference.fold({"events": events}))
    except Rejection as refusal:
        raise InvalidLog(refusal.message) from None
    if FAULTY and any(each["start"] > each["end"] for each in surface.replacements):
        raise InvalidLog("start is after end")
    return surface
"""


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def only(found: list[str]) -> str:
    (text,) = found
    return text


def adapter_of_the_readme() -> str:
    return only([text for text in blocks(README, "python") if "def create" in text])


class Project:
    """A project with a port, the adapter of README, and the programs that snippets call."""

    def __init__(self, folder: Path, *, faulty: bool = False, adapter: str | None = None) -> None:
        self.folder = folder
        (folder / "my_package").mkdir(parents=True)
        (folder / "my_package" / "__init__.py").touch()
        (folder / "my_package" / "adapter.py").write_text(adapter or adapter_of_the_readme())
        (folder / "my_port.py").write_text(f"FAULTY = {faulty}\n\n{MY_PORT}")
        for text in blocks(DECODER_PAGE, "python"):
            named = re.match(r"# (\S+\.py)\n", text)
            (folder / (named[1] if named else "decoder_adapter.py")).write_text(text)
        (folder / "path" / "to").mkdir(parents=True)
        (folder / "path" / "to" / "vectors").symlink_to(vectors_dir())
        tool = ["-P", "-m", "conformance"]
        self.program("python")
        self.program("session-conformance", *tool)
        self.program("node", *tool, "serve", ADAPTER, takes_arguments=False)
        self.program(
            "pytest", "-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(folder)
        )

    def program(self, name: str, *words: str, takes_arguments: bool = True) -> None:
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        rest = ' "$@"' if takes_arguments else ""
        path.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, *words])}{rest}\n")
        path.chmod(0o755)

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        environment = {
            **kept,
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "GITHUB_STEP_SUMMARY": str(self.folder / "step-summary.md"),
        }
        return subprocess.run(
            ["sh", "-c", line],
            cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def run_lines(self, text: str) -> list[str]:
        """Run a block, and give what it printed. Fails on an exit code that the block does not promise."""
        printed = []
        for line in text.splitlines():
            if line.strip() in NOT_RUN:
                continue
            promised = re.search(r"# exits (\d+)$", line)
            done = self.run(line)
            assert done.returncode == (int(promised[1]) if promised else 0), line + done.stdout + done.stderr
            printed.append(done.stdout)
        return printed

    def verdicts(self, *words: str) -> Counter[str]:
        """How many cases of a whole run have which status."""
        self.run(shlex.join(["session-conformance", "run", ADAPTER, "--report", "all.ndjson", *words]))
        records = [json.loads(line) for line in (self.folder / "all.ndjson").read_text("utf-8").splitlines()]
        assert records[-1]["complete"]
        return Counter(record["status"] for record in records if record["record"] == "verdict")


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path / "good")


@pytest.fixture
def faulty(tmp_path):
    return Project(tmp_path / "faulty", faulty=True)


def test_the_adapter_answers_the_whole_corpus(project):
    counts = project.verdicts()
    assert counts.keys() <= {"pass", "undeclared"}
    assert counts["pass"] > 200
    assert project.verdicts("--optional").keys() <= {"pass", "either", "undeclared"}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('json.loads(request["events_text"]) if "events_text" in request else request["events"]',
         'request["events"]'),
        ("except my_port.InvalidLog as", "except my_port.NoSuchName as"),
        ("surface.generation", "surface.replace_generation"),
    ],
)  # fmt: skip
def test_a_broken_adapter_is_found(tmp_path, right, wrong):
    text = adapter_of_the_readme()
    assert text.count(right) == 1
    assert Project(tmp_path / "broken", adapter=text.replace(right, wrong)).verdicts()["crashed"]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in GUIDE], ids=lambda page: page.name
)
def test_commands_do_what_the_page_says(page, project, faulty):
    for text in blocks(page, "sh"):
        (faulty if KNOWN_FAILURES in text else project).run_lines(text)


@pytest.mark.parametrize(
    "line",
    [
        "session-conformance run --no-such-option",
        "session-conformance run reference --topic surface/log  # exits 1",
        "pytest --adapter reference path/to/nowhere",
    ],
)
def test_a_command_that_fails_is_found(project, line):
    with pytest.raises(AssertionError):
        project.run_lines(line)


def test_what_is_not_run_stands_on_a_page():
    told = "\n".join(page.read_text("utf-8") for page in PAGES)
    assert [line for line in NOT_RUN if line not in told] == []
    assert blocks(README, "sh")[:2] == [f"{line}\n" for line in NOT_RUN if line.startswith("sh .ci/")], (
        "the two commands stay first"
    )


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in GUIDE], ids=lambda page: page.name
)
def test_tests_that_a_page_shows_pass(page, project):
    tests = [text for text in blocks(page, "python") if "def test_" in text]
    for number, text in enumerate(tests):
        (project.folder / f"test_shown_{number}.py").write_text(text)
        project.run_lines(f"pytest test_shown_{number}.py")


def with_config(folder: Project, page: Path) -> None:
    folder.run_lines(only([text for text in blocks(page, "sh") if "baseline update" in text]))
    (folder.folder / "session-conformance.toml").write_text(only(blocks(page, "toml")))


@pytest.mark.parametrize("page", [README, ROOT / "docs" / "ci.md"], ids=lambda page: page.name)
def test_the_configuration_runs_in_both_spellings(page, faulty):
    with_config(faulty, page)
    path = faulty.folder / "session-conformance.toml"
    assert [*load_config(path)] == ["my-port"]
    faulty.run_lines("session-conformance run my-port")
    (python,) = re.findall(r'^command = .*#.* or (python = ".*")$', path.read_text(), re.MULTILINE)
    path.write_text(re.sub(r"^command = .*$", python, path.read_text(), flags=re.MULTILINE))
    faulty.run_lines("session-conformance run my-port")
    (faulty.folder / KNOWN_FAILURES).unlink()
    assert faulty.run("session-conformance run my-port").returncode == 2, "the list is read"


def test_the_long_configuration_has_every_member():
    schema = json.loads((ROOT / "spec" / "schemas" / "config.schema.json").read_text("utf-8"))
    (entry,) = tomllib.loads(only(blocks(ROOT / "docs" / "ci.md", "toml")))["adapters"].values()
    assert {*entry, "python"} == schema["$defs"]["adapter"]["properties"].keys()


def test_the_list_of_known_failures_is_what_the_command_wrote(faulty):
    page = ROOT / "docs" / "ci.md"
    with_config(faulty, page)
    shown = only([text for text in blocks(page, "yaml") if "known_failures:" in text])
    assert (faulty.folder / KNOWN_FAILURES).read_text("utf-8") == shown


def test_the_job_runs(faulty):
    page = ROOT / "docs" / "ci.md"
    with_config(faulty, page)
    (job,) = yaml.safe_load(only([text for text in blocks(page, "yaml") if "jobs:" in text]))["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    for command in commands:
        faulty.run_lines(command)
    written = (faulty.folder / "step-summary.md").read_text("utf-8")
    assert "my port conforms" in written
    assert (faulty.folder / "junit.xml").exists()


def test_the_failure_that_is_shown_is_a_real_one(faulty):
    shown = only(blocks(README, "text")).splitlines()
    done = faulty.run(f"session-conformance run {ADAPTER}")
    assert [line for line in shown if line not in done.stdout.splitlines()] == []
    assert faulty.run(shown[-1].split(maxsplit=1)[1]).returncode == 1, "the command repeats the failure"


def test_the_failure_of_the_decoder_is_a_real_one(project):
    """Each text of the page is told by the command before it, or stands in the file that it wrote."""
    alone, families, tables = blocks(DECODER_PAGE, "text")[:3]
    assert alone.strip() in project.run(blocks(DECODER_PAGE, "sh")[0].splitlines()[1]).stdout
    assert families.strip() in project.run(blocks(DECODER_PAGE, "sh")[2].splitlines()[0]).stdout
    project.run(blocks(DECODER_PAGE, "sh")[3].strip())
    assert (project.folder / "cells" / "seqs-decode.csv").read_text().startswith(tables)


ROW = re.compile(r"^\| `([a-z-]+(?: update)?)[^`]*` \| (.*) \|$", re.MULTILINE)


def test_the_table_has_every_command_and_only_real_options(project):
    table = dict(ROW.findall(README.read_text("utf-8").partition("\n## Commands\n")[2]))
    told = project.run("session-conformance --help").stdout
    commands = re.findall(
        r"^    ([a-z-]+)(?: |$)", told[told.index("commands:") : told.index("exit codes:")], re.MULTILINE
    )
    assert sorted(name.split()[0] for name in table) == sorted(commands)
    for name, row in table.items():
        options = project.run(f"session-conformance {name} --help").stdout
        for option in re.findall(r"(?<![a-z])--?[a-zA-Z][a-z-]*", " ".join(re.findall(r"`([^`]*)`", row))):
            assert re.search(rf"^\s.*{option}\b", options, re.MULTILINE), f"{name} has no {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    assert dead_links(page.read_text("utf-8"), page.parent) == []


def test_the_readme_stays_short():
    assert len(README.read_text("utf-8").splitlines()) < 200
