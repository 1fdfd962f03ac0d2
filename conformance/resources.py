"""Where the specification and the corpus are: in the checkout if there is one, else in the package."""

from __future__ import annotations

from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


@cache
def data_root() -> Path:
    """The folder that holds ``spec/`` and ``vectors/``; a checkout goes before the wheel's copy."""
    checkout = PACKAGE.parent
    if (checkout / "pyproject.toml").is_file() and (checkout / "spec" / "rules.yaml").is_file():
        return checkout
    return PACKAGE / "_data"


def spec_dir() -> Path:
    """The specification: pages, ``rules.yaml`` and ``schemas/``."""
    return data_root() / "spec"


def vectors_dir() -> Path:
    """The corpus that comes with this package."""
    return data_root() / "vectors"
