"""A Markdown summary for the page of a CI job."""

from __future__ import annotations

from conformance.judge import STATUSES
from conformance.reports.summary import Summary, implementation_name
from conformance.stream import Record
from conformance.terminal import details

SHOWN_FAILURES = 20


def markdown(summary: Summary) -> str:
    """The summary: outcome, table by topic, scores, failures, known failures."""
    start = summary.start
    selection = start.get("selection", "the whole corpus")
    lines = [
        f"## session-conformance: {escape(implementation_name(start))} {escape(summary.outcome())}",
        "",
        f"Suite {start['suite']['version']}, adapter `{start['adapter']}`, {selection}"
        + (f", profile {start['profile']}" if "profile" in start else "")
        + ".",
        "",
        *_table(summary),
        *_scores(summary),
    ]
    lines += [f"- **{escape(problem)}**" for problem in summary.problems]
    for record in summary.failures[:SHOWN_FAILURES]:
        lines += _failure(record)
    if len(summary.failures) > SHOWN_FAILURES:
        lines += [
            "",
            f"… and {len(summary.failures) - SHOWN_FAILURES} more; the result stream holds all of them.",
        ]
    if summary.known:
        lines += ["", f"<details><summary>{len(summary.known)} known failures</summary>", ""]
        lines += [f"- `{record['case']}`: {escape(record['reason'])}" for record in summary.known]
        lines += ["", "</details>"]
    return "\n".join(lines) + "\n"


def _table(summary: Summary) -> list[str]:
    columns = [status for status in STATUSES if summary.counts[status]]
    lines = ["| topic | " + " | ".join(columns) + " |", "| --- |" + " ---: |" * len(columns)]
    for topic in sorted(summary.by_topic):
        row = summary.by_topic[topic]
        lines.append(f"| {topic} | " + " | ".join(str(row[status] or "") for status in columns) + " |")
    totals = " | ".join(f"**{summary.counts[status]}**" for status in columns)
    return [*lines, f"| **all** | {totals} |", ""]


def _scores(summary: Summary) -> list[str]:
    lines = []
    for name in ("condition", "position"):
        scores = summary.end.get(f"{name}s", {})
        if scores:
            told = ", ".join(f"{number} {score}" for score, number in sorted(scores.items()))
            lines.append(f"Refusals by {name}: {told}.")
    return [*lines, ""] if lines else []


def _failure(record: Record) -> list[str]:
    lines = ["", f"### {record['status']}: `{record['case']}` ({', '.join(record['rules'])})", "", "```text"]
    lines += [f"{name:<8} {text}".replace("```", "'''") for name, text in details(record)]
    return [*lines, "```"]


def escape(text: str) -> str:
    """Text that Markdown leaves as it is."""
    for character in "\\`*_<>|[]":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")
