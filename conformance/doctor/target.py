"""From an adapter to the command that the doctor starts: what is examined has pipes in any case."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from conformance.adapters.registry import AdapterSpec, serve_command, with_import_path


@dataclass(frozen=True, slots=True)
class Target:
    """A command that speaks the protocol over its pipes."""

    name: str
    argv: list[str]
    env: dict[str, str] | None = None
    cwd: Path | None = None


def target_of(spec: AdapterSpec) -> Target:
    """The command behind an adapter. Raises AdapterError if there is none to be had."""
    if spec.command is not None:
        env = {**os.environ, **spec.env} if spec.env else None
        return Target(spec.name, spec.command(), env, spec.cwd)
    return Target(spec.name, serve_command(spec.served_as or spec.name), with_import_path())
