"""The list of generic mutants that no case kills, each with the reason (``equivalent.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from conformance import schemas, strict_yaml
from conformance.adequacy.mutant import Outcome
from conformance.errors import VectorError

FILE = Path(__file__).with_name("equivalent.yaml")
KINDS = ("equivalent", "unjudged")


@dataclass(frozen=True, slots=True)
class Excuse:
    """One entry: ``kind`` is equivalent (no answer tells it) or unjudged (only ``either`` cases see it)."""

    mutant: str
    kind: str
    reason: str
    line: int


def load_excuses(path: Path = FILE) -> list[Excuse]:
    """The whole list. Raises VectorError with file and line."""
    document, lines = strict_yaml.load(path)
    wrong = schemas.fault("equivalent", document)
    if wrong is not None:
        raise VectorError(str(wrong), file=path, line=lines.at(document, wrong.path))
    excuses: dict[str, Excuse] = {}
    for kind in KINDS:
        for number, group in enumerate(document[kind]):
            for index, name in enumerate(group["mutants"]):
                line = lines.at(document, [kind, number, "mutants", index])
                if name in excuses:
                    told = f"{name} is listed already on line {excuses[name].line}"
                    raise VectorError(told, file=path, line=line)
                excuses[name] = Excuse(name, kind, group["reason"], line)
    return list(excuses.values())


def excuse(
    outcomes: Mapping[str, Outcome], excuses: list[Excuse], *, whole: bool
) -> tuple[dict[str, Outcome], list[str]]:
    """The outcomes with justified survivors renamed, and a sentence for each entry that justifies nothing.

    ``whole`` says that all mutants were tried, so that an entry without an outcome is no mutant.
    """
    judged = dict(outcomes)
    wrong: list[str] = []
    for entry in excuses:
        outcome = outcomes.get(entry.mutant)
        if outcome is None and not whole:
            continue
        told = objection(entry, outcome)
        if told is not None:
            wrong.append(f"{FILE.name}:{entry.line}: {entry.mutant}: {told}")
        elif outcome is not None:
            judged[entry.mutant] = replace(outcome, status=entry.kind, reason=entry.reason)
    return judged, wrong


def objection(entry: Excuse, outcome: Outcome | None) -> str | None:
    """Why an entry does not hold, or None if it does."""
    if outcome is None:
        return "is no mutant (any more); take the entry out"
    if outcome.status != "survived":
        return f"is {outcome.status}; take the entry out"
    if entry.kind == "equivalent" and outcome.seen_by is not None:
        return f"is not equivalent, for {outcome.seen_by} is answered differently; list it as unjudged"
    if entry.kind == "unjudged" and outcome.seen_by is None:
        return "is answered like the original by every either case too; list it as equivalent, or add a case"
    return None
