"""Profiles: named parts of the corpus, frozen with each release.

A profile is scored by the cases that it held when it was released, so that an implementation
that conformed yesterday does not fail today because the corpus grew. Cases that came later run
as well and are shown, but do not count until the next release.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import schemas
from conformance.cases import Case
from conformance.errors import UsageError, VectorError
from conformance.resources import spec_dir
from conformance.selection import in_topic

FORMAT = 1

CONTRACT = ("backend/contract*", "backend/borrowed", "backend/live", "backend/signal")
"""What is asked of any backend, in whatever it keeps sessions."""

TOPICS: dict[str, tuple[str, ...]] = {
    "surface": ("surface", "session/live"),
    "tutorial": ("tutorial",),
    "untyped": ("*",),
    "isolation": ("session/isolation",),
    "codec": ("codec",),
    "session": (
        "admit",
        "fork",
        "session/append",
        "session/seeded",
        "session/closers*",
        "session/request-header*",
    ),
    "jsonl": ("jsonl", "zstd", "load"),
    "sqlite": ("sqlite",),
    "backend-jsonl": (*CONTRACT, "backend/jsonl-*", "backend/zstd-*"),
    "backend-sqlite": (*CONTRACT, "backend/sqlite-*"),
}
"""The topics of each profile; ``untyped`` takes the optional cases of its topics, the others the rest.
Families are optional for their length alone, so they belong to the profile of their topic."""
LEFT_OUT = {"surface": ("surface/linear-fallback",)}
"""Topics below those of a profile that are a capability of their own."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One released profile: ``cases`` maps the ids that count to their digests at release."""

    name: str
    release: str
    rules: tuple[str, ...]
    cases: dict[str, str]

    def counts(self, case: Case) -> bool:
        """Whether a case is scored: it was there at release, and is still the same."""
        return self.cases.get(case.id) == case.digest


def belongs(case: Case, name: str) -> bool:
    """Whether a case is part of a profile, frozen or later."""
    untyped = case.optional and case.family is None
    if untyped != (name == "untyped"):
        return False
    if any(in_topic(case.topic, topic) for topic in LEFT_OUT.get(name, ())):
        return False
    return any(in_topic(case.topic, topic) for topic in TOPICS[name])


def folder() -> Path:
    """Where released profiles stand."""
    return spec_dir() / "profiles"


def load_profile(name: str) -> Profile:
    """A released profile. Raises UsageError for an unknown name, VectorError for a broken file."""
    if name not in TOPICS:
        raise UsageError(f"unknown profile {name}; profiles are {', '.join(TOPICS)}")
    path = folder() / f"{name}.json"
    try:
        document: dict[str, Any] = json.loads(path.read_text("ascii"))
    except (OSError, ValueError) as error:
        raise VectorError(f"cannot be read: {error}", file=path) from None
    wrong = schemas.fault("profile", document)
    if wrong is not None:
        raise VectorError(str(wrong), file=path)
    return Profile(name, document["release"], tuple(document["rules"]), document["cases"])


def freeze(cases: Sequence[Case], release: str) -> dict[str, dict[str, Any]]:
    """What each profile would be if it were released now."""
    documents = {}
    for name in TOPICS:
        members = [case for case in cases if belongs(case, name)]
        documents[name] = {
            "format": FORMAT,
            "profile": name,
            "release": release,
            "rules": sorted({rule for case in members for rule in case.rules}, key=_rule_order),
            "cases": {case.id: case.digest for case in sorted(members, key=lambda case: case.id)},
        }
    return documents


def write_profiles(documents: dict[str, dict[str, Any]]) -> None:
    """Write released profiles, each in one step."""
    folder().mkdir(exist_ok=True)
    for name, document in documents.items():
        draft = folder() / f"{name}.json.new"
        draft.write_text(json.dumps(document, indent=1) + "\n", "ascii")
        draft.replace(folder() / f"{name}.json")


def findings(cases: Iterable[Case]) -> list[str]:
    """Frozen cases that are gone or changed: an expectation may only change with a release."""
    now = {case.id: case.digest for case in cases}
    told = []
    for name in TOPICS:
        profile = load_profile(name)
        for case, digest in profile.cases.items():
            if case not in now:
                told.append(f"profile {name} {profile.release}: case {case} is gone")
            elif now[case] != digest:
                told.append(f"profile {name} {profile.release}: case {case} is not what was released")
    return told


def _rule_order(rule: str) -> tuple[str, int]:
    prefix, number = rule.split("-")
    return prefix, int(number)
