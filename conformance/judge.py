"""One answer against one case: the verdict, the first difference, and whose fault it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.cases import Alternative, Case, Expectation
from conformance.compare import ABSENT, Difference, first_difference
from conformance.errors import UsageError
from conformance.json_text import JsonTextError, parse_exact
from conformance.ledger import Ledger
from conformance.operations import OPERATIONS
from conformance.protocol import Answer, read_answer
from conformance.rows_compare import comparable
from conformance.tokens import with_tokens

STRICT_WORDS: Final = ("condition", "position")
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
    "flaky",
    "known-failure",
    "stale-known-failure",
    "undeclared",
)
"""Every status a verdict can have. ``undeclared`` and ``known-failure`` are no failures of a run, but no
passes either; flaky, known-failure and stale-known-failure are made of other verdicts by the engine."""

_STATUS_OF: Final = {
    "crashed": ("crashed", "implementation"),
    "died": ("crashed", "implementation"),
    "hung": ("timeout", "implementation"),
    "unsupported": ("unsupported", "adapter"),
    "error": ("adapter-error", "adapter"),
    "malformed": ("adapter-error", "adapter"),
    "not-run": ("not-run", "runner"),
}
_SCORES: Final = ("same", "not-given", "other")


@dataclass(frozen=True, slots=True)
class MemberFailure:
    """Which members of a family failed: the first one, its request, and how many in all."""

    index: int
    request: str
    failed: int


@dataclass(slots=True)
class Verdict:
    """What became of one case.

    ``fault`` names who must act on a case that did not pass: implementation, adapter,
    runner or vector. ``condition`` and ``position`` are scored for refusals that were
    right to be refusals: same, other or not-given. ``branch`` is the index of the
    alternative that an ``either`` case took. ``member`` says which member of a family failed first.
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
    member: MemberFailure | None = None


def parse_strict(words: Iterable[str]) -> frozenset[str]:
    """What is to match beyond the verdict of a refusal. Raises UsageError for an unknown word."""
    chosen = frozenset(word for word in words if word)
    unknown = chosen - set(STRICT_WORDS)
    if unknown:
        raise UsageError(f"strict knows {' and '.join(STRICT_WORDS)}, not {', '.join(sorted(unknown))}")
    return chosen


class Judge:
    """Judges answers. ``strict`` may hold ``condition`` and ``position``: then they count as well."""

    def __init__(self, ledger: Ledger, strict: frozenset[str] = frozenset()) -> None:
        self.ledger = ledger
        self.strict = strict
        self._parsed: dict[int, tuple[dict[str, Any], dict[str, Any], bool, str]] = {}

    def verdict(self, case: Case, answer: Answer) -> Verdict:
        """The verdict on one answer. Never raises for anything that an adapter may answer."""
        if case.expect.kind == "steps" and answer.kind == "result":
            return self._judge_steps(case, answer.value)
        return self.against(case, case.expect, answer)

    def against(
        self, case: Case, expect: Expectation, answer: Answer, earlier: Sequence[Any] = ()
    ) -> Verdict:
        """One answer against one expectation: of a whole case, of a member of a family, or of a step.

        ``earlier`` are the answers to the steps before, which an expectation may refer to.
        """
        kind = answer.kind
        if kind == "result":
            try:
                found = comparable(case.op, plain_members(answer.value))
            except JsonTextError as error:
                told = f"a member of the result is no JSON: {error}"
                return Verdict(case, "adapter-error", "adapter", told)
            return self._judge_result(case, expect, found, earlier)
        if kind == "rejected":
            return self._judge_rejection(case, expect, answer.value)
        if kind in ("crashed", "died"):
            for branch, alternative in enumerate(expect.alternatives):
                if alternative.kind == "crashed":
                    return _passed(case, expect, branch)
        status, fault = _STATUS_OF[kind]
        return Verdict(case, status, fault, str(answer.value), stderr=answer.stderr)

    def _judge_steps(self, case: Case, result: dict[str, Any]) -> Verdict:
        """Step by step; the first step that is not right is the verdict, with its place in front."""
        try:
            found = plain_members(result).get("steps", ABSENT)
        except JsonTextError as error:
            return Verdict(case, "adapter-error", "adapter", f"a member of the result is no JSON: {error}")
        if type(found) is not list or len(found) != len(case.expect.steps):
            told = f"the result must be steps, a list of {len(case.expect.steps)} answers"
            return Verdict(case, "adapter-error", "adapter", told)
        whole = Verdict(case, "pass")
        for index, (expect, step) in enumerate(zip(case.expect.steps, found, strict=True)):
            answer = (
                read_answer(step) if type(step) is dict else Answer("malformed", "a step must be an object")
            )
            verdict = self.against(case, expect, answer, found[:index])
            if verdict.status not in PASSING:
                verdict.message = f"step {index}: {verdict.message or 'another result'}"
                if verdict.difference is not None:
                    verdict.difference = _inside(verdict.difference, f"steps[{index}]")
                return verdict
            whole.condition = worse(whole.condition, verdict.condition)
            whole.position = worse(whole.position, verdict.position)
        return whole

    def _judge_result(
        self, case: Case, expect: Expectation, found: dict[str, Any], earlier: Sequence[Any]
    ) -> Verdict:
        first: Difference | None = None
        for branch, alternative in enumerate(expect.alternatives):
            if alternative.kind != "result":
                continue
            wanted, tokens, spelled = self._expected(case.op, alternative)
            if spelled == repr(found):  # the usual case; what is spelled otherwise may still be the same
                return _passed(case, expect, branch)
            if tokens and OPERATIONS[case.op].tokens:
                wanted = with_tokens(wanted, found, earlier)
            difference = first_difference(wanted, found)
            if difference is None:
                return _passed(case, expect, branch)
            first = first or difference
        if first is not None:
            return Verdict(case, "fail", "implementation", difference=first)
        told = "accepted what must be refused"
        return Verdict(case, "fail", "implementation", told, _other_kind(expect, {"result": found}))

    def _judge_rejection(self, case: Case, expect: Expectation, found: dict[str, Any]) -> Verdict:
        best: Verdict | None = None
        for branch, alternative in enumerate(expect.alternatives):
            if alternative.kind != "rejected":
                continue
            verdict = self._score(_passed(case, expect, branch), alternative.value, found)
            if best is None or _rank(verdict) > _rank(best):
                best = verdict
        if best is not None:
            return best
        told = "refused what must be accepted"
        return Verdict(case, "fail", "implementation", told, _other_kind(expect, {"rejected": found}))

    def _score(self, verdict: Verdict, wanted: dict[str, Any], found: dict[str, Any]) -> Verdict:
        if "condition" in wanted:
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
            verdict.message = (
                f"refused, as it must be, but not with the right {' and '.join(missed)} (--strict)"
            )
            verdict.difference = Difference("", {"rejected": wanted}, {"rejected": found})
        return verdict

    def _condition_score(self, wanted: str, found: dict[str, Any]) -> str:
        if "condition" in found:
            return "same" if found["condition"] == wanted else "other"
        meant = self.ledger.conditions_of(found["message"]) if "message" in found else frozenset()
        if not meant:
            return "not-given"
        return "same" if wanted in meant else "other"

    def _expected(self, operation: str, alternative: Alternative) -> tuple[dict[str, Any], bool, str]:
        """The expected result with NAME_text parsed, whether it holds tokens, and its repr; once per case."""
        key = id(alternative.value)
        known = self._parsed.get(key)
        if known is None:
            plain = comparable(operation, plain_members(alternative.value))
            # The value is kept as well: an id is only good while its object lives.
            known = self._parsed[key] = (alternative.value, plain, '"$' in json.dumps(plain), repr(plain))
        return known[1:]


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


def _passed(case: Case, expect: Expectation, branch: int) -> Verdict:
    if expect.kind == "either":
        return Verdict(case, "either", branch=branch)
    return Verdict(case, "pass")


def _other_kind(expect: Expectation, found: dict[str, Any]) -> Difference:
    if expect.kind == "steps":
        return Difference("", f"an answer to each of {len(expect.steps)} steps", found)
    wanted = expect.alternatives[0]
    return Difference("", {wanted.kind: wanted.value}, found)


def _inside(difference: Difference, place: str) -> Difference:
    path = f"{place}.{difference.path}" if difference.path else place
    return Difference(path, difference.expected, difference.found)


def worse(first: str | None, second: str | None) -> str | None:
    """The less good of two scores; a step that is not scored changes nothing."""
    if first is None or second is None:
        return second if first is None else first
    return max(first, second, key=_SCORES.index)


def _rank(verdict: Verdict) -> int:
    """Which of several refusals an answer is closest to."""
    right = verdict.status in PASSING
    return 4 * right + 2 * (verdict.condition == "same") + (verdict.position == "same")
