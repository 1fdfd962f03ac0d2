"""What earlier runs found out: one outcome for each mutant, good as long as nothing it rests on changes.

The file holds, by the id of a mutant, the digest of all that its outcome depends on, and the
outcome. A mutant has one entry at most, so the file does not grow from run to run.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from conformance.adequacy.mutant import Mutant, Outcome
from conformance.adequacy.trial import Witness
from conformance.cases import Case
from conformance.reference_sources import package_folder
from conformance.resources import PACKAGE, spec_dir

Known = dict[str, tuple[str, Outcome]]
"""By the id of a mutant: its key, and what became of it."""

_TYPES = {
    "status": (str,),
    "case": (str, type(None)),
    "by_rule": (bool, type(None)),
    "reason": (str, type(None)),
    "seen_by": (str, type(None)),
}
_STATUSES = ("killed", "survived", "not-applicable", "broken")


def foundation_files() -> list[Path]:
    """Every file that stands between a case and its verdict, the reference itself included.

    A mutant can reach code that the original does not, so the reference counts as a whole.
    """
    ours = [
        path for name in (".", "adapters", "adequacy", "families") for path in (PACKAGE / name).glob("*.py")
    ]
    spec = [spec_dir() / "rules.yaml", *(spec_dir() / "schemas").rglob("*.json")]
    return sorted({*ours, *package_folder().glob("*.py"), *spec})


def foundation(files: Iterable[Path], python: str = sys.version) -> str:
    """What all outcomes rest on, as a digest: those files, and the Python that runs them."""
    total = hashlib.sha256(python.encode())
    for path in files:
        content = path.read_bytes()
        total.update(f"\n{path.parent.name}/{path.name} {len(content)}\n".encode() + content)
    return total.hexdigest()


def key_of(mutant: Mutant, able: Sequence[Case], witnesses: Sequence[Witness], base: str) -> str:
    """What one outcome depends on: the foundation, the mutant, and the cases that execute what it changes."""
    total = hashlib.sha256(base.encode())
    for part in (mutant.id, mutant.module, str(mutant.rule), mutant.source):
        total.update(f"\n{len(part)} {part}".encode())
    for case in (*able, *(witness.case for witness in witnesses)):
        total.update(f"\n{case.id} {case.digest} {','.join(case.rules)}".encode())
    return total.hexdigest()


def read(path: Path) -> Known:
    """Outcomes of earlier runs. A file or an entry that is not as we write it is as good as none."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    known: Known = {}
    for name, entry in document.items() if isinstance(document, dict) else ():
        if isinstance(entry, dict) and entry.keys() == {"key", "outcome"} and isinstance(entry["key"], str):
            outcome = outcome_of(entry["outcome"])
            if outcome is not None:
                known[name] = (entry["key"], outcome)
    return known


def outcome_of(written: Any) -> Outcome | None:
    """An outcome as it was written, or None."""
    if not isinstance(written, dict) or written.keys() != {field.name for field in fields(Outcome)}:
        return None
    if not all(isinstance(written[name], types) for name, types in _TYPES.items()):
        return None
    return Outcome(**written) if written["status"] in _STATUSES else None


def write(path: Path, known: Known, wanted: Container[str] | None = None) -> None:
    """Keep outcomes, of the ``wanted`` mutants only where those are given.

    Where nothing can be kept, nothing is lost but time.
    """
    document = {
        name: {"key": key, "outcome": asdict(outcome)}
        for name, (key, outcome) in known.items()
        if wanted is None or name in wanted
    }
    draft = path.with_suffix(f".{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(document), "utf-8")
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink()
