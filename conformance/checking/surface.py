"""The surface of a log: a chain of nodes, so that a replace costs what it shadows and not what is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.checking.exact_json import is_number, is_seq, rounded, show
from conformance.checking.model import Also
from conformance.checking.shapes import ELIGIBLE, Event, Fault


class Node:
    """One node. ``line`` and ``byte`` say where its event stands; ``calls`` are the ids of the tool calls in
    it; ``answers`` the id of the call that it is a result of; ``frame`` a result's data but for its content.
    """

    __slots__ = (
        "answers",
        "byte",
        "calls",
        "empty",
        "frame",
        "kind",
        "line",
        "next",
        "prev",
        "projects",
        "seq",
    )

    def __init__(self, seq: int, kind: str, line: int, byte: int) -> None:
        self.seq = seq
        self.kind = kind
        self.line = line
        self.byte = byte
        self.prev: Node | None = None
        self.next: Node | None = None
        self.calls: tuple[str, ...] = ()
        self.answers: str | None = None
        self.frame: Any = None
        self.projects = True
        self.empty = False

    def also(self, what: str) -> Also | None:
        """The node's line, for a finding that is about it as well; None where nodes have no lines."""
        return None if self.byte < 0 else Also(self.line, self.byte, f"{what}, seq {self.seq}")


class Refused(Exception):  # noqa: N818 - it becomes a finding
    """The event breaks a rule of the surface.

    ``stretch`` is what its event would take away if the fault were mended, ``[]`` for an append; None where
    nobody can tell, and then the surface behind it is not known.
    """

    def __init__(self, fault: Fault, found: str | None = None, expected: str | None = None) -> None:
        super().__init__(fault[1])
        self.fault = fault
        self.found = found
        self.expected = expected
        self.stretch: list[Node] | None = None
        self.also: Node | None = None


class Surface:
    """The nodes in model order, as a chain and by their seqs."""

    def __init__(self) -> None:
        self.by_seq: dict[int, Node] = {}
        self.head: Node | None = None
        self.tail: Node | None = None
        self.generation = 0

    def __len__(self) -> int:
        return len(self.by_seq)

    def nodes(self) -> Iterator[Node]:
        """The nodes, first to last."""
        node = self.head
        while node is not None:
            yield node
            node = node.next

    def append(self, node: Node) -> None:
        """A node at the tail."""
        node.prev = self.tail
        if self.tail is None:
            self.head = node
        else:
            self.tail.next = node
        self.tail = node
        self.by_seq[node.seq] = node

    def replace(self, node: Node, stretch: list[Node]) -> None:
        """A node in place of a stretch."""
        node.prev, node.next = stretch[0].prev, stretch[-1].next
        if node.prev is None:
            self.head = node
        else:
            node.prev.next = node
        if node.next is None:
            self.tail = node
        else:
            node.next.prev = node
        for each in stretch:
            each.prev = each.next = None  # no ring is left behind for a collector that is switched off
            del self.by_seq[each.seq]
        self.by_seq[node.seq] = node
        self.generation += 1

    def plan(self, event: Event, seq: int) -> list[Node] | None:
        """What an event does: None for nothing, a stretch to take the place of, ``[]`` for an append.

        Raises Refused for the first fault: marker, range, provenance, rewrite.
        """
        kind = event["type"]
        if kind not in ELIGIBLE:
            refuse_marks(event)
            return None
        if "surfaceOp" not in event:
            told = f"a {kind} joins the surface and needs a surfaceOp"
            raise Refused(("surface-op-missing", told, ()), expected='"append" or a replace')
        marker = event["surfaceOp"]
        if marker == "append":
            try:
                check_sources(event, seq, [])
            except Refused as refused:
                refused.stretch = []
                raise
            return []
        stretch = self.stretch_of(marker)
        try:
            check_sources(event, seq, stretch)
            if kind == "tool/result":
                check_rewrite(event, stretch)
        except Refused as refused:
            refused.stretch = stretch
            raise
        return stretch

    def stretch_of(self, marker: Any) -> list[Node]:
        """The nodes that a replace names by its ends. Raises Refused."""
        at = ("surfaceOp",)
        if not isinstance(marker, dict):
            raise Refused(
                ("surface-op-invalid", "surfaceOp is neither append nor a replace", at), show(marker)
            )
        if (
            marker.keys() != {"op", "start", "end"}
            or marker["op"] != "replace"
            or not is_seq(marker["start"])
            or not is_seq(marker["end"])
        ):
            told = "a replace has exactly op, start and end, the two being seqs"
            raise Refused(("replace-op-invalid", told, at), show(marker))
        start, end = int(marker["start"]), int(marker["end"])
        for name, seq in (("start", start), ("end", end)):
            if seq not in self.by_seq:
                told = f"the {name} of the replace, seq {seq}, is not on the surface"
                raise Refused((f"replace-{name}-absent", told, (*at, name)), str(seq), "the seq of a node")
        stretch = [self.by_seq[start]]
        while stretch[-1].seq != end:
            following = stretch[-1].next
            if following is None:
                told = f"the replace starts with seq {start}, which stands behind its end, seq {end}"
                raise Refused(("replace-reversed", told, (*at, "start")), f"{start} to {end}")
            stretch.append(following)
        return stretch


def refuse_marks(event: Event) -> None:
    """What is not eligible carries neither mark."""
    kind = show(event.get("type"))
    if "surfaceOp" in event:
        raise Refused(
            ("surface-op-forbidden", f"an event of type {kind} cannot carry surfaceOp", ("surfaceOp",)),
            show(event["surfaceOp"]),
            "no surfaceOp",
        )
    if "sourceEventSeqs" in event:
        told = f"an event of type {kind} cannot carry sourceEventSeqs"
        raise Refused(
            ("sources-forbidden", told, ("sourceEventSeqs",)), show(event["sourceEventSeqs"]), "none"
        )


def check_sources(event: Event, seq: int, shadowed: list[Node]) -> None:
    """The cited seqs as a whole, in the order of the rules. Raises Refused."""
    cited: set[int] = set()
    at = ("sourceEventSeqs",)
    if "sourceEventSeqs" in event:
        sources = event["sourceEventSeqs"]
        if not isinstance(sources, list):
            raise Refused(("sources-not-array", "sourceEventSeqs is no list", at), show(sources), "a list")
        if not sources and event["type"] != "assistant/message":
            told = "an empty sourceEventSeqs belongs to an assistant/message only"
            raise Refused(("sources-empty", told, at), "[]", "at least one seq, or no sourceEventSeqs")
        for source in sources:
            if not is_seq(source):
                raise Refused(("source-not-seq", "a cited seq is no seq", at), show(source), "a seq")
        cited = {int(source) for source in sources}
        if len(cited) != len(sources):
            twice = _first_twice(sources)
            told = f"seq {show(twice)} is cited twice"
            raise Refused(("sources-duplicate", told, at), show(twice), "each seq once")
        late = next((source for source in sources if source >= seq), None)
        if late is not None:
            told = f"seq {show(late)} is cited, which is not before this event"
            raise Refused(("source-not-earlier", told, at), show(late), f"seqs below {seq}")
    missing = [node.seq for node in shadowed if node.seq not in cited]
    if missing:
        listed = ", ".join(str(each) for each in missing[:20])
        more = f" and {len(missing) - 20} more" if len(missing) > 20 else ""
        seqs = ", ".join(str(node.seq) for node in shadowed[:20])
        told = f"the replace shadows nodes that it does not cite: {listed}{more}"
        expected = f"all nodes it shadows, in surface order {seqs}{' …' if len(shadowed) > 20 else ''}"
        refused = Refused(("sources-incomplete", told, at), _told(cited), expected)
        refused.also = next(node for node in shadowed if node.seq == missing[0])
        raise refused


def _first_twice(sources: list[Any]) -> Any:
    seen: set[Any] = set()
    for source in sources:
        if source in seen:
            break
        seen.add(source)
    return source


def _told(cited: set[int]) -> str:
    listed = sorted(cited)[:20]
    return f"{', '.join(map(str, listed))}{' …' if len(cited) > 20 else ''}" or "none cited"


def check_rewrite(event: Event, stretch: list[Node]) -> None:
    """A tool result gives way only to itself with other content. Raises Refused."""
    at = ("surfaceOp",)
    if len(stretch) != 1:
        told = "a tool result must replace exactly one node"
        raise Refused(("tool-result-span", told, at), f"{len(stretch)} nodes", "1 node")
    target = stretch[0]
    if target.kind != "tool/result":
        told = f"a tool result must replace a tool result, and node {target.seq} is none"
        raise Refused(("tool-result-target", told, at), target.kind, "tool/result")
    frame = frame_of(event)
    if frame is None or target.frame is None:
        told = "a tool result holds a message with a content list"
        raise Refused(("event-shapeless", told, ("data",)))
    where = difference(target.frame, frame)
    if where is not None:
        path, before, after = where
        told = f"the rewrite of tool result {target.seq} changes {'.'.join(path)} besides its content"
        refused = Refused(("tool-result-changed", told, path), after, before)
        refused.also = target
        raise refused


def frame_of(event: Event) -> Any:
    """The data of a tool result with one block left, and no content in it; None where it has none."""
    data = event.get("data")
    message = data.get("message") if isinstance(data, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(data, dict) or not isinstance(message, dict) or not isinstance(content, list):
        return None
    first = content[0] if content else {}
    if not isinstance(first, dict):
        return None
    return {**data, "message": {**message, "content": [{**first, "content": None}]}}


def difference(before: Any, after: Any) -> tuple[tuple[str, ...], str, str] | None:
    """The first place where two JSON values differ, with both sides as text; None where they are equal."""
    pending: list[tuple[tuple[str, ...], Any, Any]] = [(("data",), before, after)]
    while pending:
        path, old, new = pending.pop()
        if isinstance(old, dict) and isinstance(new, dict):
            for name in sorted(old.keys() ^ new.keys()):
                sides = [show(side[name]) if name in side else "absent" for side in (old, new)]
                return (*path, name), sides[0], sides[1]
            pending.extend(((*path, name), old[name], new[name]) for name in sorted(old, reverse=True))
        elif isinstance(old, list) and isinstance(new, list):
            if len(old) != len(new):
                return path, f"{len(old)} elements", f"{len(new)} elements"
            pending.extend((path, one, two) for one, two in zip(old, new, strict=True))
        elif is_number(old) and is_number(new):
            if _double(old) != _double(new):
                return path, show(old), show(new)
        elif type(old) is not type(new) or old != new:
            return path, show(old), show(new)
    return None


def _double(number: int | float) -> float:
    return rounded(number) if isinstance(number, int) else number
