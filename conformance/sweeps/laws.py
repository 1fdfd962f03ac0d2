"""What has to come of a damaged log, found without any implementation: an oracle of its own for lines.

It reads with Python's JSON reader and counts; of rows it knows those that the good log holds. Where it
cannot tell, the laws still hold: a prefix, nothing lost that a turn/end committed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from conformance.protocol import Answer
from conformance.sweeps.damages import Damage
from conformance.sweeps.good_log import Event, GoodLog

ROWS = ("text-chunks", "reasoning-chunks", "tool-call-chunks")


@dataclass(frozen=True)
class Expected:
    """``events`` that are given and the byte from which a repair cuts; or a refusal, where there are none.

    ``at`` is the line of a refusal, None where it has none or the format does not say; ``why`` its reason.
    """

    events: list[Any] | None
    torn_from: int | None = None
    at: int | None = None
    why: str = ""


def expected(log: GoodLog, damage: Damage, data: bytes) -> Expected | None:
    """What a scan of the damaged file gives; None where only the laws are known."""
    if log.compression == "sqlite":
        return None
    if log.compression == "sqlite-wal":
        return expected_of_frames_ahead(log, data)
    if log.compression == "none":
        return expected_of_lines(log, data)
    return expected_of_frames(log, damage)


# -- plain lines ---------------------------------------------------------------------


def expected_of_lines(log: GoodLog, data: bytes) -> Expected | None:
    header, *lines = data.split(b"\n")
    if len(lines) == 0:
        return Expected(None, why="its first line has no line feed yet")
    if not isinstance(value_of(header), dict):
        return Expected(None, why="its first line is no object of JSON")
    if header + b"\n" != log.data[: log.parts[0].end]:
        return None
    events: list[Any] = []
    end = len(header) + 1
    fault: int | None = None
    for number, line in enumerate(lines[:-1], 1):
        found: list[Any] | None = log.rows.get(line)
        if found is None:
            value = value_of(line)
            if isinstance(value, dict) and value.get("type") in ROWS:
                return None
            found = [] if value is UNREADABLE else [value]
        if fault is None and (not found or not counts(found[0], len(events))):
            fault = number
        if fault is not None and ends_a_turn(found):
            return Expected(None, at=fault, why=f"line {fault} is at fault, and a turn/end follows")
        if fault is None:
            events += found
            end += len(line) + 1
    return Expected(events, end if end < len(data) else None)


UNREADABLE = object()


@lru_cache(maxsize=4096)
def value_of(line: bytes) -> Any:
    """The value of a line, UNREADABLE for none. It is shared, and never changed."""
    try:
        return json.loads(line.decode(errors="replace"), parse_constant=refuse)
    except ValueError:
        return UNREADABLE


def refuse(word: str) -> NoReturn:
    raise ValueError(word)


def ends_a_turn(found: list[Any]) -> bool:
    return any(isinstance(event, dict) and event.get("type") == "turn/end" for event in found)


def counts(event: Any, place: int) -> bool:
    """Whether an event has this seq."""
    seq = event.get("seq") if isinstance(event, dict) else None
    return isinstance(seq, int | float) and not isinstance(seq, bool) and seq == place


# -- frames --------------------------------------------------------------------------


def expected_of_frames(log: GoodLog, damage: Damage) -> Expected | None:
    """Of a cut between frames all is known; within a frame, where a repair cuts."""
    if damage.kind != "cut":
        return None
    whole = [part for part in log.parts if part.end <= damage.offset]
    if not whole:
        return Expected(None, why="its first frame is not whole")
    if whole[-1].end == damage.offset:
        return Expected(log.events[: whole[-1].count])
    return None


def expected_of_frames_ahead(log: GoodLog, data: bytes) -> Expected:
    """Of a write-ahead log all is known: each frame carries on the checksum of the one before it.

    So what counts are the frames before the first byte that differs, and of these whole transactions.
    No damage to it is ever refused: SQLite takes it for a write that did not end.
    """
    pairs = zip(data, log.data, strict=False)
    same = next((place for place, (mine, good) in enumerate(pairs) if mine != good), len(data))
    whole = [part.count for part in log.parts if part.end <= same]
    return Expected(log.events[: max(whole, default=log.parts[0].count)])


# -- judging -------------------------------------------------------------------------


def fault_of(log: GoodLog, damage: Damage, data: bytes, answer: Answer) -> str | None:
    """What is wrong with the answer to ``jsonl.scan``, as ``read_scan`` has it; None if all laws hold."""
    if answer.kind not in ("result", "rejected"):
        return f"answered with {answer.kind}: {answer.value}"
    wanted = expected(log, damage, data)
    found = answer.value
    if wanted is None:
        if answer.kind == "rejected":
            return cut_is_refused(log, damage)
        return broken_law(log, damage, found["events"], found["tornFrom"])
    if answer.kind == "rejected":
        if wanted.events is not None:
            condition = answer.value.get("condition", "without a condition")
            return f"refused ({condition}) where {len(wanted.events)} events are to be kept"
        if wanted.at is not None and answer.value.get("at") not in (None, wanted.at):
            return f"refused at line {answer.value['at']}, where line {wanted.at} is at fault"
        return None
    if wanted.events is None:
        return f"gave {len(found['events'])} events of a log that is to be refused: {wanted.why}"
    return difference(wanted, found["events"], found["tornFrom"])


def difference(wanted: Expected, events: list[Any], torn_from: int | None) -> str | None:
    """Between what a scan gave and what it should."""
    assert wanted.events is not None
    if events != wanted.events:
        return f"gave {len(events)} events, where {len(wanted.events)} are to be kept, or others than those"
    if torn_from != wanted.torn_from:
        return f"tornFrom is {torn_from}, where a repair has to cut at {wanted.torn_from}"
    return None


def cut_is_refused(log: GoodLog, damage: Damage) -> str | None:
    """A cut behind the header is never damage: a crash leaves it."""
    if damage.kind == "cut" and damage.offset >= log.parts[0].end:
        return "a log that a crash has cut is refused"
    return None


def broken_law(log: GoodLog, damage: Damage, events: list[Event], torn_from: int | None) -> str | None:
    """A prefix, with one line changed at most where no checksum shows it; and nothing committed lost."""
    safe = safe_count(log, damage)
    if len(events) < safe or events[:safe] != log.events[:safe]:
        return f"gave {len(events)} events, where the first {safe} are committed, or others than those"
    if len(events) > len(log.events):
        return f"gave {len(events)} events of a log of {len(log.events)}"
    differing = [place for place, event in enumerate(events) if event != log.events[place]]
    if differing and (log.compression == "zstd" or differing[-1] - differing[0] >= 3):
        return f"event {differing[0]} is not the one that was stored"
    lost = log.events[len(events) :]
    if commits(log, damage, lost) and not looks_torn(log, damage, torn_from):
        return f"lost {len(lost)} events that a turn/end had committed, without a word"
    if torn_from is not None and torn_from > len(damage.apply(log.data)):
        return f"tornFrom {torn_from} lies behind the end of the file"
    return None


def commits(log: GoodLog, damage: Damage, lost: list[Event]) -> bool:
    """Whether events that are gone had a turn/end behind them, and no crash can have taken them.

    No crash cuts or tears a database, and all that it holds was answered for. Its pages have no
    checksum, so a flip can make the cell of an event unreadable; where that is the last turn/end, the
    rules of the rows have the log end in front of it.
    """
    if log.compression == "sqlite":
        if damage.kind in ("cut", "tear"):
            return bool(lost)
        return any(event["type"] == "turn/end" for event in lost[1:])
    may_be_a_crash = damage.kind in ("cut", "tear")
    return not may_be_a_crash and any(event["type"] == "turn/end" for event in lost)


def is_lost_unseen(log: GoodLog, damage: Damage, lost: list[Event]) -> bool:
    """Whether committed events are gone by a damage that the format takes for a crash."""
    if not any(event["type"] == "turn/end" for event in lost):
        return False
    if log.compression == "zstd":
        return commits(log, damage, lost)
    return log.compression == "sqlite" or (log.compression == "sqlite-wal" and damage.offset < log.last_write)


def looks_torn(log: GoodLog, damage: Damage, torn_from: int | None) -> bool:
    """Whether the damage made a frame seem to go on behind the end of the file.

    That is what a crash leaves, too. The compressed format cannot tell the two apart, so no reader can:
    such damages are counted, and are no failure.
    """
    starts = [part.start for part in log.parts if part.start <= damage.offset < part.end]
    return log.compression == "zstd" and starts == [torn_from]


def is_unseen(log: GoodLog, damage: Damage, answer: Answer) -> bool:
    """Whether committed events are gone with a damage that the format cannot see."""
    if log.compression != "zstd" or answer.kind != "result":
        return False
    found = answer.value
    lost = log.events[len(found["events"]) :]
    return commits(log, damage, lost) and looks_torn(log, damage, found["tornFrom"])


def safe_count(log: GoodLog, damage: Damage) -> int:
    """How many events stand in parts that the damage does not reach."""
    if damage.kind == "repeat":
        return len(log.events)
    return max((part.count for part in log.parts if part.end <= damage.offset), default=0)
