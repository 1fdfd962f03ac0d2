"""``session-conformance.toml`` in a user's repository: named adapters, and what a run of them is.

    [adapters.my-port]
    command = ["node", "test/adapter.js"]   # or python = "my_package.adapter:create"
    env = {LOG_LEVEL = "error"}
    cwd = "port"
    profile = "surface"
    baseline = "known-failures.yaml"
    strict = ["condition"]
    jobs = 2
    time-limit = 10
    total-limit = 600
    memory-limit = 2048

Paths are relative to the file. Options of the command line go before what stands here.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import schemas
from conformance.errors import UsageError, VectorError

NAME = "session-conformance.toml"


@dataclass(frozen=True, slots=True)
class NamedAdapter:
    """One adapter of the file, its paths made absolute."""

    name: str
    command: tuple[str, ...] | None
    python: str | None
    env: dict[str, str]
    cwd: Path
    profile: str | None
    baseline: Path | None
    strict: tuple[str, ...]
    jobs: int | None
    time_limit: float | None
    total_limit: float | None
    memory_limit: int | None


def find_config(start: Path | None = None) -> Path | None:
    """The file in this folder or the nearest one above it."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / NAME).is_file():
            return folder / NAME
    return None


def load_config(path: Path | None) -> dict[str, NamedAdapter]:
    """The adapters of a file, by name; none without a file. Raises VectorError for a broken one."""
    if path is None:
        return {}
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise VectorError(f"is not TOML: {error}", file=path) from None
    wrong = schemas.fault("config", document)
    if wrong is not None:
        raise VectorError(str(wrong), file=path)
    return {name: _adapter(name, entry, path.parent) for name, entry in document.get("adapters", {}).items()}


def _adapter(name: str, entry: dict[str, Any], root: Path) -> NamedAdapter:
    return NamedAdapter(
        name=name,
        command=tuple(entry["command"]) if "command" in entry else None,
        python=entry.get("python"),
        env=entry.get("env", {}),
        cwd=root / entry.get("cwd", "."),
        profile=entry.get("profile"),
        baseline=root / entry["baseline"] if "baseline" in entry else None,
        strict=tuple(entry.get("strict", ())),
        jobs=entry.get("jobs"),
        time_limit=entry.get("time-limit"),
        total_limit=entry.get("total-limit"),
        memory_limit=entry.get("memory-limit"),
    )
