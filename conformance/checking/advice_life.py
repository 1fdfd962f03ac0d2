"""Advice on the life of a session: turns and steps that open, close and count as its harness lets them.

No reader of v0 asks for any of this; later editions do.
"""

from __future__ import annotations

from typing import Any

from conformance.checking.collector import Collector, Place
from conformance.checking.exact_json import show
from conformance.checking.shapes import Event, member
from conformance.checking.surface import Node

IN_TURN = frozenset(("todo/write", "request/header", "request/context"))
IN_STEP = frozenset(("step/end", "assistant/message", "tool/call"))


class LifeWatcher:
    """Follows turns and steps. After a fault it takes the log's word, so that one fault is told once."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.turn: Any = None
        self.last_turn: Any = 0
        self.step: Any = None
        self.last_step: Any = 0
        self.calls: set[str] = set()

    def event(self, event: Event, seq: int, place: Place) -> None:
        """Any event that more is asked of than its envelope."""
        kind = event.get("type")
        if kind == "turn/start":
            self.turn_start(member(event.get("data"), "turn"), seq, place)
        elif kind == "turn/end":
            self.turn_end(member(event.get("data"), "turn"), seq, place)
        elif kind == "step/start":
            self.step_start(member(event.get("data"), "turn"), member(event.get("data"), "step"), seq, place)
        elif kind in IN_STEP:
            turn, step = member(event.get("data"), "turn"), member(event.get("data"), "step")
            if kind == "step/end":
                self.step_end(turn, step, seq, place)
            elif kind == "tool/call":
                self.call(member(event.get("data"), "callId"), turn, step, seq, place)
            elif event.get("surfaceOp") == "append":
                self.inside("assistant/message", turn, step, seq, place)
        elif kind in IN_TURN and self.turn is None:
            self.tell("event-outside-turn", f"a {kind} stands outside any turn", seq, place, ("type",))

    def joined(self, node: Node, event: Event, stretch: list[Node], place: Place) -> None:
        """A tool's result that has become a node."""
        if node.kind != "tool/result":
            return
        data = event.get("data")
        if stretch:
            if self.turn is None:
                told = "a tool result is rewritten outside any turn"
                self.tell("tool-rewrite-outside-turn", told, node.seq, place, ("surfaceOp",))
            return
        not_started = member(member(data, "error"), "code") == "TOOL_NOT_STARTED"
        self.result(node, member(data, "turn"), member(data, "step"), place, not_started)

    def result(self, node: Node, turn: Any, step: Any, place: Place, not_started: bool = False) -> None:
        """A tool's result that appends."""
        self.inside("tool/result", turn, step, node.seq, place)
        if node.answers is not None and node.answers not in self.calls and not not_started:
            told = f"there is no tool/call of {node.answers!r} before its result in this step"
            self.tell("tool-result-no-call", told, node.seq, place, ("data", "message", "source", "callId"))

    # -- turns and steps ------------------------------------------------------------

    def turn_start(self, turn: Any, seq: int, place: Place) -> None:
        at = ("data", "turn")
        if self.turn is not None:
            told = f"turn {show(turn)} starts while turn {show(self.turn)} is still open"
            self.tell("turn-already-open", told, seq, place, at, story="two-writers")
        if turn != _next(self.last_turn):
            expected = show(_next(self.last_turn))
            self.tell("turn-number", "turns count 1, 2, 3 …", seq, place, at, show(turn), expected)
        self.turn, self.last_turn = turn, turn
        self.step, self.last_step = None, 0
        self.calls.clear()

    def turn_end(self, turn: Any, seq: int, place: Place) -> None:
        at = ("data", "turn")
        if turn != self.turn:
            expected = "no open turn" if self.turn is None else show(self.turn)
            self.tell(
                "turn-end-mismatch",
                "the turn that ends is not the open one",
                seq,
                place,
                at,
                show(turn),
                expected,
            )
        elif self.step is not None:
            told = f"turn {show(turn)} ends while its step {show(self.step)} is still open"
            self.tell("turn-end-open-step", told, seq, place, at)
        self.turn, self.step = None, None
        self.calls.clear()

    def step_start(self, turn: Any, step: Any, seq: int, place: Place) -> None:
        at = ("data", "step")
        if turn != self.turn:
            expected = "no open turn" if self.turn is None else show(self.turn)
            self.tell("step-start-turn", "a step starts in a turn that is not open", seq, place,
                      ("data", "turn"), show(turn), expected)  # fmt: skip
        elif self.step is not None:
            told = f"step {show(step)} starts while step {show(self.step)} is still open"
            self.tell("step-already-open", told, seq, place, at)
        elif step != _next(self.last_step):
            expected = show(_next(self.last_step))
            self.tell(
                "step-number", "steps count 1, 2, 3 … in each turn", seq, place, at, show(step), expected
            )
        self.step, self.last_step = step, step
        self.calls.clear()

    def step_end(self, turn: Any, step: Any, seq: int, place: Place) -> None:
        self.inside("step/end", turn, step, seq, place)
        self.step = None
        self.calls.clear()

    def call(self, call: Any, turn: Any, step: Any, seq: int, place: Place) -> None:
        self.inside("tool/call", turn, step, seq, place)
        if isinstance(call, str):
            self.calls.add(call)

    def inside(self, kind: str, turn: Any, step: Any, seq: int, place: Place) -> None:
        """What names a turn and a step names those that are open."""
        if turn != self.turn or step != self.step:
            found = f"turn {show(turn)}, step {show(step)}"
            expected = (
                "no open turn" if self.turn is None else f"turn {show(self.turn)}, step {show(self.step)}"
            )
            self.tell("step-mismatch", f"the {kind} names a turn and a step that are not open", seq, place,
                      ("data", "turn"), found, expected)  # fmt: skip

    def tell(
        self,
        condition: str,
        message: str,
        seq: int,
        place: Place,
        names: tuple[str, ...],
        found: str | None = None,
        expected: str | None = None,
        story: str | None = None,
    ) -> None:
        """One piece of advice."""
        self.collector.add(
            condition, "advice", "live", message, place, names,
            seq=seq, found=found, expected=expected, story=story,
        )  # fmt: skip


def _next(number: Any) -> Any:
    return number + 1 if isinstance(number, int | float) and not isinstance(number, bool) else 1
