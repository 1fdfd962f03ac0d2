"""Advice: what loads, and what a provider or a later edition may all the same not take."""

from __future__ import annotations

from conformance.checking.advice_cites import CitesWatcher
from conformance.checking.advice_life import LifeWatcher
from conformance.checking.advice_view import PairWatcher, advise_view
from conformance.checking.collector import Collector, Place
from conformance.checking.exact_json import show
from conformance.checking.loading import Loading
from conformance.checking.shapes import KNOWN_TYPES, Event, member
from conformance.checking.surface import Node


class Adviser:
    """Watches a log as it is loaded, and looks at what is left of it in the end."""

    def __init__(self, collector: Collector, loading: Loading) -> None:
        self.collector = collector
        self.loading = loading
        self.cites = CitesWatcher(collector)
        self.life = LifeWatcher(collector)
        self.pairs = PairWatcher(collector, loading.surface)
        loading.watcher = self

    def counted(self, seq: int) -> None:
        """An event of which nothing is asked, and that is no chunk."""
        self.cites.counted(seq)

    def turn_starts(self, turn: int, seq: int, place: Place) -> None:
        """The same as ``event`` does for a turn/start."""
        self.cites.restart(seq)
        self.life.turn_start(turn, seq, place)

    def turn_ends(self, turn: int, seq: int, place: Place) -> None:
        """The same as ``event`` does for a turn/end."""
        self.cites.counted(seq)
        self.cites.calls.clear()
        self.life.turn_end(turn, seq, place)

    def step_starts(self, turn: int, step: int, seq: int, place: Place) -> None:
        """The same as ``event`` does for a step/start."""
        self.cites.restart(seq)
        self.life.step_start(turn, step, seq, place)

    def step_ends(self, turn: int, step: int, seq: int, place: Place) -> None:
        """The same as ``event`` does for a step/end."""
        self.cites.counted(seq)
        self.life.step_end(turn, step, seq, place)

    def call_starts(self, call: str, turn: int, step: int, seq: int, place: Place) -> None:
        """The same as ``event`` does for a tool/call."""
        self.cites.counted(seq)
        self.cites.calls[call] = seq
        self.life.call(call, turn, step, seq, place)

    def assistant_appends(
        self, node: Node, cited: list[int] | None, turn: int, step: int, place: Place
    ) -> None:
        """The same as ``event`` and ``joined`` do for an assistant/message that appends."""
        self.cites.message(cited, node.seq, place)
        self.cites.restart(node.seq)
        self.life.inside("assistant/message", turn, step, node.seq, place)
        if node.calls:
            self.pairs.joined(node, [], place)

    def result_appends(self, node: Node, cited: list[int] | None, turn: int, step: int, place: Place) -> None:
        """The same as ``joined`` does for a tool/result that appends."""
        self.cites.result(node, cited, place)
        self.life.result(node, turn, step, place)
        self.pairs.joined(node, [], place)

    def event(self, event: Event, seq: int, place: Place) -> None:
        """An event that a reader keeps."""
        kind = event.get("type")
        if kind not in KNOWN_TYPES and event.get("ignorable") is True:
            self.collector.add(
                "type-ignorable", "advice", "load", f"the unknown type {show(kind)} may be skipped", place,
                ("type",), seq=seq, story="foreign-edition",
                hint="v0 keeps the event; the first builds after it refuse every unknown type, marked or not",
            )  # fmt: skip
        self.cites.event(event, seq, place)
        self.life.event(event, seq, place)

    def joined(self, node: Node, event: Event, stretch: list[Node], place: Place) -> None:
        """An event that has become a node."""
        self.cites.joined(node, event, stretch, place)
        self.life.joined(node, event, stretch, place)
        self.pairs.joined(node, stretch, place)

    def finish(self, closers: list[Event] | None) -> None:
        """The log has come to its end."""
        answered: set[str] = set()
        ends = self.loading.ends
        if closers and ends is not None:
            for event in closers:
                source = member(member(event["data"], "message"), "source")
                call = member(source, "callId")
                if isinstance(call, str):
                    answered.add(call)
            self.interrupted(closers, sorted(answered))
        if self.loading.unsound_from is None:
            advise_view(self.loading.surface, self.collector, answered)

    def interrupted(self, closers: list[Event], calls: list[str]) -> None:
        """The log ends inside a turn."""
        ends = self.loading.ends
        assert ends is not None
        running = (
            f", {len(calls)} of them for tool calls without a result: {', '.join(calls[:5])}" if calls else ""
        )
        finding = self.collector.add(
            "turn-interrupted", "advice", "load",
            f"the log ends inside turn {show(ends.turn)}; closers to be added: {len(closers)}{running}",
            Place(ends.opened_line, ends.opened_byte, b""), seq=ends.opened_seq,
            story="crash-in-tool" if calls else None,
            hint="this is what a crash leaves, or a session that is still running; loading repairs it",
        )  # fmt: skip
        finding.excerpt = None
