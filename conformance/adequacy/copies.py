"""Copies of the reference with one module changed, reached through the adapter like the original."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

from conformance.adapters.inprocess import Callee
from conformance.adapters.registry import resolve
from conformance.reference_sources import PACKAGE, package_folder, sources

ADAPTER = "conformance.adapters.reference"


@cache
def original_code(module: str) -> CodeType:
    """The compiled original of one module."""
    return compile(sources()[module], str(package_folder() / f"{module}.py"), "exec")


def load(changed: Mapping[str, str]) -> Callee:
    """An adapter over a copy of the reference in which some modules have another source.

    Whatever the changed code raises while it is loaded is raised here.
    """
    sources()  # read while the import system still knows the original
    with own_modules():
        finder = CopyFinder(changed)
        sys.meta_path.insert(0, finder)
        try:
            adapter = resolve("reference")
            assert adapter.factory is not None
            return adapter.factory()
        finally:
            sys.meta_path.remove(finder)


@contextmanager
def own_modules() -> Iterator[None]:
    """Take the reference and its adapter out of the import system, and put them back as they were."""
    prefixes = (f"{PACKAGE}.", f"{ADAPTER}.", f"{ADAPTER}_")
    kept = {
        name: module
        for name, module in sys.modules.items()
        if name in (PACKAGE, ADAPTER) or name.startswith(prefixes)
    }
    parent = sys.modules["conformance.adapters"]
    kept_attribute = parent.__dict__.pop("reference", None)
    for name in kept:
        del sys.modules[name]
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name in (PACKAGE, ADAPTER) or name.startswith(prefixes)]:
            del sys.modules[name]
        sys.modules.update(kept)
        parent.__dict__.pop("reference", None)
        if kept_attribute is not None:
            parent.__dict__["reference"] = kept_attribute


class CopyFinder:
    """Finds the modules of the reference and runs our copy of their source instead of the file."""

    def __init__(self, changed: Mapping[str, str]) -> None:
        self.changed = changed

    def find_spec(self, full: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The import system asks; we answer for the reference only."""
        if full == PACKAGE:
            spec = ModuleSpec(full, self, is_package=True)  # type: ignore[arg-type]
            spec.submodule_search_locations = []
            return spec
        if full.startswith(f"{PACKAGE}."):
            return ModuleSpec(full, self)  # type: ignore[arg-type]
        return None

    def create_module(self, spec: ModuleSpec) -> None:
        """The usual empty module will do."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed source, or the original."""
        name = module.__name__.removeprefix(PACKAGE).lstrip(".") or "__init__"
        if name not in sources():
            raise ModuleNotFoundError(f"no module {module.__name__}")
        exec(self.code(name), module.__dict__)  # noqa: S102 - a copy of our own source, changed in one place

    def code(self, name: str) -> CodeType:
        if name in self.changed:
            return compile(self.changed[name], f"<mutant of {name}>", "exec")
        return original_code(name)
