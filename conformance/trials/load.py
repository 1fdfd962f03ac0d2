"""The load of a trial: batches without end, that go on from any balanced log."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
SESSION = "s"
HEADER: Event = {"version": 0, "id": SESSION, "createdAt": 1, "delegationDepth": 0}


def chance_of(seed: object) -> random.Random:
    """The chance of a trial, the same each time for the same seed."""
    return random.Random(str(seed))  # noqa: S311 - nothing is kept secret here


@dataclass
class Load:
    """What is written. ``stored`` is what the store has answered for, ``sent`` what it has not.

    The clock of the events steps back now and then, as clocks do. With ``whole_turns`` each batch is
    a turn: for a store that is opened anew for each batch, and would close a turn in between.
    """

    chance: random.Random
    whole_turns: bool = False
    stored: list[Event] = field(default_factory=list)
    sent: list[list[Event]] = field(default_factory=list)
    turn: int = 0
    inside: bool = False
    time: int = 1000

    def batch(self) -> dict[str, Any]:
        """The next append."""
        first = len(self.stored) + sum(len(batch) for batch in self.sent)
        events = [self.event(first + place) for place in range(self.chance.choice((1, 1, 2, 5, 20)))]
        while self.whole_turns and self.inside:
            events.append(self.event(first + len(events)))
        self.sent.append(events)
        return {"append": {"id": SESSION, "events": events}}

    def event(self, seq: int) -> Event:
        """One event: turns begin and end, in between there are titles of any length."""
        self.time += self.chance.choice((1, 1, 1, 5, -2000))
        data: Event
        if not self.inside:
            self.turn += 1
            self.inside = True
            kind, data = "turn/start", {"turn": self.turn}
        elif self.chance.random() < 0.2:
            self.inside = False
            kind, data = "turn/end", {"turn": self.turn, "reason": {"kind": "completed"}}
        else:
            kind, data = "session/title", {"title": "é" * self.chance.choice((1, 10, 300))}
        return {"type": kind, "seq": seq, "time": self.time, "data": data}

    def answered(self) -> None:
        """The store has answered for the batch that was sent first."""
        self.stored += self.sent.pop(0)

    def fault_of(self, events: list[Event]) -> str | None:
        """What is wrong with a log that was loaded after a crash; None if it is as it may be.

        All that was answered for is there. Behind it there may be more of what was sent, and a closer.
        """
        count = len(self.stored)
        if events[:count] != self.stored:
            same = sum(1 for mine, found in zip(self.stored, events, strict=False) if mine == found)
            return f"of {count} events that were answered for, {same} came back, in a log of {len(events)}"
        rest = events[count:]
        sent = [event for batch in self.sent for event in batch]
        while rest and sent and rest[0] == sent[0]:
            rest, sent = rest[1:], sent[1:]
        if rest and not (len(rest) == 1 and is_closer(rest[0], len(events) - 1)):
            first = f"{rest[0].get('type')} with seq {rest[0].get('seq')}"
            return f"the log holds {len(rest)} events that nobody sent, first {first}"
        return None

    def taken(self, events: list[Event]) -> None:
        """Go on from a log that was loaded: it is balanced, and all of it is stored."""
        self.stored = list(events)
        self.sent = []
        self.inside = False


def is_closer(event: Event, seq: int) -> bool:
    """What ends a turn that was interrupted; nothing else is left open by this load."""
    interrupted = event["data"].get("reason") == {"kind": "interrupted"}
    return bool(event["type"] == "turn/end" and event["seq"] == seq and interrupted)
