"""Nearly valid logs: a valid log, then one event with one fault of a chosen kind, or with two.

There is one kind of fault for each condition of the fold, with its name. Two faults in one event show
which of them is looked for first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.fuzzing import messages, values
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import LAST_SEQ, Event, LogDraft, add_user, valid_draft
from conformance.fuzzing.messages import LOG_ONLY, LOOKALIKES
from conformance.fuzzing.rewrites import alter
from conformance.fuzzing.spelling import again, raw

Fault = Callable[[Draw, LogDraft, Event], None]
"""Spoils an event, which otherwise could go to the end of the log."""

INVALID_MARKERS: tuple[Any, ...] = (
    None,
    "replace",
    "Append",
    "",
    True,
    False,
    0,
    1,
    [],
    ["append"],
    "append ",
)
STRAY_MARKERS: tuple[Any, ...] = ("append", None, "", False, 0, {}, {"op": "replace", "start": 0, "end": 0})
STRAY_SOURCES: tuple[Any, ...] = ([0], [], None, "", {}, False, 0)
NO_LISTS: tuple[Any, ...] = (None, "", "0", {}, 0, 1, False, True, {"0": 0, "length": 1})


def not_seqs(log: LogDraft) -> tuple[Any, ...]:
    return values.FINITE_NOT_SEQS if log.finite else values.NOT_SEQS


def append_event(draw: Draw, log: LogDraft) -> Event:
    """An event that could be appended next."""
    place, kind = len(log.events), draw.choice(("user/message", "assistant/message", "tool/result"))
    texts = ("a",)
    data = (
        messages.user(place, texts) if kind == "user/message"
        else messages.assistant(place, texts) if kind == "assistant/message"
        else messages.result(place, "c1", texts)
    )  # fmt: skip
    return {"type": kind, "seq": log.next_seq, "time": 0, "data": data, "surfaceOp": "append"}


def replace_event(draw: Draw, log: LogDraft) -> Event:
    """An event that could replace a stretch next; there is at least one node then."""
    nodes = ensure_nodes(draw, log, 1)
    first = draw.integer(0, len(nodes) - 1)
    last = draw.integer(first, len(nodes) - 1)
    event = append_event(draw, log)
    if event["type"] == "tool/result":
        event.update(type="user/message", data=messages.user(len(log.events), ("a",)))
    return with_range(event, nodes[first], nodes[last], nodes[first : last + 1])


def with_range(event: Event, start: Any, end: Any, sources: Any) -> Event:
    return {
        **event,
        "surfaceOp": {"op": "replace", "start": start, "end": end},
        "sourceEventSeqs": list(sources),
    }


def ensure_nodes(draw: Draw, log: LogDraft, number: int) -> list[int]:
    """The nodes, at least so many."""
    while len(log.nodes) < number:
        add_user(draw, log)
    return log.nodes


def any_event(draw: Draw, log: LogDraft) -> Event:
    return replace_event(draw, log) if draw.chance(50) else append_event(draw, log)


# -- the kinds ---------------------------------------------------------------------


def spoil_seq(draw: Draw, log: LogDraft, event: Event) -> None:
    seq = log.next_seq
    wrong: list[Any] = [seq + 1, max(0, seq - 1), log.base, 0, 1, 2**31, min(2**32 + seq, LAST_SEQ), LAST_SEQ]
    if not log.typed:
        wrong += [
            ABSENT,
            None,
            str(seq),
            raw(f"{seq}.5"),
            True,
            False,
            [seq],
            "",
            -seq,
            {},
            *(() if log.finite else BEYOND),
        ]
    put(event, "seq", draw.choice(wrong))


ABSENT = values.ABSENT
BEYOND = (raw("1e400"), raw("-1e400"), raw("9007199254740992"), raw("18446744073709551616"), raw("1e-400"))


def put(event: Event, name: str, value: Any) -> None:
    """Set a member, or take it out."""
    if value is ABSENT:
        event.pop(name, None)
    else:
        event[name] = value


def spoil_log_only_marker(draw: Draw, log: LogDraft, event: Event) -> None:
    event["type"], event["data"] = draw.choice(LOG_ONLY if log.typed else LOOKALIKES)
    event["surfaceOp"] = draw.choice(STRAY_MARKERS)
    event.pop("sourceEventSeqs", None)


def spoil_log_only_sources(draw: Draw, log: LogDraft, event: Event) -> None:
    event["type"], event["data"] = draw.choice(LOG_ONLY if log.typed else LOOKALIKES)
    event.pop("surfaceOp", None)
    event["sourceEventSeqs"] = draw.choice(STRAY_SOURCES)


def drop_marker(draw: Draw, log: LogDraft, event: Event) -> None:
    event.pop("surfaceOp", None)


def spoil_marker(draw: Draw, log: LogDraft, event: Event) -> None:
    event["surfaceOp"] = draw.choice(INVALID_MARKERS)


def spoil_replace(draw: Draw, log: LogDraft, event: Event) -> None:
    nodes = ensure_nodes(draw, log, 1)
    marker: dict[str, Any] = {"op": "replace", "start": nodes[0], "end": nodes[0]}
    way = draw.integer(0, 7)
    if way == 0:
        marker[draw.choice(("start", "end"))] = draw.choice(not_seqs(log))
    elif way == 1:
        del marker[draw.choice(("start", "end", "op"))]
    elif way == 2:
        marker[draw.choice(("by", "start ", "End", ""))] = draw.choice((None, 0, "x", []))
    elif way == 7:
        marker = {"op": "replace", "startSeq": nodes[0], "endSeq": nodes[0]}
    elif way == 3:
        marker["op"] = draw.choice(("append", "Replace", "", None, True, ["replace"], "replace "))
    elif way == 4:
        marker = draw.choice(({}, {"op": "append"}, {"append": True}, {"replace": [0, 0]}))
    elif way == 5:
        marker = {"op": "replace", again("start"): nodes[0], "start": "x", "end": nodes[0]}
    else:
        marker = {name: [value] for name, value in marker.items()}
    event["surfaceOp"] = marker
    event["sourceEventSeqs"] = [nodes[0]]
    event["seq"] = log.next_seq


def no_node(draw: Draw, log: LogDraft) -> int:
    """A seq that is no node now: shadowed, log-only, the event's own, later, or from before the log."""
    ensure_nodes(draw, log, 1)
    nodes = set(log.nodes)
    gone = [event["seq"] for event in log.events if event["seq"] not in nodes]
    others = [
        log.next_seq,
        log.next_seq + 1,
        max(0, log.base - 1),
        log.nodes[0] - log.base,
        LAST_SEQ,
        min(2**32 + log.nodes[0], LAST_SEQ),
    ]
    if log.base and draw.chance(40):
        return max(0, log.base - draw.integer(1, 3))
    found = draw.choice(gone) if gone and draw.chance(70) else draw.choice(others)
    return found if found not in nodes else log.next_seq


def spoil_start(draw: Draw, log: LogDraft, event: Event) -> None:
    absent = no_node(draw, log)
    end = absent if draw.chance(30) else draw.choice(log.nodes)
    event.update(with_range(event, absent, end, log.nodes))
    event["seq"] = log.next_seq


def spoil_end(draw: Draw, log: LogDraft, event: Event) -> None:
    absent = no_node(draw, log)
    start = draw.choice(log.nodes)
    event.update(with_range(event, start, absent, log.nodes))
    event["seq"] = log.next_seq


def reverse_range(draw: Draw, log: LogDraft, event: Event) -> None:
    nodes = ensure_nodes(draw, log, 2)
    first = draw.integer(0, len(nodes) - 2)
    last = draw.integer(first + 1, len(nodes) - 1)
    event.update(with_range(event, nodes[last], nodes[first], nodes[first : last + 1]))
    event["seq"] = log.next_seq


def spoil_list(draw: Draw, log: LogDraft, event: Event) -> None:
    event["sourceEventSeqs"] = draw.choice(NO_LISTS)


def empty_list(draw: Draw, log: LogDraft, event: Event) -> None:
    event["sourceEventSeqs"] = []
    if event["type"] == "assistant/message" and draw.chance(70):
        event.update(type="user/message", data=messages.user(len(log.events), ("a",)))


def sources_of(event: Event, log: LogDraft) -> list[Any]:
    """A copy of the sources that may be spoiled; of an append, one earlier event if there is one."""
    sources = event.get("sourceEventSeqs")
    if isinstance(sources, list):
        return list(sources)
    return [log.next_seq - 1] if log.events else []


def place_in(draw: Draw, sources: list[Any], member: Any) -> list[Any]:
    at = draw.integer(0, len(sources))
    return [*sources[:at], member, *sources[at:]]


def spoil_member(draw: Draw, log: LogDraft, event: Event) -> None:
    event["sourceEventSeqs"] = place_in(draw, sources_of(event, log), draw.choice(not_seqs(log)))


def repeat_member(draw: Draw, log: LogDraft, event: Event) -> None:
    sources = sources_of(event, log) or [0]
    member = draw.choice(sources)
    if draw.chance(30) and type(member) is int:
        member = raw(f"{member}.0")
    event["sourceEventSeqs"] = place_in(draw, sources, member)


def later_member(draw: Draw, log: LogDraft, event: Event) -> None:
    later = draw.choice((log.next_seq, log.next_seq + 1, LAST_SEQ, min(log.next_seq + 2**32, LAST_SEQ)))
    event["sourceEventSeqs"] = place_in(draw, sources_of(event, log), later)


def drop_member(draw: Draw, log: LogDraft, event: Event) -> None:
    """A replace that does not cite all it shadows."""
    nodes = ensure_nodes(draw, log, 2)
    first = draw.integer(0, len(nodes) - 1)
    last = draw.integer(first, len(nodes) - 1)
    shadowed = nodes[first : last + 1]
    left_out = draw.choice(shadowed)
    kept = [node for node in shadowed if node != left_out]
    if draw.chance(30):
        kept = [seq for seq in (log.base, log.next_seq - 1) if seq not in shadowed]
    event.update(with_range(event, shadowed[0], shadowed[-1], kept))
    event["seq"] = log.next_seq
    if not kept or draw.chance(20):
        del event["sourceEventSeqs"]


def add_results(draw: Draw, log: LogDraft) -> int:
    """Two results at the end of the log; the position of the first among the nodes."""
    for name in ("c1", "c2"):
        log.join("tool/result", messages.result(len(log.events), name, ("r",)))
    return len(log.nodes) - 2


def rewrite_event(log: LogDraft, target: int, first: int, last: int) -> Event:
    """A rewrite of the result at a position, over a stretch of positions."""
    data = messages.rewritten(log.events[log.nodes[target] - log.base]["data"], ("short",))
    event = {"type": "tool/result", "seq": log.next_seq, "time": 0, "data": data}
    return with_range(event, log.nodes[first], log.nodes[last], log.nodes[first : last + 1])


def span_results(draw: Draw, log: LogDraft, event: Event) -> None:
    place = add_results(draw, log)
    before = draw.integer(0, min(1, place))
    event.clear()
    event.update(rewrite_event(log, place, place - before, place + draw.integer(1 - before, 1)))


def miss_result(draw: Draw, log: LogDraft, event: Event) -> None:
    nodes = ensure_nodes(draw, log, 1)
    place = add_results(draw, log)
    others = [at for at, seq in enumerate(nodes) if log.kind_of(seq) != "tool/result"] or [0]
    at = draw.choice(others)
    event.clear()
    event.update(rewrite_event(log, place, at, at))


def change_result(draw: Draw, log: LogDraft, event: Event) -> None:
    place = add_results(draw, log)
    event.clear()
    event.update(rewrite_event(log, place, place, place))
    event["data"] = alter(draw, event["data"], log)


FAULTS: dict[str, Fault] = {
    "seq-not-contiguous": spoil_seq,
    "surface-op-forbidden": spoil_log_only_marker,
    "sources-forbidden": spoil_log_only_sources,
    "surface-op-missing": drop_marker,
    "surface-op-invalid": spoil_marker,
    "replace-op-invalid": spoil_replace,
    "replace-start-absent": spoil_start,
    "replace-end-absent": spoil_end,
    "replace-reversed": reverse_range,
    "sources-not-array": spoil_list,
    "sources-empty": empty_list,
    "source-not-seq": spoil_member,
    "sources-duplicate": repeat_member,
    "source-not-earlier": later_member,
    "sources-incomplete": drop_member,
    "tool-result-span": span_results,
    "tool-result-target": miss_result,
    "tool-result-changed": change_result,
}
"""By the condition that each one aims at. A fault now and then misses, and leaves a valid event."""

KINDS = tuple(FAULTS)


def spoiled_event(draw: Draw, log: LogDraft, kind: str) -> Event:
    """An event for the end of the log with one fault of that kind, now and then with a second one."""
    event = any_event(draw, log)
    FAULTS[kind](draw, log, event)
    if draw.chance(25):
        event = dict(event)
        FAULTS[draw.choice(KINDS)](draw, log, event)
    return event


def spoiled_draft(
    draw: Draw, kind: str, base: int = 0, *, typed: bool = True, finite: bool = False
) -> LogDraft:
    """A valid log with a faulty event at the end, or near it."""
    log = valid_draft(draw, base, average=5, typed=typed, finite=finite)
    event = spoiled_event(draw, log, kind)
    log.events.append(event)
    if draw.chance(25):
        for _ in draw.repeat(1):
            log.events.append({**append_event(draw, log), "seq": log.next_seq})
    return log


def nearly_valid_log(
    draw: Draw, kind: str | None = None, *, typed: bool = True, finite: bool = False
) -> list[Event]:
    """A log with one fault of a kind, or of any."""
    chosen = draw.choice(KINDS) if kind is None else kind
    return spoiled_draft(draw, chosen, typed=typed, finite=finite).events
