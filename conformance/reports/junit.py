"""JUnit XML, as CI servers read it: one suite per topic, one test case per case."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from conformance.judge import PASSING
from conformance.reports.summary import Summary, implementation_name
from conformance.stream import Record
from conformance.terminal import details

ERRORS = frozenset(("crashed", "timeout", "adapter-error"))
SKIPPED = frozenset(("undeclared", "known-failure", "not-run"))
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(records: Iterable[Record], summary: Summary) -> str:
    """The document. A run that was cut off, or an adapter at fault, shows as an error of its own."""
    suites: dict[str, ET.Element] = {}
    root = ET.Element("testsuites", name=f"session-conformance: {implementation_name(summary.start)}")
    for record in records:
        if record["record"] != "verdict":
            continue
        topic = record["topic"]
        if topic not in suites:
            suites[topic] = ET.SubElement(
                root, "testsuite", attrib={"name": topic, **_numbers(summary.by_topic[topic])}
            )
        suites[topic].append(test_case(record))
    problems = [*summary.problems, *([] if summary.complete else [summary.outcome()])]
    if problems:
        count = str(len(problems))
        suite = ET.SubElement(
            root, "testsuite", name="the run itself", tests=count, failures="0", errors=count, skipped="0"
        )
        for number, problem in enumerate(problems, 1):
            case = ET.SubElement(suite, "testcase", classname="run", name=f"problem {number}")
            ET.SubElement(case, "error", message=clean(problem), type="adapter")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _numbers(counts: dict[str, int]) -> dict[str, str]:
    errors = sum(number for status, number in counts.items() if status in ERRORS)
    skipped = sum(number for status, number in counts.items() if status in SKIPPED)
    passed = sum(number for status, number in counts.items() if status in PASSING)
    total = sum(counts.values())
    numbers = {
        "tests": total,
        "failures": total - errors - skipped - passed,
        "errors": errors,
        "skipped": skipped,
    }
    return {name: str(number) for name, number in numbers.items()}


def test_case(record: Record) -> ET.Element:
    """One verdict."""
    case = ET.Element("testcase", classname=record["topic"].replace("/", "."), name=record["case"])
    status = record["status"]
    if status in PASSING:
        return case
    message = record.get("message") or record.get("reason") or record.get("why") or status
    if status in SKIPPED:
        ET.SubElement(case, "skipped", message=clean(f"{status}: {message}"))
        return case
    told = ET.SubElement(
        case, "error" if status in ERRORS else "failure", message=clean(message), type=status
    )
    told.text = clean("\n".join(f"{name}: {text}" for name, text in details(record)))
    return case


def clean(text: str) -> str:
    """The text with what XML cannot hold written as an escape."""
    return _NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
