"""The beginning: does it start, does it greet, does it answer at once, and what does it say of itself."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator

from conformance.doctor import samples
from conformance.doctor.catalogue import finding
from conformance.doctor.conversation import Conversation
from conformance.doctor.findings import Finding
from conformance.doctor.patient import IDS, Patient
from conformance.errors import AdapterError
from conformance.operations import BESIDE_OPERATIONS, OPERATIONS, known_capability
from conformance.protocol import HELLO_BODY, VERSION
from conformance.schemas import fault
from conformance.selection import suggestion

SLOW_SECONDS = 5.0
HELLO = f'{{"id":0,{HELLO_BODY}'


def greet(patient: Patient) -> Iterator[Finding]:
    """Start it and wait for hello. Nothing else can be asked unless ``patient.hello`` is set afterwards."""
    try:
        talk = patient.start()
    except AdapterError as error:
        yield finding("cannot-start", "", str(error))
        return
    talk.put(0, HELLO_BODY)
    talk.pump(patient.left(patient.seconds), lambda: 0 in talk.replies)
    if 0 not in talk.replies and talk.process.stdout_open and talk.process.returncode is None:
        told = yield from _silence(patient, talk)
        if told:
            return
    if 0 not in talk.replies:
        talk.settle()
    if 0 not in talk.replies:
        reply = talk.reply(0, patient.seconds)
        yield finding("dies-at-start" if reply.kind == "died" else "silent", HELLO, reply.received)
        return
    patient.start_seconds = time.monotonic() - talk.began
    if patient.start_seconds > SLOW_SECONDS:
        yield finding("slow-start", HELLO, f"the answer after {patient.start_seconds:.1f} s")
    yield from _hello(patient, talk)
    if talk.unended:
        patient.given_up = "the end of every answer would be waited for"


def _silence(patient: Patient, talk: Conversation) -> Generator[Finding, None, bool]:
    """No hello yet: slow, silent, or not flushed? A second process whose input ends at once tells."""
    talk.settle()
    if 0 in talk.replies:  # the answer was there, but not the end of its line
        return False
    second = Conversation(patient.target, patient.marks)
    try:
        second.put(0, HELLO_BODY)
        second.end_input()
        end = time.monotonic() + patient.left(patient.hello_seconds - patient.seconds)
        while 0 not in talk.replies and time.monotonic() < end:
            second.pump(0.1, lambda: 0 in second.replies)
            if 0 in second.replies:
                talk.pump(min(patient.seconds, 2.0), lambda: 0 in talk.replies)
                break
            talk.pump(0.1, lambda: 0 in talk.replies)
            if talk.flooded or talk.process.returncode is not None or not talk.process.stdout_open:
                return False
        if 0 in talk.replies:
            return False
        if 0 in second.replies:
            late = f"nothing within {patient.seconds:g} s; after the end of its input: "
            late += second.replies[0].received
            yield finding("not-flushed", HELLO, late)
        else:
            yield finding("silent", HELLO, talk.reply(0, patient.hello_seconds).received)
        return True
    finally:
        second.close()


def _hello(patient: Patient, talk: Conversation) -> Iterator[Finding]:
    reply = talk.replies[0]
    if reply.kind == "malformed":
        return  # the line is marked
    if reply.kind != "result":
        yield finding("hello-wrong", HELLO, reply.received, f"it is {reply.kind}, not a result")
        return
    value = reply.value
    if value.get("protocol", VERSION) != VERSION:
        yield finding("hello-protocol", HELLO, reply.received)
        return
    wrong = fault("hello", value)
    if wrong is not None:
        yield finding("hello-wrong", HELLO, reply.received, str(wrong))
        return
    patient.hello = value


def capabilities(patient: Patient) -> Iterator[Finding]:
    """What it declares is known to this suite, and enough to be asked something."""
    told = patient.hello["capabilities"]
    received = f"capabilities {told}, editions {patient.hello['editions']}"
    unknown = [each for each in told if not known_capability(each)]
    known = [*OPERATIONS, *BESIDE_OPERATIONS]
    if unknown:
        names = ", ".join(f"{each}{suggestion(each, known)}" for each in unknown)
        yield finding("capability-unknown", HELLO, received, names)
    if "v0" not in patient.hello["editions"]:
        yield finding("nothing-declared", HELLO, received, "the edition v0 is not among the editions")
    elif not any(known_capability(each) and each not in BESIDE_OPERATIONS for each in told):
        yield finding(
            "nothing-declared", HELLO, received, "no operation of this suite is among the capabilities"
        )


def first_answer(patient: Patient) -> Iterator[Finding]:
    """The first request behind hello is answered without waiting for more input."""
    op = patient.first_of(*samples.ANY_OPERATION)
    talk = patient.talk
    if op is None or talk is None:
        return
    body = patient.placed(samples.body(op, samples.request(op)))
    number, second = next(IDS), next(IDS)
    talk.put(number, body)
    seconds = patient.left(patient.seconds)
    if talk.pump(seconds, lambda: number in talk.replies):
        return
    talk.settle()
    if number in talk.replies:
        patient.given_up = "the end of every answer would be waited for"
        return
    first = talk.reply(number, seconds)
    if first.kind == "hung":
        talk.put(second, body)
        talk.pump(min(1.0, seconds), lambda: not talk.open)
        when = "only after another request was sent"
        if number not in talk.replies:
            talk.end_input()
            talk.pump(seconds, lambda: not talk.open)
            talk.settle()
            when = "only after the end of its input"
        if number in talk.replies:
            told = f"nothing within {seconds:g} s; {when}: {talk.replies[number].received}"
            yield finding("not-flushed", first.sent, told)
        else:
            yield finding("hangs", first.sent, first.received)
    else:
        yield finding("dies", first.sent, first.received)
    patient.drop()
    patient.given_up = "the first request was not answered as it has to be"
