"""Adapter kits: one small folder per language, to be written into a user's repository and filled in there."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from conformance.config import NAME, find_config
from conformance.errors import UsageError
from conformance.resources import PACKAGE

KITS_DIR = PACKAGE / "adapters" / "kits"
PORT = "my-port"
EXAMPLE = "example"
FIRST_CASE = "surface.fold.one-append"


@dataclass(frozen=True, slots=True)
class Kit:
    """What a kit holds, how it is built, and how an adapter of it is named."""

    files: tuple[str, ...]
    port: str
    """The file that its user fills in."""
    build: str | None
    """A shell command, run in the folder of the kit."""
    command: tuple[str, ...]
    """The adapter of the port, run in the folder of the kit; ``--example`` more is that of the example."""
    python: str | None = None
    """Module and factory in place of the command; ``_example`` more is the factory of the example."""


KITS = {
    "python": Kit(
        files=("README.md", ".gitignore", "adapter.py", "port.py", "example_port.py"),
        port="port.py",
        build=None,
        command=("python3", "adapter.py"),
        python="adapter:create",
    ),
    "node": Kit(
        files=(
            "README.md",
            "adapter.mjs",
            "answer.mjs",
            "browser_bridge.mjs",
            "example_port.mjs",
            "port.mjs",
            "worker.mjs",
        ),
        port="port.mjs",
        build=None,
        command=("node", "adapter.mjs"),
    ),
    "go": Kit(
        files=("README.md", ".gitignore", "go.mod", "main.go", "port.go", "example.go"),
        port="port.go",
        build="go build -o adapter .",
        command=("./adapter",),
    ),
    "rust": Kit(
        files=("README.md", ".gitignore", "Cargo.toml", "src/main.rs", "src/port.rs", "src/example.rs"),
        port="src/port.rs",
        build="cargo build --release",
        command=("target/release/adapter",),
    ),
}


def init(language: str, folder: Path, here: Path) -> list[str]:
    """Write a kit into ``folder``, and a configuration where none is in force; return what to tell.

    ``here`` is the folder that commands will be given in. No file that exists is touched. Raises UsageError,
    and then nothing was written.
    """
    kit = KITS[language]
    target = (here / folder).resolve()
    here = here.resolve()
    texts = {target / name: _read(KITS_DIR / language / name) for name in kit.files}
    home = here if target.is_relative_to(here) else target
    config = find_config(home)
    if config is None:
        texts[home / NAME] = config_text(kit, target.relative_to(home).as_posix())
    write_new(texts)
    told = [f"{len(kit.files)} files of the {language} kit are in {folder}; its README.md tells the rest"]
    if config is None:
        told.append(f"{os.path.relpath(home / NAME, here)} names the adapters {PORT} and {EXAMPLE}")
        return [*told, "", "next:", *_steps(kit, folder, target, home == here)]
    told.append(f"{config} is there already and was left as it is")
    return [*told, "", "next:", *_steps_without_names(kit, folder)]


def config_text(kit: Kit, cwd: str) -> str:
    """The ``session-conformance.toml`` of a kit; ``cwd`` is the kit's folder, seen from the file."""

    def adapter(example: bool) -> str:
        if kit.python is not None:
            return f"python = {json.dumps(kit.python + ('_example' if example else ''))}"
        return f"command = {json.dumps([*kit.command, *(['--example'] if example else [])])}"

    # A text of TOML is written as one of JSON is, but has no surrogates for what is beyond the basic plane.
    place = f"cwd = {json.dumps(cwd, ensure_ascii=False)}"
    return (
        "# What session-conformance run NAME runs. docs/ci.md of the tool tells what else can stand here.\n"
        f"[adapters.{PORT}]\n{adapter(False)}\n{place}\n\n"
        "# The worked example of the kit.\n"
        f"[adapters.{EXAMPLE}]\n{adapter(True)}\n{place}\n"
    )


def _steps(kit: Kit, folder: Path, target: Path, from_here: bool) -> list[str]:
    enter = [] if from_here else [f"  cd {shlex.quote(str(folder))}"]
    place = shlex.quote(str(folder))
    build = [] if kit.build is None else [f"  (cd {place} && {kit.build})" if from_here else f"  {kit.build}"]
    return [
        *enter,
        *build,
        f"  session-conformance run {EXAMPLE}     # the worked example: conforms",
        f"  fill in {target / kit.port if not from_here else folder / kit.port}",
        *build,
        f"  session-conformance run {PORT} --select {FIRST_CASE}",
        f"  session-conformance doctor {PORT}     # is the glue sound?",
        f"  session-conformance run {PORT}",
    ]


def _steps_without_names(kit: Kit, folder: Path) -> list[str]:
    if kit.python is not None:
        port, example = f"python:{kit.python}", f"python:{kit.python}_example"
    else:
        words = shlex.join(kit.command)
        port, example = f"stdio:{words}", f"stdio:{words} --example"
    build = [] if kit.build is None else [f"  {kit.build}"]
    return [
        f"  cd {shlex.quote(str(folder))}",
        *build,
        f"  session-conformance run {shlex.quote(example)}     # the worked example: conforms",
        f"  fill in {kit.port}",
        *build,
        f"  session-conformance run {shlex.quote(port)}",
    ]


def write_new(texts: dict[Path, str]) -> None:
    """Write all these files, or none. Raises UsageError if one of them exists, or cannot be written."""
    for path in texts:
        if os.path.lexists(path):
            raise UsageError(f"{path} exists already; nothing was written. Name another folder, or move it")
    made: list[Path] = []
    try:
        for path, text in texts.items():
            for parent in reversed(path.parents):
                if not parent.exists():
                    parent.mkdir()
                    made.append(parent)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                made.append(path)
                file.write(text)
    except OSError as error:
        for path in reversed(made):
            remove = path.rmdir if path.is_dir() else path.unlink
            remove()
        place = error.filename or "the kit"
        raise UsageError(
            f"{place} cannot be written: {error.strerror or error}; nothing was left behind"
        ) from None


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise UsageError(f"this installation lacks a file of its kits: {error}") from None
