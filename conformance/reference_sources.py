"""Where the reference stands, and what its modules say: their text, and never the code itself.

The tracing matrix looks for rule ids in it, and mutants are made of it. Nothing here imports the
reference; only its adapter does that.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "reference_impl"


@cache
def package_folder() -> Path:
    """The folder of the package, found without importing it."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations)))


@cache
def sources() -> dict[str, str]:
    """The text of every module of the reference, by its name without the package."""
    return {path.stem: path.read_text("utf-8") for path in sorted(package_folder().glob("*.py"))}
