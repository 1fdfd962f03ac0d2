"""Checks of the flow: several requests at once, requests in parts, large ones, state, the end of input."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.adapters.limits import WINDOW_REQUESTS, Limits
from conformance.doctor import samples, samples_stored
from conformance.doctor.catalogue import finding
from conformance.doctor.checks import gone
from conformance.doctor.conversation import Reply
from conformance.doctor.findings import Finding
from conformance.doctor.patient import IDS, Patient
from conformance.json_text import MAX_LINE_BYTES

COMPARABLE = ("fold", "messages", "window", "transcript", "project", "classify", "messages.linear-fallback",
              "tutorial", "surface.live", *samples.CELL_OPERATIONS,
              *(op for op in samples_stored.OPERATIONS if op != "fork"))  # fmt: skip
"""Operations that answer the same to the same request; a fork is made at some time."""
LARGE_BYTES = MAX_LINE_BYTES - 1024


def state(patient: Patient) -> Iterator[Finding]:
    """The same request has the same answer after others, and after a refused one."""
    op = patient.first_of(*COMPARABLE)
    if op is None:
        return
    first = patient.ask(op, samples.request(op))
    if first.gone:
        yield from gone(first)
        return
    for between in ("other", "no-marker"):
        other = patient.ask(op, samples.request(op, between))
        yield from gone(other)
        again = patient.ask(op, samples.request(op))
        yield from gone(again)
        if "malformed" not in (first.kind, again.kind) and not again.gone and not again.same(first):
            told = f"{again.received}; the first time it was {first.received}"
            yield finding("state-leaks", again.sent, told)
            patient.given_up = "what follows would only show the state again"
            return


def in_flight(patient: Patient) -> Iterator[Finding]:
    """Requests that come together are all answered, each under its own id."""
    op = patient.first_of(*COMPARABLE)
    if op is None:
        return
    alone = [patient.ask(op, samples.request(op, log)) for log in ("small", "other")]
    if any(reply.gone or reply.kind == "malformed" for reply in alone):
        return
    for logs in (("small", "other"), ("small", "other") * (WINDOW_REQUESTS // 2)):
        before = patient.marks.names()
        replies = patient.ask_all([(op, samples.request(op, log)) for log in logs])
        lost = [reply for reply in replies if reply.gone]
        if lost or patient.marks.names() - before:
            patient.marks.forget(*(patient.marks.names() - before))
            shown = lost[0] if lost else replies[0]
            yield finding("in-flight", f"{len(logs)} requests in one write", shown.received)
            return
        if any(not reply.same(alone[index % 2]) for index, reply in enumerate(replies)):
            told = "; ".join(reply.received for reply in replies[:2])
            yield finding("answers-mixed", "; ".join(reply.sent for reply in replies[:2]), told)
            return
        order = [reply.place for reply in replies]
        if order != sorted(order):
            yield finding(
                "out-of-order", f"{len(logs)} requests in one write", "the answers in another order"
            )


def split_line(patient: Patient) -> Iterator[Finding]:
    """A request that arrives in two parts is one request."""
    op = patient.first_of(*samples.ANY_OPERATION)
    if op is None:
        return
    whole = patient.ask(op, samples.request(op))
    before = patient.marks.names()
    reply = patient.ask_all([(op, samples.request(op))], cut=30)[0]
    fresh = patient.marks.names() - before
    if reply.gone or fresh or (reply.kind != whole.kind and "malformed" not in (reply.kind, whole.kind)):
        patient.marks.forget(*fresh)
        patient.drop()
        yield finding("split-line", f"{reply.sent} in two parts", reply.received)


def large_request(patient: Patient) -> Iterator[Finding]:
    """A request of nearly 1 MiB is answered as a small one is."""
    op = patient.first_of(*samples.TEXT_OPERATIONS, *samples_stored.CARRYING)
    if op is None:
        return
    small = patient.ask(op, samples.request(op))
    lengths = [len(samples.body(op, samples.request(op, text=text))) for text in ("", "x")]
    room = (LARGE_BYTES - lengths[0]) // (lengths[1] - lengths[0])
    before = patient.marks.names()
    reply = patient.ask(op, samples.request(op, text="x" * room))
    fresh = patient.marks.names() - before
    if reply.gone or fresh or (reply.kind != small.kind and "malformed" not in (reply.kind, small.kind)):
        patient.marks.forget(*fresh)
        patient.drop()
        yield finding("large-request", reply.sent, reply.received)


def end_of_input(patient: Patient) -> Iterator[Finding]:
    """Nothing is open and the input ends: it exits with status 0, soon and silently."""
    talk = patient.current()
    talk.end_input()
    seconds = patient.left(min(Limits().exit_seconds, patient.seconds))
    talk.pump(seconds, lambda: talk.process.returncode is not None)
    code = talk.process.wait(0.5)  # it may have closed its output a moment before
    talk.pump(0.2, lambda: False)
    talk.settle()
    if code is None:
        yield finding("does-not-exit", "the end of input", f"it still runs after {seconds:g} s")
    elif code != 0:
        tail = talk.process.stderr_tail()
        told = f"it {talk.process.describe_end()}" + (f"; stderr ends with: {tail[-300:]}" if tail else "")
        yield finding("exit-code", "the end of input", told)
    patient.drop()


def end_while_open(patient: Patient) -> Iterator[Finding]:
    """The input ends right behind three requests: they are answered all the same."""
    op = patient.first_of(*samples.ANY_OPERATION)
    if op is None:
        return
    talk = patient.fresh()
    requests = [(next(IDS), patient.placed(samples.body(op, samples.request(op)))) for _ in range(3)]
    before = patient.marks.names()
    talk.put_text(requests)
    talk.end_input()
    seconds = patient.left(patient.seconds)
    talk.pump(seconds, lambda: not talk.open)
    talk.settle()
    lost: list[Reply] = [talk.reply(number, seconds) for number, _ in requests if number in talk.open]
    if lost:
        patient.marks.forget(*(patient.marks.names() - before - {"no-line-end"}))
        yield finding("unfinished", "three requests, and at once the end of input", lost[0].received,
                      f"{len(lost)} of 3 were not answered")  # fmt: skip
    patient.drop()


def other_protocol(patient: Patient) -> Iterator[Finding]:
    """A protocol that nobody speaks is answered error."""
    marks = patient.marks.names()
    talk = patient.start()
    talk.put(0, '"op":"hello","protocol":999}')
    talk.pump(patient.left(max(patient.seconds, patient.start_seconds * 4)), lambda: 0 in talk.replies)
    patient.marks.forget(*(patient.marks.names() - marks))
    reply = talk.replies.get(0)
    if reply is not None and reply.kind == "result" and reply.value.get("protocol") in (1, 999):
        yield finding("hello-any-protocol", reply.sent, reply.received)
    patient.drop()


def restart(patient: Patient) -> Iterator[Finding]:
    """Every fresh process declares the same."""
    for later in patient.later_hellos:
        for name in ("capabilities", "editions"):
            if later.get(name) != patient.hello.get(name):
                yield finding("hello-changes", "hello to a fresh process", f"{name} {later.get(name)}", name)
