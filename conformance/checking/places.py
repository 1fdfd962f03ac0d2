"""Where a log lies: whether its place is the one that its header names, and what its name says."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from conformance.checking.model import FileReport, Finding

PROJECT = re.compile(r"_no-cwd|--.*--")
FILE = re.compile(r"session\.jsonl(\.zstd)?")
VERSIONED = re.compile(r"session\.v(\d+)\.jsonl(\.zstd)?")
PLAIN = re.compile(r"[A-Za-z0-9._-]")
LONGEST_PROJECT = 251


def escaped(text: str) -> str:
    """A text as part of a path: what is not plain is a tilde and four hex digits for each UTF-16 unit."""
    units = text.encode("utf-16-be", "surrogatepass")
    pairs = [units[at : at + 2] for at in range(0, len(units), 2)]
    return "".join(
        chr(pair[1]) if pair[0] == 0 and PLAIN.fullmatch(chr(pair[1])) else f"~{pair.hex().upper()}"
        for pair in pairs
    )


def segment_of(session: str) -> str:
    """The folder of a session."""
    return "~002E" * len(session) if session in (".", "..") else escaped(session)


def project_of(cwd: str) -> str:
    """The folder of a project."""
    parts = re.split(r"[/\\:]+", cwd)
    name = "-".join(escaped(part) for part in parts).lstrip("-")
    return f"--{(name or 'root')[:LONGEST_PROJECT]}--"


def place_findings(report: FileReport, header: dict[str, Any]) -> list[Finding]:
    """What is wrong with the name and the place of a log. Only a store's own layout is judged."""
    path = PurePath(report.path)
    found: list[Finding] = []
    versioned = VERSIONED.fullmatch(path.name)
    if versioned is not None and report.edition is not None and report.edition != f"v{versioned[1]}":
        message = f"the name tells of edition v{versioned[1]}, and the header of {report.edition}"
        found.append(Finding("edition-name", "advice", "file", message, story="foreign-edition"))
    if FILE.fullmatch(path.name) and PROJECT.fullmatch(path.parent.parent.name):
        session, cwd = header.get("id"), header.get("cwd")
        if isinstance(session, str) and session and (cwd is None or (isinstance(cwd, str) and cwd)):
            there = f"{path.parent.parent.name}/{path.parent.name}"
            wanted = f"{'_no-cwd' if cwd is None else project_of(cwd)}/{segment_of(session)}"
            if there != wanted:
                message = "the header names another place than the one where the log lies"
                hint = "a log is moved with its store, or not at all"
                found.append(
                    Finding("jsonl-path", "error", "file", message, found=there, expected=wanted, hint=hint)
                )
    elif PROJECT.fullmatch(path.parent.name) and path.name.endswith((".jsonl", ".jsonl.zstd")):
        message = "a log lies flat in the folder of its project, which no reader of v0 looks for"
        hint = "v0 keeps each log in a folder of its own, named after the session"
        found.append(Finding("root-flat-layout", "error", "file", message, hint=hint))
    return found


class Ids:
    """The sessions of one folder by their ids: two logs of one id are refused, whichever is asked for."""

    def __init__(self) -> None:
        self.paths: dict[str, str] = {}

    def finding(self, report: FileReport, header: dict[str, Any]) -> Finding | None:
        """What a second log of the same session is."""
        path = PurePath(report.path)
        session = header.get("id")
        if not FILE.fullmatch(path.name) or not isinstance(session, str):
            return None
        if not PROJECT.fullmatch(path.parent.parent.name):
            return None
        first = self.paths.setdefault(session, report.path)
        if PurePath(first).parent == path.parent:
            return None
        message = f"the session {session!r} has a log in another project as well: {first}"
        return Finding("jsonl-duplicate-id", "error", "file", message, story="two-writers")
