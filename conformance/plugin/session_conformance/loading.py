"""Import the runner, and say clearly when another package called ``conformance`` stands in its way."""

from __future__ import annotations

import importlib
from typing import Any


class ClashError(ImportError):
    """``conformance`` is somebody else's package here."""


def load_runner() -> Any:
    """The module ``conformance.pytest_runner``. Raises ClashError if ``conformance`` is not ours."""
    found = importlib.import_module("conformance")
    if not hasattr(found, "SESSION_CONFORMANCE"):
        place = getattr(found, "__file__", None) or next(iter(getattr(found, "__path__", ["?"])))
        raise ClashError(
            f"session-conformance needs its package 'conformance', but {place} comes first on the path;"
            " run pytest from another folder, with --import-mode=importlib, or use the command"
            " session-conformance run instead"
        )
    return importlib.import_module("conformance.pytest_runner")
