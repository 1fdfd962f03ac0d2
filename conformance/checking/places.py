"""Where a log lies: whether its place is the one that its header names, and what its name says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
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


def encoding_finding(report: FileReport) -> Finding | None:
    """A log whose bytes are not what its name says. A store goes by the name."""
    path = PurePath(report.path)
    packed = report.format == "jsonl.zstd"
    if not path.name.endswith(".jsonl" if packed else (".zstd", ".zst")):
        return None
    is_so, named = ("compressed", "plain") if packed else ("plain", "compressed")
    message = f"the name tells of a {named} log, and its bytes are {is_so}"
    if FILE.fullmatch(path.name) and PROJECT.fullmatch(path.parent.parent.name):
        condition = "jsonl-header-json" if packed else "zstd-magic"
        hint = "a store reads it as its name says; it was renamed, or packed by hand"
        return Finding(condition, "error", "storage", message, story="wrong-encoding", hint=hint)
    hint = f"it is judged as a {is_so} log; in a store it would be read as a {named} one"
    return Finding("encoding-name", "advice", "file", message, story="wrong-encoding", hint=hint)


class Stores:
    """The logs of each store so far: a session has one, and all of them are compressed or none.

    A store is the folder above projects. Two copies of a store may hold the same session.
    """

    def __init__(self) -> None:
        self.paths: dict[tuple[str, str], str] = {}
        self.first: dict[str, str] = {}

    def findings(self, report: FileReport, header: dict[str, Any]) -> Iterator[Finding]:
        """What a log is beside those before it."""
        path = PurePath(report.path)
        if not FILE.fullmatch(path.name) or not PROJECT.fullmatch(path.parent.parent.name):
            return
        root = os.path.abspath(path.parent.parent.parent)  # noqa: PTH100 - a link stays what it is named
        first = self.first.setdefault(root, report.path)
        if PurePath(first).name != path.name:
            message = f"the store has compressed logs and plain ones: {path.name} here, and {first}"
            hint = (
                "a store is opened as one or the other, and then refuses all its sessions, not this one only"
            )
            yield Finding("root-encoding", "error", "file", message, story="wrong-encoding", hint=hint)
        session = header.get("id")
        if isinstance(session, str):
            first = self.paths.setdefault((root, session), report.path)
            if PurePath(first).parent != path.parent:
                message = f"the session {session!r} has a log in another project as well: {first}"
                yield Finding("jsonl-duplicate-id", "error", "file", message, story="two-writers")


def judge_place(report: FileReport, stores: Stores) -> None:
    """What is to be said of the place of a log. A reader asks for it behind the scan."""
    found = [*place_findings(report, report.header), *stores.findings(report, report.header)]
    errors = [each for each in found if each.severity == "error"]
    misnamed = encoding_finding(report)
    if misnamed is not None and misnamed.severity == "error":
        report.findings.insert(0, misnamed)
    elif misnamed is not None:
        found.append(misnamed)
    behind = sum(each.severity == "error" and each.layer == "storage" for each in report.findings)
    report.findings[behind:behind] = errors
    report.findings += [each for each in found if each.severity != "error"]
    if (errors or (misnamed is not None and misnamed.severity == "error")) and report.verdict == "accepted":
        report.verdict, report.torn_from = "refused", None
