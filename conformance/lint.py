"""The care of the corpus: digests, and the rules that a good case keeps beyond being loadable."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from conformance import schemas
from conformance.cases import Case
from conformance.errors import VectorError
from conformance.json_text import NestingError, parse_exact

DIGESTS = "digests.json"
RETIRED = "retired.json"
STEPS = ("push", "validate", "amend")
UNSHAPED = ("tutorial", "session.live", "normalise")
"""Operations whose events have shapes of their own, which the schema of the operation holds."""


def digests_of(cases: Iterable[Case]) -> dict[str, str]:
    """Case id to digest, sorted by id."""
    return {case.id: case.digest for case in sorted(cases, key=lambda case: case.id)}


def read_digests(folder: Path) -> dict[str, str]:
    """The digests that are on record. Raises VectorError if the file is missing or broken."""
    recorded: dict[str, str] = read_checked(folder / DIGESTS, "digests")
    return recorded


def read_retired(folder: Path) -> dict[str, dict[str, Any]]:
    """Ids that are no longer in use: each with the id it has now (or null) and the reason."""
    retired: dict[str, dict[str, Any]] = read_checked(folder / RETIRED, "retired")
    return retired


def read_checked(path: Path, schema: str) -> Any:
    """A JSON file that fits its schema. Raises VectorError if it is missing or does not."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise VectorError(f"cannot be read: {error.strerror or error}", file=path) from None
    except (ValueError, RecursionError) as error:
        raise VectorError(f"is not JSON: {error}", file=path) from None
    wrong = schemas.fault(schema, document)
    if wrong is not None:
        raise VectorError(str(wrong), file=path)
    return document


def write_digests(folder: Path, cases: Sequence[Case]) -> None:
    """Record the digests of these cases, replacing the file in one step.

    Raises VectorError, and writes nothing, where that would drop an id that is not retired.
    """
    path = folder / DIGESTS
    recorded = read_digests(folder) if path.exists() else {}
    lost = sorted(recorded.keys() - digests_of(cases).keys() - read_retired(folder).keys())
    if lost:
        raise VectorError(
            f"holds ids of cases that are gone: {', '.join(lost)}. Ids are permanent: bring the cases back,"
            f" or say in {RETIRED} what became of each; nothing was written",
            file=path,
        )
    draft = path.with_suffix(".json.new")
    draft.write_text(json.dumps(digests_of(cases), indent=0) + "\n", "ascii")
    draft.replace(path)


def compare_digests(folder: Path, cases: Sequence[Case]) -> list[str]:
    """What differs from the digests on record, one sentence per case; empty if nothing does."""
    recorded, now, retired = read_digests(folder), digests_of(cases), read_retired(folder)
    place = {case.id: f"{case.file}:{case.line}" for case in cases}
    findings = []
    for name in recorded.keys() - now.keys():
        if name in retired:
            findings.append(f"case {name} is retired, but still on record; lint --write takes it off")
        else:
            findings.append(
                f"case {name} is on record but gone; ids are permanent, so {RETIRED} must say what it became"
            )
    for name in now:
        if name not in recorded:
            findings.append(f"{place[name]}: case {name} has no digest on record")
        elif recorded[name] != now[name]:
            findings.append(f"{place[name]}: case {name} is not what its digest on record says")
    return sorted(findings)


def retired_findings(folder: Path, cases: Iterable[Case]) -> Iterator[str]:
    """Retired ids that are in use, and ids that a search is led on to but that do not exist."""
    place = {case.id: f"{case.file}:{case.line}" for case in cases}
    retired = read_retired(folder)
    for name, entry in sorted(retired.items()):
        if name in place:
            yield f"{place[name]}: case {name} has an id that is retired; no id is given twice"
        if entry["now"] is not None and entry["now"] not in place and entry["now"] not in retired:
            yield f"{folder / RETIRED}: {name} is said to be {entry['now']} now, which is no case"


def shape_findings(cases: Iterable[Case]) -> Iterator[str]:
    """Events that no typed port could hold, in cases that everybody is asked.

    Such a case belongs into an optional file: what it shows is not what its rule says.
    """
    for case in cases:
        if case.optional or case.op in UNSHAPED or is_refused_by_shape(case):
            continue
        for where, event in events_of(case):
            wrong = schemas.fault("event", event)
            if wrong is not None:
                yield f"{case.file}:{case.line}: case {case.id}: {where} would not be admitted: {wrong}"


def is_refused_by_shape(case: Case) -> bool:
    """Whether a case is there to be refused by an operation that judges shapes itself."""
    return case.op == "admit" and all(each.kind != "result" for each in case.expect.alternatives)


def events_of(case: Case) -> Iterator[tuple[str, Any]]:
    """The events of a case's request, in whichever spelling they stand, each with its place."""
    for name in ("events", "event", "steps"):
        if name in case.request:
            value = case.request[name]
        elif f"{name}_text" in case.request:
            try:
                value = parse_exact(case.request[f"{name}_text"])
            except NestingError:
                continue  # deeper than we can look; such cases are about just that
        else:
            continue
        elements = [value] if name == "event" else value
        for index, element in enumerate(elements if isinstance(elements, list) else ()):
            if name != "steps":
                yield ("the event" if name == "event" else f"event {index}"), element
                continue
            for kind in STEPS:
                if kind in element:
                    yield f"the event of step {index}", element[kind]


def manner_findings(cases: Iterable[Case]) -> Iterator[str]:
    """What a good case has beside being right: a reason, an id that begins with its topic."""
    for case in cases:
        if case.why is None:
            yield f"{case.file}:{case.line}: case {case.id} does not say why it is there"
        if not case.id.startswith(case.topic.replace("/", ".") + "."):
            yield f"{case.file}:{case.line}: case {case.id} should begin with its topic, {case.topic}"


def all_findings(folder: Path, cases: Sequence[Case]) -> list[str]:
    """Everything that ``session-conformance lint`` has to say."""
    return [
        *compare_digests(folder, cases),
        *retired_findings(folder, cases),
        *shape_findings(cases),
        *manner_findings(cases),
    ]
