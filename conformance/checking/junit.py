"""A report as JUnit XML, as CI servers read it: one test case per log."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from conformance.checking.model import FileReport, Finding, Report
from conformance.reports.junit import clean


def junit(report: Report) -> str:
    """The document. A log that is refused or loses events fails; one that is not judged is an error."""
    errors = sum(each.verdict == "not judged" for each in report.files)
    failures = sum(_fails(each) for each in report.files)
    numbers = {"tests": len(report.files), "failures": failures, "errors": errors, "skipped": 0}
    counts = {name: str(number) for name, number in numbers.items()}
    root = ET.Element("testsuites", name="session-conformance check")
    suite = ET.SubElement(root, "testsuite", attrib={"name": "check", **counts})
    for each in report.files:
        name = each.path if each.session is None else f"{each.path} {each.session}"
        case = ET.SubElement(suite, "testcase", classname="check", name=clean(name))
        text = clean("\n".join(_line(finding) for finding in each.findings))
        if each.verdict == "not judged" or _fails(each):
            worst = next(finding for finding in each.findings if finding.severity != "advice")
            told = {"message": clean(worst.message), "type": worst.condition}
            kind = "error" if each.verdict == "not judged" else "failure"
            ET.SubElement(case, kind, attrib=told).text = text
        elif each.findings:
            ET.SubElement(case, "system-out").text = text
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _fails(report: FileReport) -> bool:
    return report.verdict == "refused" or (report.verdict == "accepted" and report.count("loss") > 0)


def _line(finding: Finding) -> str:
    where = "" if finding.line is None else f"line {finding.line}: "
    return f"{finding.severity} {finding.rule} {finding.condition}: {where}{finding.message}"
