"""A report as SARIF 2.1.0, for code hosts and editors that show findings beside their lines."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from conformance import __version__
from conformance.checking.model import STORIES, FileReport, Finding, Report

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "loss": "warning", "advice": "note"}


def sarif(report: Report) -> dict[str, Any]:
    """The log of one run: a rule for each id that occurs, a result for each finding."""
    findings = [(each, finding) for each in report.files for finding in each.findings]
    ids = sorted({finding.rule for _, finding in findings})
    names = {finding.rule: finding.condition for _, finding in findings}
    rules = [{"id": rule, "name": names[rule], "shortDescription": {"text": names[rule]}} for rule in ids]
    driver = {"name": "session-conformance", "version": __version__, "rules": rules}
    unread = [each for each in report.files if each.verdict == "not judged"]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": not unread}],
        "results": [_result(each, finding, ids.index(finding.rule)) for each, finding in findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(report: FileReport, finding: Finding, rule: int) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": uri_of(report.path)}}
    region: dict[str, Any] = {}
    if finding.line:
        region["startLine"] = finding.line
    if finding.byte is not None and report.format == "jsonl":
        region["byteOffset"] = finding.byte
    if region:
        location["region"] = region
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": LEVELS[finding.severity],
        "message": {"text": _message(finding)},
        "locations": [{"physicalLocation": location}],
    }
    if finding.also is not None:
        also = {**location, "region": {"startLine": finding.also.line}}
        what = {"text": finding.also.what}
        result["relatedLocations"] = [{"physicalLocation": also, "message": what}]
    told = {
        "condition": finding.condition,
        "severity": finding.severity,
        "layer": finding.layer,
        "seq": finding.seq,
        "session": report.session,
        "story": finding.story,
    }
    result["properties"] = {name: value for name, value in told.items() if value is not None}
    return result


def _message(finding: Finding) -> str:
    parts = [finding.message]
    if finding.found is not None:
        parts.append(f"found {finding.found}")
    if finding.expected is not None:
        parts.append(f"expected {finding.expected}")
    if finding.story is not None:
        parts.append(f"probably {STORIES[finding.story]}")
    if finding.hint is not None:
        parts.append(finding.hint)
    return "; ".join(parts)


def uri_of(path: str) -> str:
    """A path as a relative or absolute reference; bytes that are no UTF-8 are escaped as they are."""
    return quote(path.encode("utf-8", "surrogateescape"), safe="/")
