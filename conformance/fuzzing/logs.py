"""Valid logs: turns as sessions have them, and dense ones in which nearly every event moves the surface."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.fuzzing import messages
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.messages import CALL_IDS, LOG_ONLY, LOOKALIKES, TEXTS

Event = dict[str, Any]
LAST_SEQ = 2**53 - 1
TIME_STEP = 10
"""As in the shorthand of vector files, so that a small log reads well there."""
BASES = (0, 1, 10, 255, 2**24 - 3, 2**31 - 4, 2**32 - 4, 2**40, LAST_SEQ - 200)
"""Where a window may begin: small, around what fits into 24, 31 and 32 bits, and near the last seq."""
TEXT_LISTS = (
    *((text,) for text in TEXTS), *((text,) for text in TEXTS), (), ("a", "b"), ("", "a"),
)  # fmt: skip


class LogDraft:
    """A valid log as it grows, with the surface that the events before have made.

    A ``typed`` log can be held by a port whose events have types: beside a fault under test it
    passes the checks of admission. What an answer repeats must be ``finite``.
    """

    def __init__(self, base: int = 0, *, typed: bool = True, finite: bool = False) -> None:
        self.base = base
        self.typed = typed
        self.finite = finite
        self.events: list[Event] = []
        self.nodes: list[int] = []
        self.turn = 0

    @property
    def next_seq(self) -> int:
        return self.base + len(self.events)

    def kind_of(self, seq: int) -> Any:
        return self.events[seq - self.base]["type"]

    def add(self, kind: str, data: Any) -> int:
        """A log-only event."""
        events = self.events
        place = len(events)
        seq = self.base + place
        events.append({"type": kind, "seq": seq, "time": TIME_STEP * place, "data": data})
        return seq

    def join(self, kind: str, data: Any, sources: list[int] | None = None) -> int:
        """An event that appends itself to the surface."""
        events = self.events
        place = len(events)
        seq = self.base + place
        event = {
            "type": kind, "seq": seq, "time": TIME_STEP * place, "data": data, "surfaceOp": "append",
        }  # fmt: skip
        if sources is not None:
            event["sourceEventSeqs"] = sources
        events.append(event)
        self.nodes.append(seq)
        return seq

    def replace(self, kind: str, data: Any, first: int, last: int, sources: list[int]) -> int:
        """An event in place of the nodes at the positions from ``first`` to ``last``."""
        nodes = self.nodes
        seq = self.add(kind, data)
        event = self.events[-1]
        event["surfaceOp"] = {"op": "replace", "start": nodes[first], "end": nodes[last]}
        event["sourceEventSeqs"] = sources
        nodes[first : last + 1] = [seq]
        return seq


def texts_of(draw: Draw) -> tuple[str, ...]:
    """One text, seldom none or two."""
    return draw.choice(TEXT_LISTS)


# -- one event at a time -----------------------------------------------------------


def add_user(draw: Draw, log: LogDraft) -> None:
    log.join("user/message", messages.user(len(log.events), texts_of(draw)))


def earlier(draw: Draw, log: LogDraft) -> int:
    """The seq of an earlier event, most often the one before; in a window it may be from before that."""
    before = log.next_seq - 1
    return before if not draw.chance(30) else draw.integer(max(0, before - 9), before)


def add_assistant(draw: Draw, log: LogDraft) -> None:
    place = len(log.events)
    sources: list[int] | None = None
    if draw.chance(30):
        sources = [earlier(draw, log)] if log.next_seq and draw.chance(60) else []
    log.join("assistant/message", messages.assistant(place, texts_of(draw)), sources)


def add_result(draw: Draw, log: LogDraft) -> None:
    call = draw.choice(CALL_IDS)
    sources = [earlier(draw, log)] if log.next_seq and draw.chance(30) else None
    log.join("tool/result", messages.result(len(log.events), call, texts_of(draw)), sources)


def add_noise(draw: Draw, log: LogDraft) -> None:
    kind, data = draw.choice(LOG_ONLY if log.typed else LOOKALIKES)
    log.add(kind, data)


def add_replace(draw: Draw, log: LogDraft) -> None:
    """A summary in place of a stretch; it may cite more than the stretch, in any order."""
    nodes = log.nodes
    if not nodes:
        return add_user(draw, log)
    first = draw.integer(0, len(nodes) - 1)
    last = draw.integer(first, min(len(nodes) - 1, first + 5))
    sources = cited(draw, log, nodes[first : last + 1])
    if draw.chance(30):
        data = messages.assistant(len(log.events), texts_of(draw))
        log.replace("assistant/message", data, first, last, sources)
    else:
        log.replace("user/message", messages.user(len(log.events), texts_of(draw)), first, last, sources)
    return None


def cited(draw: Draw, log: LogDraft, shadowed: list[int]) -> list[int]:
    """The shadowed seqs, now and then in another order or among others that are earlier."""
    order = draw.integer(0, 9)
    if order < 6:
        return shadowed
    if order == 6:
        return shadowed[::-1]
    if order == 7:
        return sorted(shadowed)
    extra = draw.integer(max(0, log.base - 3), log.next_seq - 1)
    if extra in shadowed:
        return shadowed
    return [*shadowed, extra] if order == 8 else [extra, *shadowed]


def add_rewrite(draw: Draw, log: LogDraft) -> None:
    """A tool result with shorter content, as a pruner writes it."""
    places = [place for place, seq in enumerate(log.nodes) if log.kind_of(seq) == "tool/result"]
    if not places:
        return add_result(draw, log)
    place = draw.choice(places)
    seq = log.nodes[place]
    data = messages.rewritten(log.events[seq - log.base]["data"], texts_of(draw))
    log.replace("tool/result", data, place, place, cited(draw, log, [seq]))
    return None


# -- as sessions write -------------------------------------------------------------


def add_turn(draw: Draw, log: LogDraft) -> None:
    """A turn: a question, and steps with chunks, an answer, calls and their results."""
    turn = log.turn = log.turn + 1
    log.add("turn/start", messages.boundary("turn/start", turn, 0))
    add_user(draw, log)
    step = 0
    for step in draw.repeat(1):
        add_step(draw, log, turn, step + 1)
    log.add("turn/end", messages.boundary("turn/end", turn, step))


def add_step(draw: Draw, log: LogDraft, turn: int, step: int) -> None:
    log.add("step/start", messages.boundary("step/start", turn, step))
    text = draw.choice(TEXTS)
    chunks = [log.add("assistant/chunk", messages.chunk(text, turn, step)) for _ in draw.repeat(1)]
    calls = CALL_IDS[: draw.integer(0, 2)]
    data = messages.assistant(len(log.events), (text,) if text else (), calls, turn, step)
    log.join("assistant/message", data, chunks)
    for call in calls:
        started = log.add("tool/call", messages.call(call, turn, step))
        answer = messages.result(len(log.events), call, texts_of(draw), turn, step)
        log.join("tool/result", answer, [started])
    log.add("step/end", messages.boundary("step/end", turn, step))


def add_compaction(draw: Draw, log: LogDraft) -> None:
    """Start, summary, one message that replaces a stretch and cites both, end."""
    nodes = log.nodes
    if not nodes:
        return
    first = draw.integer(0, len(nodes) - 1)
    last = draw.integer(first, len(nodes) - 1)
    start = log.add("compaction/start", {})
    summary = log.add("compaction/summary", {"text": draw.choice(TEXTS)})
    data = messages.user(len(log.events), texts_of(draw))
    log.replace("user/message", data, first, last, [start, summary, *nodes[first : last + 1]])
    log.add("compaction/end", {})


Piece = Callable[[Draw, LogDraft], None]
DENSE: tuple[Piece, ...] = (
    add_user, add_user, add_user, add_assistant, add_assistant, add_result, add_result, add_noise, add_noise,
    add_replace, add_replace, add_replace, add_rewrite, add_rewrite,
)  # fmt: skip
LIFELIKE: tuple[Piece, ...] = (add_user, add_turn, add_turn, add_turn, add_compaction, add_rewrite, add_noise)


def valid_draft(
    draw: Draw, base: int = 0, average: int = 12, *, typed: bool = True, finite: bool = False
) -> LogDraft:
    """A valid log that can be continued; ``average`` is about how many events it has."""
    log = LogDraft(base, typed=typed, finite=finite)
    if draw.chance(25):
        for _ in draw.repeat(max(1, average // 6)):
            draw.choice(LIFELIKE)(draw, log)
    else:
        for _ in draw.repeat(average):
            draw.choice(DENSE)(draw, log)
    return log


def valid_log(draw: Draw, *, typed: bool = True) -> list[Event]:
    """A valid log."""
    return valid_draft(draw, typed=typed).events


def long_log(draw: Draw) -> list[Event]:
    """Seldom more events, nodes and sources than one byte can count, and a replace of nearly all of them."""
    if not draw.chance(20):
        return valid_log(draw)
    log = LogDraft()
    for _ in range(draw.integer(0, 330)):
        log.join("user/message", messages.user(0, ("a",)))
    if len(log.nodes) > 2 and draw.chance(60):
        last = len(log.nodes) - 2
        log.replace("user/message", messages.user(0, ("b",)), 1, last, log.nodes[1 : last + 1])
    add_user(draw, log)
    return log.events


def base_seq(draw: Draw) -> int:
    """The base of a window."""
    return draw.choice(BASES)
