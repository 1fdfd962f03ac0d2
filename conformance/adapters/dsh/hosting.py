"""Puts a session persistence plugin of DeepSeek Harness under test: a published one, or anybody's.

The plugin runs in the published runtime, loaded by ``host_adapter.mjs``. ``{root}`` in its
configuration stands for the folder of a store.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from conformance.adapters.dsh import node, provision
from conformance.adapters.dsh.node import DshUnavailable

__all__ = ["PUBLISHED", "DshUnavailable", "Published", "plugin_command", "published_command"]

_HOST = Path(__file__).resolve().parent / "host_adapter.mjs"
_SCOPE: Final = "@deepseek-ai/dsh-session-persistence"


@dataclass(frozen=True, slots=True)
class Published:
    """A published backend: the version of its runtime, the lock that holds it, its package, its
    configuration, and what it keeps on disk."""

    runtime: str
    lock: str
    package: str
    config: dict[str, Any]
    storage: str


PUBLISHED: Final = {
    "jsonl": Published(
        "0.1.0-rc.8", "0.1.0-rc.8", f"{_SCOPE}-jsonl",
        {"root": "{root}", "compression": "none"}, "storage.jsonl",
    ),
    "jsonl-zstd": Published(
        "0.1.0-rc.8", "0.1.0-rc.8", f"{_SCOPE}-jsonl",
        {"root": "{root}", "compression": "zstd"}, "storage.jsonl-zstd",
    ),
    "sqlite14": Published(
        "0.0.1-rc.1", "sqlite14", f"{_SCOPE}-sqlite", {"path": "{root}/sessions.db"}, "storage.sqlite14"
    ),
}  # fmt: skip
"""Published backends by the name behind ``dsh-backend:``."""


def published_command(name: str, texts: Sequence[Mapping[str, object]]) -> list[str]:
    """The argv of a stdio adapter for a published backend, installed on first use. Raises DshUnavailable."""
    backend = PUBLISHED[name]
    runtime = node.find_node(node.STORAGE_NODE)
    folder = provision.install(backend.runtime, runtime, provision.cache_root(), backend.lock)
    return _argv(runtime, folder, backend.package, backend.config, backend.storage, texts)


def plugin_command(
    module: str, config: dict[str, Any], storage: str, texts: Sequence[Mapping[str, object]]
) -> list[str]:
    """The argv for a plugin of this project: a package name, or a path that begins with a dot or a slash.

    ``storage`` is empty, or the capability that says what the plugin keeps on disk. Raises DshUnavailable.
    """
    runtime = node.find_node(node.STORAGE_NODE)
    return _argv(runtime, Path.cwd(), module, config, storage, texts)


def _argv(
    runtime: str, folder: Path, module: str, config: dict[str, Any], storage: str,
    texts: Sequence[Mapping[str, object]],
) -> list[str]:  # fmt: skip
    known = provision.write_texts(texts, provision.cache_root())
    return [runtime, str(_HOST), str(folder), module, json.dumps(config), storage, str(known)]
