"""Checks of what travels: ids, integers and texts must come back as they went."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.doctor import samples, samples_stored
from conformance.doctor.catalogue import finding
from conformance.doctor.checks import gone
from conformance.doctor.conversation import Reply
from conformance.doctor.findings import Finding
from conformance.doctor.patient import Patient
from conformance.json_text import MAX_SAFE_INTEGER

LARGE = (3_000_000_001, MAX_SAFE_INTEGER)
TEXT_OPERATIONS = ("project", "messages", "transcript", "messages.linear-fallback", "tutorial",
                   *samples_stored.CARRYING)  # fmt: skip
NON_ASCII = {
    "é (U+00E9)": "caf\u00e9",
    "中 (U+4E2D)": "\u4e2d\u6587",
    "an emoji (U+1F600)": "a\U0001f600b",
    "a line separator (U+2028)": "a\u2028b",
}


def large_id(patient: Patient) -> Iterator[Finding]:
    """An id may be as large as 2^53-1; the answer is paired even if it is squeezed, and the id is marked."""
    op = patient.first_of(*samples.ANY_OPERATION)
    if op is None:
        return
    reply = patient.ask(op, samples.request(op), number=MAX_SAFE_INTEGER)
    yield from gone(reply)


def large_integers(patient: Patient) -> Iterator[Finding]:
    """Seqs and numbers in payloads go through with all their digits."""
    carried = "window" in patient.declared and window_at(patient, 5).value
    for number in LARGE:
        if isinstance(carried, dict) and carried.get("nodes") == [5]:
            reply = window_at(patient, number)
            yield from gone(reply)
            if reply.kind == "result" and reply.value.get("nodes") != [number]:
                yield finding("integers-squeezed", reply.sent, reply.received, f"the seq {number}")
            elif reply.kind in ("rejected", "crashed", "error"):
                yield finding("integers-refused", reply.sent, reply.received, f"the seq {number}")
        op = patient.first_of("project", "messages")
        if op is None:
            continue
        members = samples.request(op)
        event = members["event"] if op == "project" else members["events"][0]
        event["data"]["count"] = number
        reply = patient.ask(op, members)
        yield from gone(reply)
        if reply.kind == "result":
            value = reply.value
            told = value.get("message") if op == "project" else first(value.get("messages"))
            if isinstance(told, dict) and told.get("count", number) != number:
                where = f"the number {number} in a message"
                yield finding("integers-squeezed", reply.sent, reply.received, where)


def window_at(patient: Patient, base: int) -> Reply:
    """The reply to a window of one event that begins at a seq."""
    members = samples.request("window")
    members["events"][0]["seq"] = base
    return patient.ask("window", {**members, "baseSeq": base})


def carrying(patient: Patient) -> str | None:
    """An operation that gives the text of a message back, if one does so with plain ASCII."""
    op = patient.first_of(*TEXT_OPERATIONS)
    if op is None:
        return None
    plain = patient.ask(op, samples.request(op, text="plain"))
    return op if plain.kind == "result" and "plain" in samples.walk_texts(plain.value) else None


def first(value: Any) -> Any:
    """The first element of what should be a list with one."""
    return value[0] if isinstance(value, list) and value else None


def texts(patient: Patient) -> Iterator[Finding]:
    """NUL and what is not ASCII come back as sent, where plain ASCII does."""
    op = carrying(patient)
    if op is None:
        return
    for name, text, found in [
        *((name, text, "non-ascii-lost") for name, text in NON_ASCII.items()),
        ("NUL (U+0000)", "a\0b", "nul-lost"),
    ]:
        before = patient.marks.names()
        reply = patient.ask(op, samples.request(op, text=text))
        broken = patient.marks.names() - before
        wrong = reply.kind != "result" or text not in samples.walk_texts(reply.value)
        if broken & {"answer-unreadable", "invalid-utf8"} or (wrong and reply.kind != "malformed"):
            patient.marks.forget(*broken)
            yield finding(found, reply.sent, reply.received, name)


def surrogates(patient: Patient) -> Iterator[Finding]:
    """A lone surrogate goes in as text and comes out as an escape, or is at least told honestly."""
    op = carrying(patient)
    if op is None or not samples.has_text_spelling(op):
        return
    text = "a\ud83db"
    before = patient.marks.names()
    reply = patient.ask(op, samples.as_text(samples.request(op, text=text), op))
    broken = patient.marks.names() - before
    if broken or reply.kind in ("died", "hung", "error"):
        patient.marks.forget(*broken)
        yield finding("surrogate-breaks", reply.sent, reply.received)
    elif reply.kind == "result" and text not in samples.walk_texts(reply.value):
        yield finding("surrogate-lost", reply.sent, reply.received)
    elif reply.kind in ("crashed", "rejected"):
        yield finding("not-judged", reply.sent, reply.received)
