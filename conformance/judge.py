"""One answer against one case: the verdict, the first difference, and whose fault it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from conformance.cases import Alternative, Case
from conformance.compare import Difference, first_difference
from conformance.json_text import JsonTextError, parse_exact
from conformance.ledger import Ledger
from conformance.protocol import Answer

PASSING: Final = frozenset(("pass", "either"))
STATUSES: Final = (
    "pass",
    "either",
    "fail",
    "crashed",
    "timeout",
    "unsupported",
    "adapter-error",
    "not-run",
    "undeclared",
)
"""Every status a verdict can have; ``undeclared`` is no failure, but no pass either."""

_STATUS_OF: Final = {
    "crashed": ("crashed", "implementation"),
    "died": ("crashed", "implementation"),
    "hung": ("timeout", "implementation"),
    "unsupported": ("unsupported", "adapter"),
    "error": ("adapter-error", "adapter"),
    "malformed": ("adapter-error", "adapter"),
    "not-run": ("not-run", "runner"),
}


@dataclass(slots=True)
class Verdict:
    """What became of one case.

    ``fault`` names who must act on a case that did not pass: implementation, adapter,
    runner or vector. ``condition`` and ``position`` are scored for refusals that were
    right to be refusals: same, other or not-given. ``branch`` is the index of the
    alternative that an ``either`` case took.
    """

    case: Case
    status: str
    fault: str | None = None
    message: str | None = None
    difference: Difference | None = None
    condition: str | None = None
    position: str | None = None
    branch: int | None = None
    stderr: str = ""


class Judge:
    """Judges answers. ``strict`` may hold ``condition`` and ``position``: then they count as well."""

    def __init__(self, ledger: Ledger, strict: frozenset[str] = frozenset()) -> None:
        self.ledger = ledger
        self.strict = strict
        self._parsed: dict[int, Any] = {}

    def verdict(self, case: Case, answer: Answer) -> Verdict:
        """The verdict on one answer. Never raises for anything that an adapter may answer."""
        kind = answer.kind
        expect = case.expect
        if kind == "result":
            try:
                found = plain_members(answer.value)
            except JsonTextError as error:
                return Verdict(
                    case, "adapter-error", "adapter", f"a member of the result is no JSON: {error}"
                )
            return self._judge_result(case, found)
        if kind == "rejected":
            return self._judge_rejection(case, answer.value)
        if kind in ("crashed", "died"):
            for branch, alternative in enumerate(expect.alternatives):
                if alternative.kind == "crashed":
                    return self._passed(case, branch)
        status, fault = _STATUS_OF[kind]
        return Verdict(case, status, fault, str(answer.value), stderr=answer.stderr)

    def _passed(self, case: Case, branch: int) -> Verdict:
        if case.expect.kind == "either":
            return Verdict(case, "either", branch=branch)
        return Verdict(case, "pass")

    def _judge_result(self, case: Case, found: dict[str, Any]) -> Verdict:
        first: Difference | None = None
        for branch, alternative in enumerate(case.expect.alternatives):
            if alternative.kind != "result":
                continue
            difference = first_difference(self._expected(alternative), found)
            if difference is None:
                return self._passed(case, branch)
            first = first or difference
        if first is not None:
            return Verdict(case, "fail", "implementation", difference=first)
        wanted = case.expect.alternatives[0]
        difference = Difference("", {wanted.kind: wanted.value}, {"result": found})
        return Verdict(case, "fail", "implementation", "accepted what must be refused", difference=difference)

    def _judge_rejection(self, case: Case, found: dict[str, Any]) -> Verdict:
        best: Verdict | None = None
        for branch, alternative in enumerate(case.expect.alternatives):
            if alternative.kind != "rejected":
                continue
            verdict = self._score(case, branch, alternative.value, found)
            if best is None or _rank(verdict) > _rank(best):
                best = verdict
        if best is not None:
            return best
        wanted = case.expect.alternatives[0]
        difference = Difference("", {wanted.kind: wanted.value}, {"rejected": found})
        return Verdict(case, "fail", "implementation", "refused what must be accepted", difference=difference)

    def _score(self, case: Case, branch: int, wanted: dict[str, Any], found: dict[str, Any]) -> Verdict:
        verdict = self._passed(case, branch)
        verdict.condition = self._condition_score(wanted["condition"], found)
        if "at" in wanted:
            at = found.get("at")
            verdict.position = "not-given" if at is None else "same" if at == wanted["at"] else "other"
        missed = [
            name
            for name, score in (("condition", verdict.condition), ("position", verdict.position))
            if name in self.strict and score not in (None, "same")
        ]
        if missed:
            verdict.status, verdict.fault, verdict.branch = "fail", "implementation", None
            verdict.message = f"refused, as it must be, but {' and '.join(missed)} differ (--strict)"
            verdict.difference = Difference("", {"rejected": wanted}, {"rejected": found})
        return verdict

    def _condition_score(self, wanted: str, found: dict[str, Any]) -> str:
        if "condition" in found:
            return "same" if found["condition"] == wanted else "other"
        meant = self.ledger.conditions_of(found["message"]) if "message" in found else frozenset()
        if not meant:
            return "not-given"
        return "same" if wanted in meant else "other"

    def _expected(self, alternative: Alternative) -> dict[str, Any]:
        """The expected result with its NAME_text members parsed, once per case."""
        key = id(alternative.value)
        parsed = self._parsed.get(key)
        if parsed is None:
            parsed = self._parsed[key] = plain_members(alternative.value)
        result: dict[str, Any] = parsed
        return result


def plain_members(result: dict[str, Any]) -> dict[str, Any]:
    """A result with every ``NAME_text`` replaced by ``NAME`` and the value that its text spells."""
    if not any(name.endswith("_text") for name in result):
        return result
    plain: dict[str, Any] = {}
    for name, value in result.items():
        if name.endswith("_text"):
            if type(value) is not str:
                raise JsonTextError(f"{name} must be a text")
            plain[name.removesuffix("_text")] = parse_exact(value)
        else:
            plain[name] = value
    return plain


def _rank(verdict: Verdict) -> int:
    """Which of several refusals an answer is closest to."""
    return (
        (4 if verdict.status in PASSING else 0)
        + (verdict.condition == "same") * 2
        + (verdict.position == "same")
    )
