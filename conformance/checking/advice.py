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
        self.watchers = (
            CitesWatcher(collector),
            LifeWatcher(collector),
            PairWatcher(collector, loading.surface),
        )
        loading.watchers.append(self)

    def counted(self, seq: int) -> None:
        """An event of which nothing is asked, and that is no chunk."""
        self.watchers[0].counted(seq)

    def event(self, event: Event, seq: int, place: Place) -> None:
        """An event that a reader keeps."""
        kind = event.get("type")
        if kind not in KNOWN_TYPES and event.get("ignorable") is True:
            self.collector.add(
                "type-ignorable", "advice", "load", f"the unknown type {show(kind)} may be skipped", place,
                ("type",), seq=seq, story="foreign-edition",
                hint="v0 keeps the event; the first builds after it refuse every unknown type, marked or not",
            )  # fmt: skip
        cites, life, _ = self.watchers
        cites.event(event, seq, place)
        life.event(event, seq, place)

    def joined(self, node: Node, event: Event, stretch: list[Node], place: Place) -> None:
        """An event that has become a node."""
        cites, life, pairs = self.watchers
        cites.joined(node, event, stretch, place)
        life.joined(node, event, stretch, place)
        pairs.joined(node, stretch, place)

    def finish(self, closers: list[Event] | None) -> None:
        """The log has come to its end."""
        answered: set[str] = set()
        ends = self.loading.ends
        if closers and ends is not None:
            for event in closers:
                source = member(member(event["data"], "message"), "source")
                if isinstance(source, dict):
                    answered.add(source["callId"])
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
