"""Checks of single answers: each sends little and yields what it finds."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.doctor import samples, samples_stored
from conformance.doctor.catalogue import finding
from conformance.doctor.conversation import Reply
from conformance.doctor.findings import Finding
from conformance.doctor.patient import Patient
from conformance.operations import OPERATIONS


def gone(reply: Reply, severity: str | None = None) -> Iterator[Finding]:
    """The finding for a process that died or hung over a request, where the check knows no better one."""
    if reply.gone:
        name = "dies" if reply.kind == "died" else "hangs"
        yield finding(name, reply.sent, reply.received, severity=severity)


def declared_operations(patient: Patient) -> Iterator[Finding]:
    """Every declared operation answers a tiny valid request, with a result of the right shape."""
    for op in patient.declared:
        reply = patient.ask(op, samples.request(op))
        yield from gone(reply)
        if reply.kind == "unsupported":
            yield finding("declared-unsupported", reply.sent, reply.received, op)
        elif reply.kind == "error":
            yield finding("declared-error", reply.sent, reply.received, op)
        elif reply.kind in ("rejected", "crashed"):
            yield finding("valid-not-accepted", reply.sent, reply.received, f"{op}: {reply.kind}")
        elif reply.kind == "result":
            wrong = samples.wrong_result(op, reply.value)
            if wrong is not None:
                yield finding("result-shape", reply.sent, reply.received, f"{op}: {wrong}")


def undeclared_operations(patient: Patient) -> Iterator[Finding]:
    """What is not declared is answered unsupported."""
    for op in samples.ANY_OPERATION:
        if op in patient.hello["capabilities"]:
            continue
        reply = patient.ask(op, samples.request(op))
        yield from gone(reply)
        if reply.kind == "result" and samples.wrong_result(op, reply.value) is None:
            yield finding("not-declared", reply.sent, reply.received, op)


def unknown_operation(patient: Patient) -> Iterator[Finding]:
    """An operation that nobody has is answered unsupported, and so is an edition."""
    reply = patient.ask("no.such-operation", samples.request("fold"))
    if reply.gone:
        yield finding("unknown-operation", reply.sent, reply.received, severity="error")
    elif reply.kind not in ("unsupported", "malformed"):
        yield finding("unknown-operation", reply.sent, reply.received)
    op = patient.first_of(*samples.ANY_OPERATION)
    if op is not None:
        reply = patient.ask(op, samples.request(op), edition="v999")
        yield from gone(reply)
        if reply.kind == "result":
            yield finding("edition-ignored", reply.sent, reply.received)


def unknown_member(patient: Patient) -> Iterator[Finding]:
    """A member that the operation does not know is ignored."""
    op = patient.first_of(*samples.ANY_OPERATION)
    if op is None:
        return
    plain = patient.ask(op, samples.request(op))
    reply = patient.ask(op, {**samples.request(op), "comment": "not for you"})
    yield from gone(reply)
    same = reply.same(plain) or _times_differ(op, plain, reply)
    if not reply.gone and not same and "malformed" not in (plain.kind, reply.kind):
        yield finding("member-not-ignored", reply.sent, reply.received)


def text_spelling(patient: Patient) -> Iterator[Finding]:
    """What is plain, but spelled as text, is answered as the same in plain spelling is."""
    for op in filter(samples.has_text_spelling, patient.declared):
        members = samples.request(op)
        plain = patient.ask(op, members)
        spelled = samples.all_as_text(members, op)
        reply = patient.ask(op, spelled)
        if "malformed" in (plain.kind, reply.kind) or plain.gone or plain.kind in ("unsupported", "error"):
            continue
        if not reply.same(plain) and not _times_differ(op, plain, reply):
            names = ", ".join(name for name in spelled if name not in members)
            told = f"{reply.received}; and for the same in plain spelling: {plain.received}"
            yield finding("text-ignored", reply.sent, told, f"{names} of {op}")


def _times_differ(op: str, plain: Reply, reply: Reply) -> bool:
    return OPERATIONS[samples.name_of(op)].tokens and plain.kind == reply.kind == "result"


def text_not_plain(patient: Patient) -> Iterator[Finding]:
    """A text with -0, 0.0, 0e0 or a name given twice goes to the implementation's parser."""
    op = patient.first_of(*samples.LOG_OPERATIONS)
    if op is None:
        return
    spellings = {"-0": "-0", "0.0": "0.0", "0e0": "0e0", "a name given twice": '9,"seq":0'}
    text = samples.as_text(samples.request(op), op)
    for name, spelled in spellings.items():
        odd = {
            key: value.replace('"seq":0', f'"seq":{spelled}') if key.endswith("_text") else value
            for key, value in text.items()
        }
        reply = patient.ask(op, odd)
        yield from gone(reply)
        if reply.kind == "error":
            yield finding("text-turned-down", reply.sent, reply.received, name)


def deep_text(patient: Patient) -> Iterator[Finding]:
    """A text may be nested 512 levels deep."""
    op = patient.first_of(*samples.LOG_OPERATIONS, "project", "classify")
    if op is None:
        return
    text = samples.as_text(samples.request(op), op)
    deep = "[" * 480 + "]" * 480
    reply = patient.ask(
        op,
        {
            key: value.replace('"type":', f'"nested":{deep},"type":', 1) if key.endswith("_text") else value
            for key, value in text.items()
        },
    )
    if reply.gone or reply.kind == "error":
        yield finding("deep-text", reply.sent, reply.received)


def missing_member(patient: Patient) -> Iterator[Finding]:
    """A request without its payload, or with one that is no list, is an error of the asker, not a refusal.

    A run sends no such request, so it is no error if the process ends over one.
    """
    needing = [op for op in patient.declared if samples.name_of(op) not in samples_stored.MAY_BE_MISSING]
    for op in needing[:3]:
        name = samples.payload(op)
        members = {key: value for key, value in samples.request(op).items() if key != name}
        reply = patient.ask(op, members)
        yield from gone(reply, "warning")
        if reply.kind == "rejected":
            yield finding("exception-as-refusal", reply.sent, reply.received, f"{op} without {name}")
        elif reply.kind == "result":
            yield finding("missing-member-accepted", reply.sent, reply.received, f"{op} without {name}")
        elif reply.kind == "crashed":
            yield finding("missing-member-crash", reply.sent, reply.received, f"{op} without {name}")
    log_op = patient.first_of(*samples.LOG_OPERATIONS)
    if log_op is not None:
        reply = patient.ask(log_op, {**samples.request(log_op), "events": 5})
        yield from gone(reply, "warning")
        if reply.kind == "rejected":
            yield finding("exception-as-refusal", reply.sent, reply.received, "events that are no list")
        reply = patient.ask(log_op, samples.as_text(samples.request(log_op), log_op, '[{"type":'))
        yield from gone(reply, "warning")
        if reply.kind == "rejected":
            yield finding("unparsable-as-refusal", reply.sent, reply.received)


def invalid_logs(patient: Patient) -> Iterator[Finding]:
    """Logs, or other requests, that everybody refuses are answered rejected, with a reason."""
    op = patient.first_of("fold", "messages", "window", *samples_stored.REFUSING)
    if op is None:
        return
    invalid = samples.INVALID[:1] if op in samples_stored.REFUSING else samples.INVALID
    replies = [patient.ask(op, samples.request(op, log)) for log in invalid]
    for reply in replies:
        yield from gone(reply)
    kinds = {reply.kind for reply in replies}
    first = replies[0]
    for kind in ("crashed", "error"):
        if kinds == {kind}:
            yield finding("refusal-as-crash", first.sent, first.received, kind)
    if kinds != {"rejected"} and kinds & {"result", "rejected"} and not kinds & {"malformed", "died", "hung"}:
        other = next(reply for reply in replies if reply.kind != "rejected")
        yield finding("not-judged", other.sent, other.received)
    refused = [reply for reply in replies if reply.kind == "rejected"]
    if refused and not any({"condition", "message"} & reply.value.keys() for reply in refused):
        yield finding("refusal-without-reason", refused[0].sent, refused[0].received)


def position(patient: Patient) -> Iterator[Finding]:
    """``at`` is an index in the request, also in a window that begins at another seq."""
    if "window" not in patient.declared:
        return
    members = samples.request("window", "no-marker")
    for event in members["events"]:
        event["seq"] += 40
    reply = patient.ask("window", {**members, "baseSeq": 40})
    if reply.kind == "rejected" and reply.value.get("at", 1) != 1:
        yield finding("at-no-index", reply.sent, reply.received)


def empty_log(patient: Patient) -> Iterator[Finding]:
    """An empty log is a log."""
    op = patient.first_of(*samples.LOG_OPERATIONS)
    if op is None:
        return
    reply = patient.ask(op, samples.request(op, "empty"))
    if reply.gone or reply.kind in ("error", "unsupported"):
        yield finding("empty-log", reply.sent, reply.received)
    elif reply.kind in ("rejected", "crashed"):
        yield finding("not-judged", reply.sent, reply.received)
    elif reply.kind == "result":
        wrong = samples.wrong_result(op, reply.value)
        if wrong is not None:
            yield finding("result-shape", reply.sent, reply.received, f"{op}: {wrong}")
