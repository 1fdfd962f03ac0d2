"""From the name of an adapter to an open connection."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.adapters.inprocess import Callee, InProcess, describe
from conformance.adapters.limits import Limits
from conformance.adapters.stdio import StdioPool, split_command
from conformance.config import NamedAdapter
from conformance.errors import AdapterError, UsageError
from conformance.ledger import load_ledger
from conformance.operations import STORAGE, known_capability
from conformance.protocol import Connection

FORMS = (
    "reference, dsh, dsh@VERSION, dsh-backend:NAME, dsh-plugin, python:package.module:factory, stdio:COMMAND"
)


@dataclass(frozen=True, slots=True)
class AdapterSpec:
    """How to reach one implementation: a command to run, or a factory to call in this process."""

    name: str
    command: Callable[[], list[str]] | None = None
    factory: Callable[[], Callee] | None = None
    limits: Limits = field(default_factory=Limits)
    env: dict[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    served_as: str | None = None
    """The name under which ``serve`` knows an in-process adapter that has another name here."""

    def connect(self, jobs: int = 1) -> Connection:
        """Open the adapter. Raises AdapterError if it cannot be started or does not greet.

        With more than one job an in-process adapter is served by as many child processes.
        """
        if self.command is not None:
            env = {**os.environ, **self.env} if self.env else None
            return StdioPool(self.command(), jobs, self.limits, env, self.cwd)
        if jobs > 1:
            return StdioPool(
                serve_command(self.served_as or self.name), jobs, self.limits, env=with_import_path()
            )
        assert self.factory is not None
        return InProcess(self.factory(), self.limits)


def resolve(
    name: str, limits: Limits | None = None, named: Mapping[str, NamedAdapter] | None = None
) -> AdapterSpec:
    """What a name stands for; ``named`` holds those of ``session-conformance.toml``.

    Raises UsageError if it stands for nothing.
    """
    bounds = limits or Limits()
    if named and name in named:
        return _from_config(named[name], bounds)
    kind, _, rest = name.partition(":")
    if name == "reference":
        return AdapterSpec(name, factory=_reference, limits=bounds)
    if name == "dsh" or name.startswith("dsh@"):
        version = name.partition("@")[2] or None
        return AdapterSpec(name, command=lambda: _dsh(version), limits=bounds)
    if kind == "dsh-backend" and rest:
        return AdapterSpec(name, command=lambda: _published_backend(rest), limits=bounds)
    if name == "dsh-plugin":
        raise UsageError("dsh-plugin is a plugin that `run` is given: dsh-plugin --module PATH_OR_PACKAGE")
    if kind == "python" and rest:
        return AdapterSpec(name, factory=lambda: load_factory(rest), limits=bounds)
    if kind == "stdio" and rest:
        return AdapterSpec(name, command=lambda: split_command(rest), limits=bounds)
    known = f"; session-conformance.toml names {', '.join(named)}" if named else ""
    raise UsageError(f"unknown adapter {name!r}; an adapter is one of: {FORMS}{known}")


def _from_config(entry: NamedAdapter, limits: Limits) -> AdapterSpec:
    if entry.command is not None:
        words = list(entry.command)
        return AdapterSpec(entry.name, command=lambda: words, limits=limits, env=entry.env, cwd=entry.cwd)
    path = entry.python or ""
    # A factory cannot be given a folder or an environment of its own here, so it is served from one.
    if entry.env or entry.cwd != Path.cwd():
        serve = serve_command(f"python:{path}")
        env = {**with_import_path(), **entry.env}
        return AdapterSpec(entry.name, command=lambda: serve, limits=limits, env=env, cwd=entry.cwd)
    return AdapterSpec(
        entry.name, factory=lambda: load_factory(path), limits=limits, served_as=f"python:{path}"
    )


def serve_command(name: str) -> list[str]:
    """The command that offers any adapter over stdio.

    -P keeps the working directory off the front of the path, where a package of the same name as
    ours may stand.
    """
    return [sys.executable, "-P", "-m", "conformance", "serve", name]


def with_import_path() -> dict[str, str]:
    """This environment with this process's import path, so that a served adapter finds the same modules."""
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


def _published_backend(name: str) -> list[str]:
    from conformance.adapters.dsh import hosting

    if name not in hosting.PUBLISHED:
        known = ", ".join(hosting.PUBLISHED)
        raise UsageError(f"no published backend is called {name}; known are {known}")
    try:
        return hosting.published_command(name, load_ledger().known_texts())
    except hosting.DshUnavailable as error:
        raise AdapterError(str(error)) from None


def plugin(module: str, config: str, storage: str | None, limits: Limits | None = None) -> AdapterSpec:
    """A persistence plugin of the user's. Raises UsageError for a configuration that is no JSON object."""
    try:
        settings = json.loads(config)
    except ValueError as error:
        raise UsageError(f"--config is no JSON: {error}") from None
    if not isinstance(settings, dict):
        raise UsageError('--config must be a JSON object, such as \'{"path": "{root}/store"}\'')
    capability = f"storage.{storage}" if storage else ""
    if storage and not known_capability(capability):
        known = ", ".join(sorted(name.removeprefix("storage.") for name in STORAGE))
        raise UsageError(f"--storage knows {known}, not {storage}")

    def command() -> list[str]:
        from conformance.adapters.dsh import hosting

        try:
            return hosting.plugin_command(module, settings, capability, load_ledger().known_texts())
        except hosting.DshUnavailable as error:
            raise AdapterError(str(error)) from None

    return AdapterSpec("dsh-plugin", command=command, limits=limits or Limits())


def load_factory(path: str) -> Callee:
    """Import ``package.module:factory`` with the working directory on the path, and call the factory."""
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        raise UsageError(f"python:{path} must read python:package.module:factory")
    here = str(Path.cwd())
    importlib.import_module("conformance.adapters.reference")  # before a module of the same name can hide it
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
        factory: Any = module
        for name in attribute.split("."):
            factory = getattr(factory, name)
        callee: Any = factory()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        told = describe(error)
        raise AdapterError(f"adapter python:{path} cannot be loaded from {here}: {told}") from None
    if not callable(callee):
        raise AdapterError(
            f"adapter python:{path}: the factory returned {type(callee).__name__}, which is not callable;"
            " it must return a function from a request to an answer"
        )
    return callee  # type: ignore[no-any-return]
