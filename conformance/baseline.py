"""Known failures: a list that a maintainer keeps, so that CI can be gated from the first day.

A listed failure does not fail the run as long as it is exactly the failure that is listed. One
that passes, fails differently, has expired or is no longer run does: a list that nobody
prunes hides the next fault.
"""

from __future__ import annotations

import datetime
import fnmatch
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance import schemas, strict_yaml
from conformance.errors import UsageError, VectorError
from conformance.files import write_whole
from conformance.json_text import dump_canonical
from conformance.judge import PASSING
from conformance.stream import Record

FORMAT = 1
UNEXPLAINED = "not explained yet"
NOT_ABOUT_THE_CASE = frozenset(("undeclared", "not-run"))


@dataclass
class Entry:
    """One entry of the list: a case, or a pattern with the number of cases that it stands for."""

    pattern: str
    reason: str
    fingerprints: frozenset[str]
    link: str | None = None
    expires: datetime.date | None = None
    matches: int = 1
    line: int = 0
    seen: int = 0

    def covers(self, case: str) -> bool:
        """Whether a case is meant."""
        return case == self.pattern or fnmatch.fnmatchcase(case, self.pattern)


@dataclass
class Baseline:
    """The list, and what has become of it in this run."""

    path: Path
    entries: list[Entry]
    today: datetime.date = field(default_factory=datetime.date.today)

    def apply(self, record: Record) -> Record:
        """A verdict record as the list makes it: a known failure, or one that needs somebody to look."""
        entry = next((entry for entry in self.entries if entry.covers(record["case"])), None)
        if entry is None:
            return record
        status = record["status"]
        if status in NOT_ABOUT_THE_CASE:
            return {**record, "baseline": "listed as a known failure, but not run"}
        entry.seen += 1
        place = f"{self.path}:{entry.line}"
        if status in PASSING:
            told = f"listed as a known failure in {place}, but it passes: take it off the list"
            return {**record, "status": "stale-known-failure", "fault": "baseline", "message": told}
        if entry.expires is not None and entry.expires < self.today:
            return {**record, "baseline": f"its entry in {place} expired on {entry.expires}"}
        if entry.fingerprints and record["fingerprint"] not in entry.fingerprints:
            told = f"listed in {place}, but fails differently: {record['fingerprint']} is not what is listed"
            return {**record, "baseline": told}
        return {**record, "status": "known-failure", "reason": entry.reason}

    def leftovers(self, asked: Iterable[str], *, whole: bool) -> Iterator[str]:
        """Entries that this run does not bear out, one sentence each.

        ``asked`` are the ids of the selected cases; a run over part of the corpus (not ``whole``)
        says nothing of entries for the rest.
        """
        asked = list(asked)
        for entry in self.entries:
            meant = sum(entry.covers(case) for case in asked)
            if meant == 0 and not whole:
                continue
            place = f"{self.path}:{entry.line}"
            if meant == 0 or entry.seen == 0:
                yield f"{place}: {entry.pattern} is listed as a known failure and no longer run"
            elif whole and meant != entry.matches:
                yield f"{place}: {entry.pattern} stands for {meant} cases now, not for {entry.matches}"


def load_baseline(path: Path) -> Baseline:
    """Read and check a list. Raises VectorError with file and line."""
    document, lines = strict_yaml.load(path)
    wrong = schemas.fault("baseline", document)
    if wrong is not None:
        raise VectorError(str(wrong), file=path, line=lines.at(document, wrong.path))
    entries = []
    for written in document["known_failures"]:
        line = lines.of(written)
        pattern = written["case"]
        wild = any(character in pattern for character in "*?[")
        if wild != ("matches" in written):
            told = "a pattern needs matches, the number of cases it stands for; a single case takes none"
            raise VectorError(f"{pattern}: {told}", file=path, line=line)
        entries.append(_entry(written, path, line))
    return Baseline(path, entries)


def _entry(written: dict[str, Any], path: Path, line: int) -> Entry:
    expires = None
    if "expires" in written:
        try:
            expires = datetime.date.fromisoformat(written["expires"])
        except ValueError:
            raise VectorError(
                f"expires must be a date like 2027-01-31, not {written['expires']}", file=path, line=line
            ) from None
    failures = written.get("failure", [])
    return Entry(
        pattern=written["case"],
        reason=written["reason"],
        fingerprints=frozenset([failures] if isinstance(failures, str) else failures),
        link=written.get("link"),
        expires=expires,
        matches=written.get("matches", 1),
        line=line,
    )


def fingerprint(record: Record) -> str:
    """What a failure is, without the texts that vary: status, place, and a digest of both sides."""
    parts = [record["status"]]
    if "passes" in record:
        parts.append(record["passes"])
    difference = record.get("difference")
    if difference is not None and record["status"] == "fail":
        sides = {
            side: _without_texts(difference[side]) for side in ("expected", "found") if side in difference
        }
        digest = hashlib.sha256(dump_canonical(sides).encode()).hexdigest()[:12]
        parts += [difference["path"] or "kind", digest]
    return " ".join(parts)


def _without_texts(side: Any) -> Any:
    """A side of a difference without the message of a refusal, which may hold times or addresses."""
    if isinstance(side, dict) and isinstance(side.get("rejected"), dict):
        return {"rejected": {name: value for name, value in side["rejected"].items() if name != "message"}}
    return side


def updated(records: Iterable[Record], old: Baseline | None) -> list[dict[str, Any]]:
    """The list that a complete run calls for; reasons, links and dates of entries that still hold are kept.

    Raises UsageError for a run that was cut off, or was not about the whole corpus.
    """
    kept = {entry.pattern: entry for entry in old.entries} if old is not None else {}
    failing: dict[str, str] = {}
    start: Record = {}
    end: Record = {}
    for record in records:
        if record["record"] == "start":
            start = record
        elif record["record"] == "end":
            end = record
        elif record["status"] not in (*PASSING, *NOT_ABOUT_THE_CASE, "stale-known-failure"):
            failing[record["case"]] = record["fingerprint"]
    if not end.get("complete"):
        raise UsageError("the run was cut off; a baseline is made from a complete run only")
    if end["counts"].get("not-run") or end["exit"] == 3:
        raise UsageError("the run left cases out or its adapter was at fault; a baseline needs a clean run")
    if not start.get("whole"):
        raise UsageError(
            f"the run was about {start['selection']}; a baseline is made from a run over all cases"
        )
    return [_written(case, failure, _reason_for(case, kept)) for case, failure in sorted(failing.items())]


def _reason_for(case: str, kept: dict[str, Entry]) -> Entry | None:
    return kept.get(case) or next((entry for entry in kept.values() if entry.covers(case)), None)


def _written(case: str, failure: str, old: Entry | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"case": case, "reason": old.reason if old else UNEXPLAINED}
    if old is not None and old.link is not None:
        entry["link"] = old.link
    if old is not None and old.expires is not None:
        entry["expires"] = old.expires.isoformat()
    entry["failure"] = failure
    return entry


def _lines(entries: list[dict[str, Any]]) -> Iterator[str]:
    """The file, every text quoted, so that the strict reader and any other read the same."""
    yield f"# Known failures; every entry must go on failing as it is listed here.\nformat: {FORMAT}\n"
    yield "known_failures:\n" if entries else "known_failures: []\n"
    for entry in entries:
        dash = "-"
        for name, value in entry.items():
            yield f"  {dash} {name}: {json.dumps(value, ensure_ascii=False)}\n"
            dash = " "


def write_baseline(path: Path, entries: list[dict[str, Any]]) -> Counter[str]:
    """Replace the file in one step, and count what it holds: all, and the unexplained ones."""
    write_whole(path, "".join(_lines(entries)), "baseline")
    return Counter(all=len(entries), unexplained=sum(entry["reason"] == UNEXPLAINED for entry in entries))
