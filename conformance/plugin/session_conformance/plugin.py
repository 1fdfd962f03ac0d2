"""What pytest loads: options, and a hook that does nothing until ``--adapter`` is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options of the plugin."""
    group = parser.getgroup("session-conformance")
    group.addoption(
        "--adapter", metavar="ADAPTER", help="collect vector files as tests of this implementation"
    )
    group.addoption(
        "--conformance-strict", default="", metavar="LIST", help="condition, position, or both with a comma"
    )
    group.addoption(
        "--conformance-time-limit",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="how long one answer may take",
    )


def pytest_configure(config: pytest.Config) -> None:
    """With ``--adapter``, load the runner; without, leave pytest as it is."""
    if config.getoption("--adapter"):
        from session_conformance.loading import ClashError, load_runner

        try:
            config.pluginmanager.register(load_runner().Collector(config), "session-conformance-collector")
        except ClashError as error:
            raise pytest.UsageError(str(error)) from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Any:
    """Vector files become tests: YAML that begins with ``format:``."""
    collector: Any = parent.config.pluginmanager.get_plugin("session-conformance-collector")
    return None if collector is None else collector.file(file_path, parent)
