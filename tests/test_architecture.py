"""What the structure promises: who may import whom, and how long a module may be."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import conformance
import reference_impl

CONFORMANCE = Path(conformance.__file__).parent
REFERENCE = Path(reference_impl.__file__).parent
MODULES = sorted(CONFORMANCE.rglob("*.py")) + sorted(REFERENCE.rglob("*.py"))


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
    return found


def test_the_reference_is_known_to_its_adapter_only():
    """The adapter is reference.py and, beside it, one reference_AREA.py for each area that is long."""
    knowing = [path for path in CONFORMANCE.rglob("*.py") if "reference_impl" in imports(path)]
    places = [path.relative_to(CONFORMANCE).as_posix() for path in knowing]
    assert "adapters/reference.py" in places
    assert [place for place in places if not re.fullmatch(r"adapters/reference(_[a-z]+)?\.py", place)] == []


LIBRARIES = {"zstd_container.py": {"zstandard"}, "sqlite_rows.py": {"zstandard"}}
"""What a module of the reference takes from others: a compression is no matter of this specification."""


@pytest.mark.parametrize("path", sorted(REFERENCE.glob("*.py")), ids=lambda path: path.name)
def test_the_reference_imports_nothing_of_ours_or_of_others(path):
    import sys

    assert imports(path) - set(sys.stdlib_module_names) == LIBRARIES.get(path.name, set())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_are_short(path):
    assert len(path.read_text().splitlines()) <= 400


SURFACE = {
    "event_log.py", "fold.py", "linear_fallback.py", "marker.py", "projection.py", "provenance.py",
    "rejection.py", "replace.py", "rewrite.py", "session.py", "surface_view.py", "transcript.py",
    "tutorial.py", "values.py",
}  # fmt: skip
"""The modules of the surface; the others are about how a log is stored, repaired and made a session of."""


def test_the_surface_of_the_reference_stays_within_its_size():
    lines = 0
    assert {path.name for path in REFERENCE.glob("*.py")} >= SURFACE
    for path in (REFERENCE / name for name in SURFACE):
        tree = ast.parse(path.read_text())
        texts = {
            line
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            for line in range(node.lineno, (node.end_lineno or 0) + 1)
        }
        code = [
            number
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if line.strip() and not line.strip().startswith("#") and number not in texts
        ]
        lines += len(code)
    assert lines <= 700
