"""A JSON summary of a run, small enough to keep for every commit. Schema: ``summary.schema.json``."""

from __future__ import annotations

from typing import Any

from conformance.reports.summary import Summary

FORMAT = 1


def json_summary(summary: Summary) -> dict[str, Any]:
    """The summary; ``complete`` false means that the numbers are those of a part of the run."""
    start = summary.start
    document: dict[str, Any] = {
        "format": FORMAT,
        "suite": start["suite"],
        "adapter": start["adapter"],
        "implementation": start["implementation"],
        "selection": start.get("selection", ""),
        "cases": start["cases"],
        "complete": summary.complete,
        "outcome": summary.outcome(),
        "counts": dict(summary.counts),
        "topics": {topic: dict(counts) for topic, counts in sorted(summary.by_topic.items())},
        "conditions": summary.end.get("conditions", {}),
        "positions": summary.end.get("positions", {}),
        "problems": summary.problems,
        "failures": [
            {
                name: record[name]
                for name in ("case", "status", "fault", "rules", "fingerprint")
                if name in record
            }
            for record in summary.failures
        ],
    }
    for name in ("profile", "release"):
        if name in start:
            document[name] = start[name]
    if summary.complete:
        document["exit"] = summary.end["exit"]
    return document
