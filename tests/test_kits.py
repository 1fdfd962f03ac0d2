"""The kits: written by ``init``, built with the tools of their language, and run as their users would.

A tool chain that is not there skips its tests on a developer's machine and fails them in CI, where
``.ci/tools`` has installed it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_readme import blocks
from test_transcripts import TRANSCRIPTS, differing, entries

from conformance.kits import KITS, KITS_DIR

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "kits.md"
CRATES = Path("/usr/share/cargo/registry")
SURROGATES = {
    "surface.messages.lone-surrogates",
    "surface.project.lone-surrogate",
    "surface.values.equal-lone-surrogates",
    "surface.values.unequal-lone-surrogates",
    "surface.values-depth.surrogate-as-a-name",
    "surface.values-depth.surrogate-as-the-same-name",
    "surface.values-depth.surrogate-is-not-the-replacement-character",
    "surface.values-depth.surrogates-in-the-wrong-order",
}
NEEDS = {"python": ["python3"], "node": ["node"], "go": ["go"], "rust": ["cargo", "rustc"]}
FOLD_OF_THE_STUB = {  # the line of the stub that declares the fold, before and after
    "python": ('# "fold": fold', '"fold": fold'),
    "node": ("// fold,", "fold,"),
    "go": ('// "fold":     yourFold,', '"fold": yourFold,'),
    "rust": ('// ("fold", fold),', '("fold", fold),'),
}


@dataclass
class Repository:
    """A user's repository with one kit in it, and the programs that its user would have on the path."""

    root: Path
    environment: dict[str, str]

    def run(self, line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", line],
            cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    def must(self, line: str, code: int = 0) -> str:
        done = self.run(line)
        assert done.returncode == code, f"{line}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def verdicts(self, adapter: str, *words: str) -> dict[str, str]:
        """The status of every case of a run; the exit code is not looked at."""
        self.run(shlex.join(["session-conformance", "run", adapter, "--report", "run.ndjson", *words]))
        records = [json.loads(line) for line in (self.root / "run.ndjson").read_text("utf-8").splitlines()]
        assert records[-1]["complete"]
        return {each["case"]: each["status"] for each in records if each["record"] == "verdict"}


def repository(root: Path) -> Repository:
    root.mkdir(parents=True)
    programs = root.parent / f"{root.name}-bin"
    programs.mkdir()
    tool = programs / "session-conformance"
    tool.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m conformance "$@"\n')
    tool.chmod(0o755)
    cargo_home = root.parent / f"{root.name}-cargo"
    cargo_home.mkdir()
    (cargo_home / "config.toml").write_text(
        '[source.crates-io]\nreplace-with = "debian"\n'
        f'[source.debian]\ndirectory = "{CRATES}"\n'
        "[net]\noffline = true\n"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "CARGO"))}
    path = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {
        **kept,
        "PATH": os.pathsep.join(path),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CARGO_HOME": str(cargo_home),
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
    }
    return Repository(root, environment)


def needs(*programs: str) -> None:
    """Skip without these programs; in CI they have to be there."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    lacking = [name for name in programs if shutil.which(name, path=path) is None]
    if "cargo" in programs and not [*CRATES.glob("serde_json-*")]:
        lacking.append("librust-serde-json-dev")
    if lacking and os.environ.get("CI") == "true":
        pytest.fail(f"not installed: {', '.join(lacking)}; .ci/tools installs it")
    if lacking:
        pytest.skip(f"not installed: {', '.join(lacking)}; bash .ci/tools installs it")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Kits by language, each written and built once by the first commands of its own README."""
    there: dict[str, Repository] = {}

    def make(language: str) -> Repository:
        needs(*NEEDS[language])
        if language not in there:
            fresh = repository(tmp_path_factory.mktemp("kits") / language)
            for line in steps(language)[:-1]:
                fresh.must(line)
            there[language] = fresh
        return there[language]

    return make


def steps(language: str) -> list[str]:
    """The three commands of a kit's README. Each is run from the root of the repository."""
    (first, *_) = blocks(KITS_DIR / language / "README.md", "sh")
    return first.splitlines()


ALL = pytest.mark.parametrize("language", [*KITS])


@ALL
def test_three_commands_lead_to_green(made, language):
    lines = steps(language)
    assert len(lines) == 3
    assert lines[0] == f"session-conformance init {language} conformance-kit"
    assert made(language).must(lines[-1]).splitlines()[-1].startswith("conforms")


@ALL
def test_the_example_answers_the_whole_corpus(made, language):
    statuses = made(language).verdicts("example", "--strict", "condition,position")
    counts = Counter(statuses.values())
    print(language, dict(counts))
    assert counts.keys() == {"pass", "undeclared"}
    assert counts["pass"] > 300
    assert {case: statuses[case] for case in SURROGATES} == dict.fromkeys(SURROGATES, "pass")


@ALL
def test_the_example_answers_the_optional_cases(made, language):
    statuses = made(language).verdicts("example", "--optional", "--strict", "condition,position")
    assert {*statuses.values()} == {"pass", "either", "undeclared"}


@ALL
def test_the_stub_declares_nothing_and_says_so(made, language):
    told = made(language).must("session-conformance run my-port", code=3)
    assert "nothing of this selection is declared" in told
    assert {*made(language).verdicts("my-port").values()} == {"undeclared"}


@ALL
def test_a_stub_that_is_declared_before_it_is_written_crashes(made, language, tmp_path):
    """It must not pass, and must not be taken for a refusal."""
    mine = Repository(tmp_path / "copy", made(language).environment)
    shutil.copytree(made(language).root, mine.root)
    port = mine.root / "conformance-kit" / KITS[language].port
    right, wrong = FOLD_OF_THE_STUB[language]
    assert port.read_text().count(right) == 1
    port.write_text(port.read_text().replace(right, wrong))
    if KITS[language].build is not None:
        mine.must(f"cd conformance-kit && {KITS[language].build}")
    statuses = Counter(mine.verdicts("my-port", "--topic", "surface/replace").values())
    assert statuses.keys() == {"crashed"}


@ALL
def test_the_adapter_replays_the_transcript(made, language):
    """One after another over a pipe; every line is answered, and the end of the input ends it cleanly."""
    kit = KITS[language]
    (path,) = TRANSCRIPTS
    requests = "".join(json.dumps(line["send"]) + "\n" for line in entries(path)[::2])
    done = subprocess.run(
        [*kit.command, "--example"],
        cwd=made(language).root / "conformance-kit", env=made(language).environment,
        input=f"{requests}no JSON\n[]\n", capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    *answers, no_json, no_object = [json.loads(line) for line in done.stdout.splitlines()]
    assert differing(path, answers) == []
    for answer in (no_json, no_object):
        assert answer["id"] is None
        assert answer.keys() == {"id", "error"}


@ALL
def test_the_doctor_finds_nothing(made, language):
    assert "no findings" in made(language).must("session-conformance doctor example")


@ALL
def test_a_kit_holds_what_it_lists(language):
    """Nothing else, so that no product of a build is shipped."""
    folder = KITS_DIR / language
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {name for name in found if "__pycache__" not in name} == {*KITS[language].files}


@ALL
def test_a_glue_is_small(language):
    glue = {
        "python": ["adapter.py"],
        "node": ["answer.mjs", "adapter.mjs"],
        "go": ["main.go"],
        "rust": ["src/main.rs"],
    }
    lines = [
        line.strip()
        for name in glue[language]
        for line in (KITS_DIR / language / name).read_text().splitlines()
    ]
    code = [line for line in lines if line and not line.startswith(("#", "//", "/*", "*"))]
    print(language, len(code))
    assert len(code) <= 95


def test_the_example_in_a_browser(made):
    needs("chromium", "node")
    (line,) = only_blocks(KITS_DIR / "node" / "README.md")
    assert made("node").must(line).splitlines()[-1].startswith("conforms")
    adapter = line.split(maxsplit=2)[2].strip("'").replace("stdio:'", "stdio:")
    statuses = made("node").verdicts(adapter, "--strict", "condition,position")
    assert {*statuses.values()} == {"pass", "undeclared"}
    assert {statuses[case] for case in SURROGATES} == {"pass"}


def test_the_doctor_finds_nothing_in_a_browser(made):
    needs("chromium", "node")
    line = "session-conformance doctor stdio:'node conformance-kit/browser_bridge.mjs --example'"
    assert "no findings" in made("node").must(line)


def test_the_stub_in_a_browser_declares_nothing(made):
    needs("chromium", "node")
    made("node").must("session-conformance run stdio:'node conformance-kit/browser_bridge.mjs'", code=3)


@pytest.mark.parametrize("browser", ["/no/such/browser", "/bin/true"])
def test_a_browser_that_does_not_start_is_told(made, browser):
    line = "session-conformance run stdio:'node conformance-kit/browser_bridge.mjs --example'"
    done = made("node").run(f"CHROMIUM={browser} {line}")
    assert done.returncode == 3
    assert "CHROMIUM names another" in done.stderr


def test_a_browser_is_gone_and_cleared_up_after_the_bridge_was_killed(made, request):
    needs("chromium", "node")
    # Chromium makes a socket there, and the name of a socket must be short; pytest's own folders are deep.
    tmp_path = Path(tempfile.mkdtemp(prefix="kit-"))
    request.addfinalizer(lambda: shutil.rmtree(tmp_path, ignore_errors=True))
    environment = {**made("node").environment, "TMPDIR": str(tmp_path)}
    bridge = subprocess.Popen(
        ["node", "browser_bridge.mjs", "--example"],
        cwd=made("node").root / "conformance-kit", env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    with bridge:
        bridge.stdin.write(b'{"id":0,"op":"hello","protocol":1}\n')
        bridge.stdin.flush()
        assert b'"worked example"' in bridge.stdout.readline()
        assert [*tmp_path.iterdir()] != []
        os.killpg(bridge.pid, signal.SIGKILL)
    deadline = time.monotonic() + 20
    while [*tmp_path.iterdir()] and time.monotonic() < deadline:
        time.sleep(0.1)
    assert [*tmp_path.iterdir()] == []


def test_a_port_in_the_browser_that_cannot_be_loaded_is_told(made, tmp_path):
    needs("chromium", "node")
    mine = Repository(tmp_path / "copy", made("node").environment)
    shutil.copytree(made("node").root, mine.root)
    (mine.root / "conformance-kit" / "port.mjs").write_text('import "./no-such-file.mjs";\n')
    done = mine.run("session-conformance run stdio:'node conformance-kit/browser_bridge.mjs'")
    assert done.returncode == 3
    assert "port.mjs" in done.stderr


def only_blocks(page: Path) -> list[str]:
    """The lines of a page's ``bash`` blocks, which need a tool chain and are run here, not with README."""
    return [line for text in blocks(page, "bash") for line in text.splitlines()]


def test_the_guide_names_every_kit():
    text = GUIDE.read_text("utf-8")
    assert {*re.findall(r"session-conformance init ([a-z]+) ", text)} == {*KITS}


@ALL
def test_the_commands_of_the_guide(language, tmp_path):
    """A block belongs to the language that its ``init`` names, and is run in a fresh repository."""
    needs(*NEEDS[language])
    mine = repository(tmp_path / "fresh")
    for text in [*blocks(GUIDE, "sh"), *blocks(GUIDE, "bash")]:
        if f"init {language} " in text:
            if "browser" in text:
                needs("chromium")
            for line in text.splitlines():
                promised = re.search(r"# exits (\d+)$", line)
                mine.must(line, int(promised[1]) if promised else 0)
