"""A case: one request and the answers that are right for it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from conformance.json_text import dump_canonical


@dataclass(frozen=True, slots=True)
class Alternative:
    """One right answer: ``kind`` is result, rejected or crashed; ``value`` is what stands under it."""

    kind: str
    value: Any


@dataclass(frozen=True, slots=True)
class Expectation:
    """What an answer may be. ``kind``: single, either (a quirk), any_of (encodings), steps or family.

    ``steps`` holds one expectation per step of the request, and no alternatives beside them. What
    the members of a family expect is worked out when they are asked; see ``conformance.families``.
    """

    kind: str
    alternatives: tuple[Alternative, ...]
    reason: str | None = None
    steps: tuple[Expectation, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """Many requests as one case: how they are made, how many, and the digest of the right answers."""

    generator: str
    parameters: dict[str, Any]
    members: int
    answers: str


@dataclass(frozen=True, slots=True)
class Case:
    """One case of the corpus, shorthand expanded.

    ``body`` is the request line without its id: the text behind ``{"id":N,``, which every
    transport sends as it is, so that what is judged never depends on how it travels. Of a
    ``family`` it is the part that all members share, and there is no request and no expectation.
    """

    id: str
    topic: str
    edition: str
    op: str
    capability: str
    rules: tuple[str, ...]
    why: str | None
    seed: str | None
    evidence: dict[str, str]
    request: dict[str, Any]
    expect: Expectation
    expect_written: dict[str, Any]
    body: str
    file: str
    line: int
    digest: str
    optional: bool = False
    needs: tuple[str, ...] = ()
    """Capabilities that the case asks for beside its operation."""
    family: Family | None = None


def case_digest(edition: str, capability: str, request: dict[str, Any], expect: dict[str, Any]) -> str:
    """SHA-256 over edition, capability, expanded request and expectation, as sorted-key ASCII JSON."""
    content = {"edition": edition, "op": capability, "request": request, "expect": expect}
    return hashlib.sha256(dump_canonical(content).encode("ascii")).hexdigest()


def expectation(written: dict[str, Any]) -> Expectation:
    """The ``expect`` of a case, or of one of its steps."""
    if "steps" in written:
        return Expectation("steps", (), steps=tuple(expectation(step) for step in written["steps"]))
    for kind in ("either", "any_of"):
        if kind in written:
            alternatives = tuple(_alternative(entry) for entry in written[kind])
            return Expectation(kind, alternatives, written.get("reason"))
    return Expectation("single", (_alternative(written),))


def _alternative(entry: dict[str, Any]) -> Alternative:
    ((kind, value),) = entry.items()
    return Alternative(kind, value)
