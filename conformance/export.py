"""The corpus as plain JSON: no YAML, no shorthand, nothing left to expand."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.cases import Case
from conformance.errors import UsageError
from conformance.families.answers import expansion
from conformance.json_text import dump_canonical
from conformance.resources import spec_dir

FORMAT = 1


def export(cases: Sequence[Case], target: Path) -> int:
    """Write one JSON file per topic, the schemas, and an index with digests; return the number of cases.

    The same corpus gives the same bytes. The target must be empty, or an earlier export.
    """
    write_folder(target, lambda folder: _write_all(cases, folder), _is_export)
    return len(cases)


def write_folder(target: Path, fill: Callable[[Path], None], is_ours: Callable[[Path], bool]) -> None:
    """Make a folder in one step: filled aside, then moved into place of nothing or of an earlier one of ours.

    Raises UsageError if something else is there, or if the disk refuses.
    """
    target = target.resolve()
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target} is not a folder")
    if target.is_dir() and any(target.iterdir()) and not is_ours(target):
        raise UsageError(f"{target} holds something else already; name an empty folder or an earlier export")
    draft: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        fill(draft)
        draft.chmod(0o755)
        if target.exists():
            shutil.rmtree(target)
        draft.rename(target)
    except OSError as error:
        raise UsageError(f"cannot export to {target}: {error}") from None
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)


def _is_export(folder: Path) -> bool:
    try:
        index = json.loads((folder / "index.json").read_text("ascii"))
    except (OSError, ValueError):
        return False
    return isinstance(index, dict) and index.get("suite") == "session-conformance"


def _write_all(cases: Sequence[Case], folder: Path) -> None:
    topics: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        topics[case.topic].append(case)
    for topic, members in topics.items():
        document = {"format": FORMAT, "topic": topic, "cases": [case_document(case) for case in members]}
        _write(folder / "cases" / f"{topic}.json", document)
    for case in cases:
        if case.family is not None:
            _write_members(case, folder / "families" / f"{case.id}.jsonl")
    index = {
        "suite": "session-conformance",
        "version": __version__,
        "format": FORMAT,
        "topics": {topic: len(members) for topic, members in sorted(topics.items())},
        "digests": {case.id: case.digest for case in sorted(cases, key=lambda case: case.id)},
    }
    _write(folder / "index.json", index)
    shutil.copytree(spec_dir() / "schemas", folder / "schemas", copy_function=shutil.copyfile)


def case_document(case: Case) -> dict[str, Any]:
    """One case as JSON. ``request`` is the request of the protocol, without its id.

    Of a family it is what all members share; ``families/ID.jsonl`` has the rest of each, and its answer.
    """
    document: dict[str, Any] = {
        "id": case.id,
        "edition": case.edition,
        "op": case.capability,
        "rules": list(case.rules),
        "evidence": case.evidence,
        "digest": case.digest,
    }
    if case.family is None:
        document |= {"request": json.loads("{" + case.body), "expect": case.expect_written}
    else:
        document |= {
            "family": case.request["family"],
            "members": case.expect_written,
            "request": json.loads("{" + case.body),
        }
    for name in ("why", "seed"):
        if getattr(case, name) is not None:
            document[name] = getattr(case, name)
    if case.optional:
        document["optional"] = True
    if case.needs:
        document["needs"] = list(case.needs)
    return document


def _write_members(case: Case, path: Path) -> None:
    """The expansion of a family: per line what one request has beside the others, and its expectation."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="ascii", newline="\n") as file:
        for member, right in expansion(case):
            file.write(dump_canonical({"request": member, "expect": {right.kind: right.value}}) + "\n")


def _write(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", "ascii", newline="\n")
