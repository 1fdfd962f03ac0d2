"""Which cases a run is about."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from conformance.cases import Case
from conformance.errors import UsageError
from conformance.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Selection:
    """Patterns over case ids, topics and rule ids; a case must meet each kind that is given.

    Optional cases take part only when they are asked for by name (the whole id, or the
    topic itself), or where a command is about all cases (``with_optional``).
    """

    ids: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    with_optional: bool = False

    def pick(self, cases: Sequence[Case], ledger: Ledger) -> list[Case]:
        """The chosen cases in corpus order. Raises UsageError for an unknown rule and for an empty choice."""
        for rule in self.rules:
            if not any(names_rule(rule, known) for known in ledger.rules):
                told = suggestion(rule.upper(), ledger.rules)
                raise UsageError(f"unknown rule {rule}{told}; session-conformance rules lists them")
        chosen = [case for case in cases if self.takes(case)]
        if not chosen:
            told = "".join(suggestion(topic, {case.topic for case in cases}) for topic in self.topics)
            told += "".join(suggestion(name, {case.id for case in cases}) for name in self.ids)
            raise UsageError(
                f"no case is selected by {self.describe()}{told}; session-conformance list shows them all"
            )
        return chosen

    def takes(self, case: Case) -> bool:
        """Whether one case is chosen."""
        if self.ids and not any(fnmatch.fnmatchcase(case.id, pattern) for pattern in self.ids):
            return False
        if self.topics and not any(in_topic(case.topic, topic) for topic in self.topics):
            return False
        if self.rules and not any(names_rule(rule, known) for rule in self.rules for known in case.rules):
            return False
        return not case.optional or self.with_optional or case.id in self.ids or case.topic in self.topics

    def describe(self) -> str:
        """The selection as it was typed."""
        parts = [f"--select {pattern!r}" for pattern in self.ids]
        parts += [f"--topic {topic}" for topic in self.topics]
        parts += [f"--rule {rule}" for rule in self.rules]
        parts += ["--optional"] if self.with_optional else []
        return " ".join(parts) or "the whole corpus"


def names_rule(wanted: str, rule: str) -> bool:
    """Whether a word means a rule: the whole id, or the prefix of its page."""
    return wanted == rule or rule.startswith(f"{wanted}-")


def suggestion(word: str, known: Iterable[str]) -> str:
    """The nearest known word, as the end of a sentence; nothing if none is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def in_topic(topic: str, wanted: str) -> bool:
    """A topic is in itself, in every folder above it, and in what a pattern matches."""
    return topic == wanted or topic.startswith(f"{wanted}/") or fnmatch.fnmatchcase(topic, wanted)
