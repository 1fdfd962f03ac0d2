"""What a run found, one JSON file each: enough to ask the same again anywhere, and to be read by a person."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import __version__, schemas
from conformance.errors import UsageError, VectorError
from conformance.files import write_whole
from conformance.fuzzing.campaign import Difference
from conformance.fuzzing.comparing import conditions
from conformance.fuzzing.law_runs import Breach
from conformance.fuzzing.parties import Table
from conformance.fuzzing.spelling import EDITION, request_of
from conformance.json_text import dump_canonical
from conformance.ledger import Ledger
from conformance.protocol import Answer

FORMAT = 1
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Finding:
    """A saved finding: the file, and what it says (see ``finding.schema.json``)."""

    path: Path
    document: Document

    @property
    def is_law(self) -> bool:
        return "law" in self.document

    @property
    def title(self) -> str:
        title: str = self.document["title"]
        return title


def document_of(difference: Difference, table: Table, ledger: Ledger) -> Document:
    """A difference as it is saved."""
    unlike, capability = difference.unlike, difference.recipe.capability
    implementations = {party.name: party.implementation for party in table.parties}
    step = {} if unlike.at is None else {"step": unlike.at}
    return {
        "format": FORMAT,
        "suite": __version__,
        "title": f"{capability}: {difference.pair[0]} {unlike.one}, {difference.pair[1]} {unlike.other}",
        "capability": capability,
        "edition": EDITION,
        "rules": rules_of(difference, ledger),
        "request": request_of(difference.members),
        "difference": {
            "between": list(difference.pair),
            "what": unlike.what,
            "path": unlike.path,
            "key": difference.key,
            **step,
        },
        "answers": [
            {"adapter": name, "implementation": implementations[name], **written(answer)}
            for name, answer in difference.answers.items()
        ],
        "drawn": {"recipe": difference.recipe.name, "origin": difference.origin, "seen": difference.seen},
    }


def law_document(breach: Breach) -> Document:
    """A broken law as it is saved."""
    return {
        "format": FORMAT,
        "suite": __version__,
        "title": f"law {breach.law.name}: {breach.says}"[:300],
        "law": breach.law.name,
        "edition": EDITION,
        "rules": list(breach.law.rules),
        "input": breach.given,
        "adapter": breach.party.name,
        "implementation": breach.party.implementation,
        "exchanges": [
            {"capability": each.capability, "request": each.request, **written(each.answer)}
            for each in breach.exchanges
        ],
        "drawn": {"recipe": breach.law.name, "origin": breach.origin, "seen": breach.seen},
    }


def written(answer: Answer) -> Document:
    """An answer as a member of its kind."""
    return {answer.kind: answer.value}


def answer_in(entry: Document) -> Answer:
    """The answer that an entry holds."""
    known = {"adapter", "implementation", "capability", "request"}
    ((kind, value),) = ((name, value) for name, value in entry.items() if name not in known)
    return Answer(kind, value)


def rules_of(difference: Difference, ledger: Ledger) -> list[str]:
    """The rules whose conditions one of the two names; none where two results differ."""
    found = []
    for answer in (difference.unlike.first, difference.unlike.second):
        if answer.kind == "rejected":
            for name in sorted(conditions(answer, ledger)):
                if name in ledger.conditions and ledger.conditions[name].id not in found:
                    found.append(ledger.conditions[name].id)
    return found


def save(folder: Path, document: Document) -> Path:
    """Write a finding; its name follows from what it is, so that the same one is not saved twice."""
    words = re.sub(r"[^a-z0-9]+", "-", document["title"].lower()).strip("-")[:60].strip("-")
    core = document["input"] if "law" in document else document["request"]
    digest = hashlib.sha256(dump_canonical([document["title"], core]).encode()).hexdigest()[:8]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{words}-{digest}.json"
    write_whole(path, json.dumps(document, indent=1) + "\n", "finding")
    return path


def load(path: Path) -> Finding:
    """Read a saved finding. Raises VectorError where it is none."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise VectorError(f"no finding can be read: {error}", file=path) from None
    wrong = schemas.fault("finding", document)
    if wrong is not None:
        raise VectorError(f"no finding: {wrong}", file=path)
    return Finding(path, document)


def find(paths: list[Path]) -> list[Finding]:
    """The findings of files and folders. Raises UsageError if there is none."""
    files: list[Path] = []
    for path in paths:
        files += sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise UsageError("no finding there: name a file that fuzz --save has written, or its folder")
    return [load(file) for file in files]
