"""Advice on what events cite: chunks, calls, and what a compaction comes from."""

from __future__ import annotations

from typing import Any

from conformance.checking.collector import Collector, Place
from conformance.checking.exact_json import show
from conformance.checking.shapes import Event, member
from conformance.checking.surface import Node

RESTARTS = frozenset(("step/start", "turn/start", "llm/retry", "llm/retry-started"))
"""Events behind which chunks belong to another message than those before."""


class CitesWatcher:
    """Remembers what the next message should cite.

    Chunks are not remembered one by one: between ``after`` and the message every event is a chunk but for
    those in ``others``.
    """

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        self.after = -1
        self.others: list[int] = []
        self.calls: dict[str, int] = {}
        self.compaction: int | None = None
        self.summary: int | None = None

    def counted(self, seq: int) -> None:
        """An event that is no chunk."""
        self.others.append(seq)

    def event(self, event: Event, seq: int, place: Place) -> None:
        """Any event."""
        kind = event.get("type")
        if kind == "assistant/chunk":
            return
        if kind == "assistant/message":
            if event.get("surfaceOp") == "append":
                self.message(event.get("sourceEventSeqs"), seq, place)
            self.restart(seq)
        elif kind in RESTARTS:
            self.restart(seq)
        else:
            self.others.append(seq)
        if kind == "tool/call":
            call = member(event.get("data"), "callId")
            if isinstance(call, str):
                self.calls[call] = seq
        elif kind == "compaction/start":
            self.compaction, self.summary = seq, None
        elif kind == "compaction/summary":
            self.summary = seq
        elif kind == "compaction/end":
            self.compaction, self.summary = None, None
        elif kind == "turn/end":
            self.calls.clear()

    def restart(self, seq: int) -> None:
        """Chunks behind this event belong to another message."""
        self.after, self.others = seq, []

    def message(self, sources: Any, seq: int, place: Place) -> None:
        """An assistant's message that appends cites exactly its chunks; ``sources`` is None for no list."""
        cited = [] if sources is None else sources
        if not isinstance(cited, list):
            return
        wanted = seq - self.after - 1 - len(self.others)
        if len(cited) == wanted and (wanted == 0 or self.are_chunks(cited, seq)):
            return
        found = "no sourceEventSeqs" if sources is None else f"{len(cited)} seqs"
        self.collector.add(
            "chunks-uncited", "advice", "load",
            "the message does not cite exactly the chunks it was streamed in", place, ("sourceEventSeqs",),
            seq=seq, found=found, expected=f"the {wanted} chunks since seq {self.after}",
            hint="who replays the stream, or drops what is cited, goes by this list",
        )  # fmt: skip

    def are_chunks(self, cited: list[Any], seq: int) -> bool:
        """Whether the cited seqs, which are as many as the chunks, are the chunks."""
        first = self.after + 1
        if not self.others and cited == list(range(first, seq)):
            return True
        try:
            return set(cited) == set(range(first, seq)) - set(self.others)
        except TypeError:  # a list or an object among the sources
            return False

    def result(self, node: Node, cited: Any, place: Place) -> None:
        """A result that appends cites the call that it answers; ``cited`` is None for no list."""
        started = None if node.answers is None else self.calls.get(node.answers)
        if started is not None and not (isinstance(cited, list) and started in cited):
            self.collector.add(
                "call-uncited", "advice", "load",
                f"the result does not cite its tool/call, seq {started}", place, ("sourceEventSeqs",),
                seq=node.seq, found=show(cited) if cited is not None else "no sourceEventSeqs",
                expected=f"[{started}]",
            )  # fmt: skip

    def joined(self, node: Node, event: Event, stretch: list[Node], place: Place) -> None:
        """An event that has become a node."""
        cited = event.get("sourceEventSeqs")
        sources = cited if isinstance(cited, list) else []
        if node.kind == "tool/result" and not stretch:
            self.result(node, cited, place)
        if node.kind == "user/message" and stretch and self.compaction is not None:
            missing = [
                f"{name}, seq {seq}"
                for name, seq in (("start", self.compaction), ("summary", self.summary))
                if seq is not None and seq not in sources
            ]
            if missing:
                self.collector.add(
                    "compaction-uncited", "advice", "load",
                    f"the compaction does not cite its {' and its '.join(missing)}", place,
                    ("sourceEventSeqs",), seq=node.seq, hint="these say why the nodes are gone",
                )  # fmt: skip
