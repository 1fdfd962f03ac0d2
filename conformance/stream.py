"""The result stream: one record per line, from which every report is made.

The first record says what ran, one record per case says what became of it, and the last says
that this is all (``complete``) and how it ended. A stream without that last record is the rest of
a run that was cut off. Schema: ``spec/schemas/result-stream.schema.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from conformance.compare import ABSENT, Difference
from conformance.errors import UsageError
from conformance.json_text import nested_deeper
from conformance.judge import PASSING, Verdict

FORMAT = 1
SHOWN_CHARACTERS = 4000
SHOWN_LEVELS = 100

Record = dict[str, Any]


def verdict_record(verdict: Verdict) -> Record:
    """One verdict as a record; members that do not apply are left out."""
    case = verdict.case
    record: Record = {
        "record": "verdict",
        "case": case.id,
        "status": verdict.status,
        "topic": case.topic,
        "capability": case.capability,
        "rules": list(case.rules),
    }
    for name in ("condition", "position", "branch"):
        value = getattr(verdict, name)
        if value is not None:
            record[name] = value
    if verdict.status in PASSING:
        return record
    record["file"], record["line"] = case.file, case.line
    for name in ("fault", "message", "stderr"):
        value = getattr(verdict, name)
        if value:
            record[name] = value[:SHOWN_CHARACTERS]
    if case.why:
        record["why"] = case.why
    if verdict.member is not None:
        record["member"] = {
            "index": verdict.member.index,
            "request": verdict.member.request[:SHOWN_CHARACTERS],
        }
        record["failed"] = verdict.member.failed
    if verdict.difference is not None:
        record["difference"] = difference_record(verdict.difference)
    return record


def difference_record(difference: Difference) -> Record:
    """Path, expected and found; a side that is absent is a member that is not there."""
    record: Record = {"path": difference.path}
    for name, value in (("expected", difference.expected), ("found", difference.found)):
        if value is not ABSENT:
            record[name] = value if _is_short_json(value) else _shortened(value)
    return record


def _is_short_json(value: Any) -> bool:
    try:
        return (
            not nested_deeper(value, SHOWN_LEVELS)
            and len(json.dumps(value, allow_nan=False)) <= SHOWN_CHARACTERS
        )
    except (TypeError, ValueError, RecursionError):
        return False


def _shortened(value: Any) -> str:
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return "something that is nested too deeply or is too large to show"
    return f"{text[:SHOWN_CHARACTERS]}… ({len(text)} characters)"


class StreamWriter:
    """Writes records to a file as they come, so that a run that is cut off leaves what it knew."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begun = False
        try:
            # Appended to for the moment: nothing is lost if the run does not even begin.
            self._file: IO[str] = path.open("a", encoding="ascii", newline="\n", buffering=1)
        except OSError as error:
            raise UsageError(f"report {path} cannot be written: {error.strerror or error}") from None

    def write(self, record: Record) -> None:
        """Append one record. Raises UsageError if the disk refuses it."""
        try:
            if not self._begun:
                self._begun = True
                if self._file.seekable():
                    self._file.truncate(0)
            self._file.write(json.dumps(record, ensure_ascii=True, separators=(",", ":")) + "\n")
        except OSError as error:
            raise UsageError(f"report {self.path} cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        """Flush to disk."""
        try:
            self._file.close()
        except OSError as error:
            raise UsageError(f"report {self.path} cannot be written: {error.strerror or error}") from None


NEEDED = {
    "start": ("suite", "adapter", "implementation", "cases", "strict", "whole"),
    "verdict": ("case", "status", "topic", "rules"),
    "end": ("complete", "exit"),
}
"""Members that a reader relies on; the schema says all there is to say."""


def _is_record(record: Record) -> bool:
    needed = NEEDED.get(record.get("record", ""))
    return needed is not None and all(name in record for name in needed)


def read_stream(path: Path) -> Iterator[Record]:
    """The records of a stored stream. Raises UsageError, naming the line, for anything else."""
    try:
        with path.open(encoding="ascii") as stream:
            for number, line in enumerate(stream, 1):
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise UsageError(f"{path}:{number}: is no record: {error}") from None
                if not isinstance(record, dict) or not _is_record(record):
                    raise UsageError(f"{path}:{number}: is no record of a result stream")
                yield record
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
