"""The rule that a finding belongs to: of the specification by its condition, else of the advice page."""

from __future__ import annotations

from functools import cache

ADVICE = {
    "call-unanswered": "ADVC-1",
    "result-without-call": "ADVC-2",
    "call-id-duplicate": "ADVC-3",
    "call-id-empty": "ADVC-4",
    "result-duplicate": "ADVC-5",
    "replace-splits-pair": "ADVC-6",
    "user-message-empty": "ADVC-7",
    "compaction-uncited": "ADVC-8",
    "chunks-uncited": "ADVC-9",
    "call-uncited": "ADVC-10",
    "turn-already-open": "ADVC-11",
    "turn-number": "ADVC-12",
    "turn-end-mismatch": "ADVC-13",
    "turn-end-open-step": "ADVC-14",
    "step-start-turn": "ADVC-15",
    "step-already-open": "ADVC-16",
    "step-number": "ADVC-17",
    "step-mismatch": "ADVC-18",
    "tool-result-no-call": "ADVC-19",
    "tool-rewrite-outside-turn": "ADVC-20",
    "event-outside-turn": "ADVC-21",
    "turn-interrupted": "ADVC-22",
    "type-ignorable": "ADVC-23",
    "lone-surrogate": "ADVC-24",
    "invalid-utf8": "ADVC-25",
    "edition-name": "ADVC-26",
    "number-not-lossless": "ADVC-27",
    "encoding-name": "ADVC-28",
    "unreadable": "FILE-1",
    "too-large": "FILE-2",
    "file-changed": "FILE-3",
    "dictionary-missing": "FILE-4",
    "db-unreadable": "FILE-5",
}
"""Ids of what no rule of the specification is about; see ``spec/advice.md``."""

PARTS = {"torn-line": "JSNL-11", "torn-frame": "ZSTD-6"}
"""Rules without a condition, for what loses events and refuses nothing."""


@cache
def rule_of(condition: str) -> str:
    """The id of a condition's rule; the condition itself where the ledger does not have it."""
    if condition in ADVICE:
        return ADVICE[condition]
    if condition in PARTS:
        return PARTS[condition]
    from conformance.ledger import load_ledger

    rule = load_ledger().conditions.get(condition)
    return condition if rule is None else rule.id
