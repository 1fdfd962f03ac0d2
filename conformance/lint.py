"""The care of the corpus: digests, and the rules that a good case keeps beyond being loadable."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from conformance import schemas
from conformance.cases import Case
from conformance.errors import VectorError
from conformance.json_text import parse_exact

DIGESTS = "digests.json"
RETIRED = "retired.json"
TYPED_OPERATIONS = ("fold", "messages", "window", "transcript")


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


def read_retired(folder: Path) -> dict[str, dict[str, Any]]:
    """Ids that are no longer in use: each with the id it has now (or null) and the reason."""
    path = folder / RETIRED
    try:
        retired: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise VectorError(f"cannot be read: {error}", file=path) from None
    wrong = schemas.fault("retired", retired)
    if wrong is not None:
        raise VectorError(str(wrong), file=path)
    return retired


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


def shape_findings(cases: Iterable[Case]) -> Iterator[str]:
    """Events that no typed port could hold, in cases that everybody is asked.

    Such a case belongs into an optional file: what it shows is not what its rule says.
    """
    for case in cases:
        if case.optional or case.op not in TYPED_OPERATIONS:
            continue
        for index, event in enumerate(events_of(case)):
            wrong = schemas.fault("event", event)
            if wrong is not None:
                yield f"{case.file}:{case.line}: case {case.id}: event {index} would not be admitted: {wrong}"


def events_of(case: Case) -> list[Any]:
    """The events of a case's request, in whichever spelling they stand."""
    request = case.request
    events = request["events"] if "events" in request else parse_exact(request["events_text"])
    return events if isinstance(events, list) else []


def manner_findings(cases: Iterable[Case]) -> Iterator[str]:
    """What a good case has beside being right: a reason, an id that begins with its topic."""
    for case in cases:
        if case.why is None:
            yield f"{case.file}:{case.line}: case {case.id} does not say why it is there"
        if not case.id.startswith(case.topic.replace("/", ".") + "."):
            yield f"{case.file}:{case.line}: case {case.id} should begin with its topic, {case.topic}"


def all_findings(folder: Path, cases: Sequence[Case]) -> list[str]:
    """Everything that ``session-conformance lint`` has to say."""
    return [*compare_digests(folder, cases), *shape_findings(cases), *manner_findings(cases)]
