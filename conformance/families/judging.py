"""One verdict for a family: every member is judged, and the first that fails is named."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from conformance.adapters.registry import resolve
from conformance.cases import Alternative, Case, Expectation
from conformance.families.answers import AnswersDigest, bodies, mismatch, right_answers
from conformance.judge import PASSING, Judge, MemberFailure, Verdict, worse
from conformance.protocol import Answer, Connection

SHOWN_REQUEST = 200
BATCH = 256


class FamilyTally:
    """Judges the answers to one family as they come, in whatever order, and keeps none."""

    def __init__(self, case: Case, judge: Judge, reference: Connection | None = None) -> None:
        self.case = case
        self.judge = judge
        self._reference = reference or resolve("reference").connect()
        self._digest = AnswersDigest()
        self._open: dict[int, tuple[str, Alternative]] = {}
        self._whole = Verdict(case, "pass")
        self._first: tuple[int, str, Verdict] | None = None
        self._failed = 0
        self._asked_all = False

    def requests(self) -> Iterator[str]:
        """The request lines of the members; the right answers are worked out as they are asked."""
        waiting = bodies(self.case)
        index = 0
        while batch := list(islice(waiting, BATCH)):
            for body, right in zip(batch, list(right_answers(batch, self._reference)), strict=True):
                self._digest.add(right)
                self._open[index] = body, right
                index += 1
                yield body
        self._asked_all = True

    def take(self, index: int, answer: Answer) -> None:
        """Judge the answer to one member."""
        body, right = self._open.pop(index)
        if answer.kind == right.kind and spelled_alike(right.value, answer.value):
            if right.kind == "rejected":
                self._score(
                    "same" if "condition" in right.value else None, "same" if "at" in right.value else None
                )
            return
        verdict = self.judge.against(self.case, Expectation("single", (right,)), answer)
        if verdict.status in PASSING:
            self._score(verdict.condition, verdict.position)
            return
        self._failed += 1
        if self._first is None or index < self._first[0]:
            self._first = index, body, verdict

    def _score(self, condition: str | None, position: str | None) -> None:
        self._whole.condition = worse(self._whole.condition, condition)
        self._whole.position = worse(self._whole.position, position)

    @property
    def complete(self) -> bool:
        """Whether every member was asked and answered."""
        assert self.case.family is not None
        return not self._open and (self._asked_all or self._digest.members == self.case.family.members)

    def verdict(self) -> Verdict:
        """The verdict on the whole family, once it is complete."""
        told = mismatch(self.case, self._digest)
        if told is not None:
            return Verdict(self.case, "not-run", "vector", told)
        if self._first is None:
            return self._whole
        assert self.case.family is not None
        index, body, verdict = self._first
        verdict.member = MemberFailure(index, f"{{{body}", self._failed)
        others = (
            "" if self._failed == 1 else f"; {self._failed:,} of {self.case.family.members:,} members fail"
        )
        verdict.message = (
            f"member {index}, {shortened(self.case, body)}: {verdict.message or 'another result'}{others}"
        )
        return verdict


def shortened(case: Case, body: str) -> str:
    """What sets a member apart from the others: its request without what all of them share."""
    text = "{" + body[len(case.body.removesuffix("}")) + 1 :]
    return text if len(text) <= SHOWN_REQUEST else f"{text[:SHOWN_REQUEST]}… ({len(text)} characters)"


def spelled_alike(right: dict[str, Any], found: Any) -> bool:
    """The usual case, told quickly; what is spelled otherwise may still be the same."""
    if type(found) is not dict:
        return False
    return repr({name: found.get(name) for name in right}) == repr(right) and (
        len(found) == len(right) or "condition" in right
    )
