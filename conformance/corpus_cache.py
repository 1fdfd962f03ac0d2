"""The corpus as it was read the last time, so that a command need not read and check all its YAML again.

What is kept counts for one state of vectors, ledger, schemas and this package alone, which the name of
the file says; anything that is wrong with it means that the YAML is read. Plain JSON: nothing in it is run.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from conformance.cache import CacheError, cache_root
from conformance.cases import Case, Expectation, Family, expectation
from conformance.errors import UsageError
from conformance.files import write_whole
from conformance.resources import PACKAGE, spec_dir, vectors_dir

KEPT = 3  # as many states as somebody goes to and fro between
NAME = "corpus-{}.json"


def state() -> str:
    """SHA-256 over all that the cases and the checks of them depend on."""
    digest = hashlib.sha256(repr(sys.version_info[:3]).encode())
    for name, path in _sources():
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()[:32]


def _sources() -> Iterator[tuple[str, Path]]:
    """Vectors, the specification's data, and the package, since whatever is in it may matter."""
    for folder, ending in (
        (vectors_dir(), (".yaml", ".yml")),
        (spec_dir(), (".yaml", ".json")),
        (PACKAGE, ".py"),
    ):
        for here, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(names):
                if name.endswith(ending):
                    path = Path(here, name)
                    yield path.relative_to(folder).as_posix(), path


def recall(key: str) -> list[Case] | None:
    """The cases of a state, or None if they are not kept or not readable."""
    try:
        path = cache_root() / NAME.format(key)
        with path.open(encoding="ascii") as stream:
            entries = json.load(stream)
        os.utime(path)  # what is in use is not what goes first
        return [_case(entry) for entry in entries]
    except (CacheError, OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def keep(key: str, cases: Iterable[Case]) -> None:
    """Keep the cases of a state, and drop the states that were not used for longest. Never an error."""
    with suppress(CacheError, UsageError, OSError, RecursionError):
        root = cache_root()
        text = json.dumps([_entry(case) for case in cases], separators=(",", ":"))
        write_whole(root / NAME.format(key), text)
        found = sorted(root.glob(NAME.format("*")), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in found[KEPT:]:
            path.unlink(missing_ok=True)


def _entry(case: Case) -> dict[str, Any]:
    """A case as JSON; of its expectation what was written, from which the other is made again."""
    fields = {name: getattr(case, name) for name in Case.__dataclass_fields__}
    del fields["expect"]
    family = case.family
    file = Path(case.file).relative_to(vectors_dir()).as_posix()
    return {
        **fields,
        "file": file,
        "family": family and {name: getattr(family, name) for name in Family.__dataclass_fields__},
    }


def _case(entry: dict[str, Any]) -> Case:
    family = None if entry["family"] is None else Family(**entry["family"])
    written = entry["expect_written"]
    return Case(
        **{
            **entry,
            "file": str(vectors_dir() / entry["file"]),
            "rules": tuple(entry["rules"]),
            "needs": tuple(entry["needs"]),
            "family": family,
        },
        expect=expectation(written) if family is None else Expectation("family", ()),
    )
