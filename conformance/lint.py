"""The care of the corpus: digests, and the rules that a good case keeps beyond being loadable."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from conformance.cases import Case
from conformance.errors import VectorError

DIGESTS = "digests.json"


def digests_of(cases: Iterable[Case]) -> dict[str, str]:
    """Case id to digest, sorted by id."""
    return {case.id: case.digest for case in sorted(cases, key=lambda case: case.id)}


def read_digests(folder: Path) -> dict[str, str]:
    """The digests that are on record. Raises VectorError if the file is missing or broken."""
    path = folder / DIGESTS
    try:
        recorded: dict[str, str] = json.loads(path.read_text("ascii"))
    except (OSError, ValueError) as error:
        raise VectorError(f"cannot be read: {error}", file=path) from None
    return recorded


def write_digests(folder: Path, cases: Iterable[Case]) -> None:
    """Record the digests of these cases, replacing the file in one step."""
    path = folder / DIGESTS
    draft = path.with_suffix(".json.new")
    draft.write_text(json.dumps(digests_of(cases), indent=0) + "\n", "ascii")
    draft.replace(path)


def compare_digests(folder: Path, cases: Sequence[Case]) -> list[str]:
    """What differs from the digests on record, one sentence per case; empty if nothing does."""
    recorded, now = read_digests(folder), digests_of(cases)
    place = {case.id: f"{case.file}:{case.line}" for case in cases}
    findings = [
        f"case {name} is on record but gone; ids are permanent" for name in recorded.keys() - now.keys()
    ]
    for name in now:
        if name not in recorded:
            findings.append(f"{place[name]}: case {name} has no digest on record")
        elif recorded[name] != now[name]:
            findings.append(f"{place[name]}: case {name} is not what its digest on record says")
    return sorted(findings)
