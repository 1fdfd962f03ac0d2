"""Advice on what the model sees: calls and results that do not pair up, and empty messages."""

from __future__ import annotations

from conformance.checking.collector import Collector, Place
from conformance.checking.model import Finding
from conformance.checking.surface import Node, Surface


class PairWatcher:
    """Finds a replace that takes a call away and leaves its result, or the other way round."""

    def __init__(self, collector: Collector, surface: Surface) -> None:
        self.collector = collector
        self.surface = surface
        self.calls: dict[str, Node] = {}
        self.results: dict[str, Node] = {}

    def joined(self, node: Node, stretch: list[Node], place: Place) -> None:
        """A node that is about to join, in place of a stretch."""
        if stretch:
            gone = {each.seq for each in stretch}
            for each in stretch:
                for call in each.calls:
                    self.left(self.results.get(call), call, "result", "call", gone, node, place)
                if each.answers is not None:
                    self.left(self.calls.get(each.answers), each.answers, "call", "result", gone, node, place)
            self.forget(stretch)
        for call in node.calls:
            self.calls[call] = node
        if node.answers is not None:
            self.results[node.answers] = node

    def forget(self, stretch: list[Node]) -> None:
        """Nodes that go are kept by nobody, so that memory does not grow with the log."""
        for each in stretch:
            for call in each.calls:
                if self.calls.get(call) is each:
                    del self.calls[call]
            if each.answers is not None and self.results.get(each.answers) is each:
                del self.results[each.answers]

    def left(
        self, other: Node | None, call: str, stays: str, goes: str, gone: set[int], node: Node, place: Place
    ) -> None:
        """One side of a pair goes; does the other stay?"""
        if other is None or other.seq in gone or self.surface.by_seq.get(other.seq) is not other:
            return
        if call in node.calls or call == node.answers:
            return
        finding = self.collector.add(
            "replace-splits-pair", "advice", "load",
            f"the replace shadows the {goes} of {call!r} and leaves its {stays}, node {other.seq}",
            place, ("surfaceOp",), seq=node.seq, story="rewind-tool",
            hint="providers want every call with its result; replace both or neither",
        )  # fmt: skip
        finding.also = finding.also or other.also(f"the {stays} that stays")


def advise_view(surface: Surface, collector: Collector, closed: set[str]) -> None:
    """The surface as it is in the end. ``closed`` are the calls that a reader's closers answer."""
    open_calls: dict[str, Node] = {}
    called: dict[str, Node] = {}
    answered: dict[str, Node] = {}
    for node in surface.nodes():
        if node.empty and node.kind == "user/message":
            tell(
                collector, "user-message-empty", "a user message with no content is sent to the model", node,
                "rewind-tool", "providers answer 400 to it; a rewind that leaves nothing inserts nothing",
            )  # fmt: skip
        for call in node.calls:
            if call == "":
                tell(collector, "call-id-empty", "a tool call has an empty id", node, None,
                     "a result cannot name it, and closers for it are refused")  # fmt: skip
            if call in called:
                finding = tell(
                    collector, "call-id-duplicate", f"two tool calls have the id {call!r}", node, None,
                    "providers want ids that differ within a conversation",
                )  # fmt: skip
                finding.also = finding.also or called[call].also("the first call with this id")
            called[call] = node
            open_calls[call] = node
        if node.answers is not None:
            _advise_result(node, node.answers, open_calls, answered, collector)
    for call, node in open_calls.items():
        if call not in closed:
            tell(
                collector, "call-unanswered", f"the tool call {call!r} has no result on the surface", node,
                "crash-in-tool", "a provider refuses a conversation with a call that has no result",
            )  # fmt: skip


def _advise_result(
    node: Node, call: str, open_calls: dict[str, Node], answered: dict[str, Node], collector: Collector
) -> None:
    if call in open_calls:
        del open_calls[call]
    elif call in answered:
        finding = tell(
            collector, "result-duplicate", f"the tool call {call!r} has a second result", node, "two-writers",
            "a provider wants one result for each call",
        )  # fmt: skip
        finding.also = finding.also or answered[call].also("the first result")
    else:
        tell(
            collector, "result-without-call", f"a result names the call {call!r}, not before it", node,
            "rewind-tool", "a provider refuses a result whose call it has not seen",
        )  # fmt: skip
    answered[call] = node


def tell(
    collector: Collector, condition: str, message: str, node: Node, story: str | None, hint: str
) -> Finding:
    """A piece of advice about a node."""
    place = Place(node.line, node.byte, b"")
    return collector.add(condition, "advice", "load", message, place, seq=node.seq, story=story, hint=hint)
