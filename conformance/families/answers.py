"""The right answers to a family: the reference gives them, and the digest in the case vouches for them.

A file cannot hold 65,000 answers that a person would read. So a case holds their digest, which the
project's tests compare with an independent oracle, and a run works the answers out again: the
reference is asked through the same interface as everyone, and if its answers have another digest
than the case, then nothing is judged and the fault is the suite's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from conformance.adapters.registry import resolve
from conformance.cases import Alternative, Case
from conformance.errors import VectorError
from conformance.families.generators import members
from conformance.json_text import dump_ascii, dump_canonical
from conformance.protocol import Answer, Connection, Request

COMPARED = ("condition", "at")
"""Of a refusal, what an expectation holds."""


def bodies(case: Case) -> Iterator[str]:
    """The request lines of a family, without their ids."""
    assert case.family is not None
    head = case.body.removesuffix("}")
    for member in members(case.family.generator, case.family.parameters):
        yield f"{head},{dump_ascii(member)[1:]}"


def expected(answer: Answer) -> Alternative:
    """What an answer of the reference demands of everyone else."""
    if answer.kind == "rejected":
        return Alternative(
            "rejected", {name: answer.value[name] for name in COMPARED if name in answer.value}
        )
    return Alternative(answer.kind, answer.value)


def right_answers(asked: Iterable[str], reference: Connection) -> Iterator[Alternative]:
    """The right answer to each request, in order; the reference answers in order."""
    requests = (Request(number, body) for number, body in enumerate(asked, 1))
    for _, answer in reference.exchange(requests):
        yield expected(answer)


class AnswersDigest:
    """SHA-256 over right answers, one line of sorted-key ASCII JSON each."""

    def __init__(self) -> None:
        self.members = 0
        self._total = hashlib.sha256()

    def add(self, right: Alternative) -> None:
        """Take in the next answer."""
        self.members += 1
        self._total.update(f"{dump_canonical({right.kind: right.value})}\n".encode("ascii"))

    def hex(self) -> str:
        """The digest so far."""
        return self._total.hexdigest()


def answers_digest(answers: Iterable[dict[str, Any]]) -> tuple[int, str]:
    """Number and digest of answers, each ``{"result": …}`` or ``{"rejected": {"condition", "at"}}``."""
    total = AnswersDigest()
    for answer in answers:
        ((kind, value),) = answer.items()
        total.add(Alternative(kind, value))
    return total.members, total.hex()


def expansion(case: Case) -> Iterator[tuple[dict[str, Any], Alternative]]:
    """Every member of a family with its right answer. Raises VectorError if the digest is another."""
    assert case.family is not None
    reference, total = resolve("reference").connect(), AnswersDigest()
    asked = members(case.family.generator, case.family.parameters)
    for member, right in zip(asked, right_answers(bodies(case), reference), strict=True):
        total.add(right)
        yield member, right
    check(case, total)


def check(case: Case, total: AnswersDigest) -> None:
    """Raise VectorError unless the answers taken in are those that the case vouches for."""
    told = mismatch(case, total)
    if told is not None:
        raise VectorError(told, file=case.file, line=case.line)


def mismatch(case: Case, total: AnswersDigest) -> str | None:
    """What the reference's answers have that the case does not say; None if all is as it says."""
    assert case.family is not None
    found = (total.members, total.hex())
    if found == (case.family.members, case.family.answers):
        return None
    return (
        f"case {case.id}: the family has {found[0]} members whose right answers have the digest {found[1]},"
        f" and the case says {case.family.members} and {case.family.answers}"
    )
