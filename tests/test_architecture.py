"""What the structure promises: who may import whom, and how long a module may be."""

from __future__ import annotations

import ast
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
    knowing = [path for path in sorted(CONFORMANCE.rglob("*.py")) if "reference_impl" in imports(path)]
    assert [path.relative_to(CONFORMANCE).as_posix() for path in knowing] == [
        "adapters/reference.py",
        "adapters/reference_admission.py",
        "adapters/reference_backend.py",
        "adapters/reference_files.py",
        "adapters/reference_load.py",
    ]


LIBRARIES = {"zstd_container.py": {"zstandard"}}
"""What a module of the reference takes from others: a compression is no matter of this specification."""


@pytest.mark.parametrize("path", sorted(REFERENCE.glob("*.py")), ids=lambda path: path.name)
def test_the_reference_imports_nothing_of_ours_or_of_others(path):
    import sys

    assert imports(path) - set(sys.stdlib_module_names) == LIBRARIES.get(path.name, set())


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_are_short(path):
    assert len(path.read_text().splitlines()) <= 400


BESIDE_THE_SURFACE = {
    "backend.py",
    "seqs_codec.py",
    "stored_json.py",
    "jsonl.py",
    "zstd_container.py",
    "jsonl_path.py",
    "chunk_rows.py",
    "closers.py",
    "request_header.py",
    "legacy.py",
    "load.py",
    "clock.py",
    "lossless_json.py",
    "session_header.py",
    "message_shape.py",
    "admission.py",
    "fork.py",
}
"""Modules about how a log is stored or becomes a session, which the bound on the surface does not count."""


def test_the_surface_of_the_reference_stays_within_its_size():
    lines = 0
    for path in REFERENCE.glob("*.py"):
        if path.name in BESIDE_THE_SURFACE:
            continue
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
