"""From the name of an adapter to an open connection."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.adapters.inprocess import Callee, InProcess
from conformance.adapters.limits import Limits
from conformance.adapters.stdio import StdioPool, split_command
from conformance.errors import AdapterError, UsageError
from conformance.ledger import load_ledger
from conformance.protocol import Connection

FORMS = "reference, dsh, dsh@VERSION, python:package.module:factory, stdio:COMMAND"


@dataclass(frozen=True, slots=True)
class AdapterSpec:
    """How to reach one implementation: a command to run, or a factory to call in this process."""

    name: str
    command: Callable[[], list[str]] | None = None
    factory: Callable[[], Callee] | None = None
    limits: Limits = field(default_factory=Limits)

    def connect(self, jobs: int = 1) -> Connection:
        """Open the adapter. Raises AdapterError if it cannot be started or does not greet.

        With more than one job an in-process adapter is served by as many child processes.
        """
        if self.command is not None:
            return StdioPool(self.command(), jobs, self.limits)
        if jobs > 1:
            return StdioPool(serve_command(self.name), jobs, self.limits, env=_with_working_directory())
        assert self.factory is not None
        return InProcess(self.factory())


def resolve(name: str, limits: Limits | None = None) -> AdapterSpec:
    """What a name stands for. Raises UsageError if it stands for nothing."""
    bounds = limits or Limits()
    kind, _, rest = name.partition(":")
    if name == "reference":
        return AdapterSpec(name, factory=_reference, limits=bounds)
    if name == "dsh" or name.startswith("dsh@"):
        version = name.partition("@")[2] or None
        return AdapterSpec(name, command=lambda: _dsh(version), limits=bounds)
    if kind == "python" and rest:
        return AdapterSpec(name, factory=lambda: load_factory(rest), limits=bounds)
    if kind == "stdio" and rest:
        return AdapterSpec(name, command=lambda: split_command(rest), limits=bounds)
    raise UsageError(f"unknown adapter {name!r}; an adapter is one of: {FORMS}")


def serve_command(name: str) -> list[str]:
    """The command that offers any adapter over stdio."""
    return [sys.executable, "-m", "conformance", "serve", name]


def _with_working_directory() -> dict[str, str]:
    """This environment, with this process's import path, so that a served adapter finds the same modules."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)}


def _reference() -> Callee:
    from conformance.adapters import reference

    return reference.create()


def _dsh(version: str | None) -> list[str]:
    from conformance.adapters.dsh import provision

    try:
        return provision.command(version or provision.DEFAULT_VERSION, load_ledger().known_texts())
    except provision.DshUnavailable as error:
        raise AdapterError(str(error)) from None


def load_factory(path: str) -> Callee:
    """Import ``package.module:factory`` with the working directory on the path, and call the factory."""
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise UsageError(f"python:{path} must read python:package.module:factory")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
        factory: Any = module
        for name in attribute.split("."):
            factory = getattr(factory, name)
        callee: Any = factory()
    except (Exception, SystemExit) as error:
        raise AdapterError(
            f"adapter python:{path} cannot be loaded: {type(error).__name__}: {error}"
        ) from None
    if not callable(callee):
        raise AdapterError(
            f"adapter python:{path}: the factory returned {type(callee).__name__}, which is not callable;"
            " it must return a function from a request to an answer"
        )
    return callee  # type: ignore[no-any-return]
