"""The examination: all checks in their order, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance import __version__
from conformance.adapters.registry import AdapterSpec
from conformance.doctor import checks, checks_flow, checks_values, greeting
from conformance.doctor.catalogue import finding
from conformance.doctor.checks import gone
from conformance.doctor.findings import SEVERITIES, Finding, by_severity
from conformance.doctor.patient import OutOfPatience, Patient
from conformance.doctor.target import target_of
from conformance.errors import AdapterError, ExitCode

ANSWER_SECONDS = 5.0
TOTAL_SECONDS = 50.0


@dataclass(frozen=True, slots=True)
class Check:
    """One check. It is left out where one of the findings ``unless`` explains all that it could see."""

    name: str
    run: Callable[[Patient], Iterator[Finding]]
    unless: tuple[str, ...] = ()


CHECKS = (
    Check("hello", greeting.greet),
    Check("capabilities", greeting.capabilities),
    Check("first answer", greeting.first_answer),
    Check("state", checks_flow.state),
    Check("declared operations", checks.declared_operations),
    Check("text spelling", checks.text_spelling),
    Check("text that is not plain", checks.text_not_plain, ("text-ignored",)),
    Check("missing members", checks.missing_member),
    Check("invalid logs", checks.invalid_logs),
    Check("position", checks.position),
    Check("empty log", checks.empty_log, ("declared-error",)),
    Check("large ids", checks_values.large_id),
    Check("large integers", checks_values.large_integers),
    Check("texts", checks_values.texts),
    Check("lone surrogates", checks_values.surrogates, ("text-ignored",)),
    Check("deep text", checks.deep_text, ("text-ignored",)),
    Check("unknown operation", checks.unknown_operation),
    Check("undeclared operations", checks.undeclared_operations),
    Check("unknown member", checks.unknown_member),
    Check("requests together", checks_flow.in_flight),
    Check("a request in parts", checks_flow.split_line),
    Check("a large request", checks_flow.large_request, ("split-line",)),
    Check("end of input", checks_flow.end_of_input),
    Check("end of input with open requests", checks_flow.end_while_open, ("in-flight",)),
    Check("another protocol", checks_flow.other_protocol),
    Check("restart", checks_flow.restart),
)
EXPLAINED_BY: dict[str, set[str]] = {
    "result-shape": {"result-no-object"},
    "unparsable-as-refusal": {"exception-as-refusal"},
    "id-squeezed": {"id-unknown", "id-fraction"},
    "not-declared": {"capability-unknown", "nothing-declared"},
    "non-ascii-lost": {"invalid-utf8"},
    "stdout-after-end": {"blank-line", "stdout-log"},
    "empty-log": {"declared-unsupported", "declared-error"},
    "not-finished": {"dies", "hangs"},
}
"""Findings that say nothing new beside another one."""


@dataclass(slots=True)
class Diagnosis:
    """What an examination found. ``not_made`` are names of checks, ``stopped`` the reason for them."""

    adapter: str
    implementation: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    not_made: list[str] = field(default_factory=list)
    stopped: str | None = None
    seconds: float = 0.0

    def count(self, severity: str) -> int:
        """How many findings of a severity there are."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def exit_code(self) -> ExitCode:
        """0, or 3 where the adapter is at fault."""
        return ExitCode.ADAPTER if self.count("error") else ExitCode.CONFORMS

    def record(self) -> dict[str, Any]:
        """The diagnosis as JSON; see ``spec/schemas/doctor.schema.json``."""
        told = {
            "format": 1,
            "suite": {"version": __version__},
            "adapter": self.adapter,
            "implementation": self.implementation,
            "checks": {"made": self.made, "not_made": self.not_made},
            "counts": {severity: self.count(severity) for severity in SEVERITIES},
            "findings": [finding.record() for finding in self.findings],
            "seconds": round(self.seconds, 3),
            "exit": int(self.exit_code),
        }
        return told if self.stopped is None else {**told, "stopped": self.stopped}


def examine(
    adapter: AdapterSpec, answer_seconds: float = ANSWER_SECONDS, total_seconds: float = TOTAL_SECONDS
) -> Diagnosis:
    """Examine an adapter. Never raises for what the adapter does; leaves no process behind."""
    began = time.monotonic()
    diagnosis = Diagnosis(adapter.name)
    try:
        target = target_of(adapter)
    except AdapterError as error:
        diagnosis.findings = [finding("cannot-start", "", str(error))]
        diagnosis.not_made, diagnosis.stopped = [check.name for check in CHECKS], "it cannot be started"
        return diagnosis
    patient = Patient(target, answer_seconds, total_seconds)
    found: list[Finding] = []
    try:
        _go_through(patient, diagnosis, found)
    finally:
        patient.close()
    if patient.hello:
        diagnosis.implementation = patient.hello["implementation"]
    for mark in patient.marks.found.values():
        found.append(finding(mark.id, mark.sent, mark.line, times=mark.times))
    ids = {each.id for each in found}
    diagnosis.findings = by_severity(each for each in found if not ids & EXPLAINED_BY.get(each.id, set()))
    diagnosis.seconds = time.monotonic() - began
    return diagnosis


def _go_through(patient: Patient, diagnosis: Diagnosis, found: list[Finding]) -> None:
    """Make one check after the other until all are made or no more can be."""
    for check in CHECKS:
        if diagnosis.stopped is not None or {each.id for each in found} & set(check.unless):
            diagnosis.not_made.append(check.name)
            continue
        diagnosis.made.append(check.name)
        try:
            for each in check.run(patient):
                found.append(each)
        except OutOfPatience as over:
            diagnosis.stopped = over.reason
            found.append(finding(over.finding or "not-finished", "", over.reason))
            for reply in over.replies:
                found.extend(gone(reply))
        except AdapterError as error:  # it could be started once, and now it cannot
            diagnosis.stopped = str(error)
            found.append(finding("cannot-start", "", str(error)))
        if diagnosis.stopped is None and not patient.hello:
            diagnosis.stopped = "hello was not answered as it has to be"
        elif diagnosis.stopped is None and patient.given_up:
            diagnosis.stopped = patient.given_up
