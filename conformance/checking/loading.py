"""The load rules, applied to one event after the other as they come from the storage scan.

A reader asks one thing of the whole log before it asks the next. Here every event is asked everything at
once, so that the log need not be kept; each finding has the rank of its check, and the one of the lowest
rank is what the reader reports.
"""

from __future__ import annotations

from typing import Any, Protocol

from conformance.checking.closing import OpenEnds, Shapeless, key_of
from conformance.checking.collector import Collector, Place
from conformance.checking.exact_json import is_number, is_seq, show
from conformance.checking.model import Finding
from conformance.checking.shapes import (
    ELIGIBLE,
    KNOWN_TYPES,
    Event,
    Fault,
    Malformed,
    admission_fault,
    member,
    message_fault,
    retired,
    upgraded,
)
from conformance.checking.stories import story_of
from conformance.checking.surface import Node, Refused, Surface, frame_of

SCAN, IDENTITY, RETIRED, SHAPES, TYPES, CLOSERS, CLOSERS_SHAPES, HEADER, ADMISSION = (
    0, 10, 20, 30, 40, 50, 60, 70, 80,
)  # fmt: skip
"""Ranks of checks, in the order in which a reader makes them."""


class NeedsExact(Exception):  # noqa: N818 - a signal inside this package
    """Something so rare that only the exact way through the whole log can judge it."""


class Watcher(Protocol):
    """Who is told of every event that a reader keeps, in the shape of today."""

    def counted(self, seq: int) -> None: ...

    def event(self, event: Event, seq: int, place: Place) -> None: ...

    def joined(self, node: Node, event: Event, stretch: list[Node], place: Place) -> None: ...

    def turn_starts(self, turn: int, seq: int, place: Place) -> None: ...

    def turn_ends(self, turn: int, seq: int, place: Place) -> None: ...

    def step_starts(self, turn: int, step: int, seq: int, place: Place) -> None: ...

    def step_ends(self, turn: int, step: int, seq: int, place: Place) -> None: ...

    def call_starts(self, call: str, turn: int, step: int, seq: int, place: Place) -> None: ...

    def assistant_appends(
        self, node: Node, cited: list[int] | None, turn: int, step: int, place: Place
    ) -> None: ...

    def result_appends(
        self, node: Node, cited: list[int] | None, turn: int, step: int, place: Place
    ) -> None: ...


class Loading:
    """The state behind the events so far."""

    def __init__(self, collector: Collector, session: str, *, keep_ids: bool) -> None:
        self.collector = collector
        self.session = session
        self.surface = Surface()
        self.ends: OpenEnds | None = OpenEnds()
        self.keep_ids = keep_ids
        self.has_list = True
        """Whether the reader has a list of types, and refuses what is not on it."""
        self.message_ids: dict[float, Any] = {}
        self.watcher: Watcher
        self.last_time: Any = None
        self.unsound_from: int | None = None
        self.unsound_why: str | None = None

    # -- the header ---------------------------------------------------------------

    def header(self, header: Event, place: Place) -> None:
        """What is asked of the header of a file after the scan."""
        cwd = header.get("cwd", "/")
        if cwd is None or cwd == "" or isinstance(cwd, list):
            told = "the working directory of the header names no place in a store"
            self.fault(("path-project-empty", told, ("cwd",)), place, IDENTITY, found=show(cwd))
        self.header_members(header, place)

    def header_members(self, header: Event, place: Place) -> None:
        """What is asked of a header that names no place."""
        cwd = header.get("cwd", "/")
        if not isinstance(cwd, str):
            self.fault(("header-cwd", "cwd is no text", ("cwd",)), place, HEADER, found=show(cwd))
        elif not cwd.startswith("/"):
            finding = self.collector.add(
                "header-cwd-relative", "error", "load", "cwd is no absolute path here", place, ("cwd",),
                rank=HEADER, found=show(cwd), expected="a path that begins with /",
            )  # fmt: skip
            tell_of_windows(finding, cwd)
        if "parentSession" in header and not isinstance(header["parentSession"], str):
            told = "parentSession is no text"
            self.fault(("header-parent", told, ("parentSession",)), place, HEADER)
        if "seedLength" in header and not is_seq(header["seedLength"]):
            told = "seedLength is no whole number from 0"
            found = show(header["seedLength"])
            self.fault(("header-seed-length", told, ("seedLength",)), place, HEADER, found=found)

    # -- events -------------------------------------------------------------------

    def take(self, event: Event, seq: int, place: Place) -> None:
        """One event whose seq is right. Findings go to the collector. Raises NeedsExact."""
        old = retired(event)
        if old is not None:
            self.fault((old[1], old[2], ("type",)), place, RETIRED + old[0], seq)
        try:
            event = upgraded(event, self.session, self.result_id)
        except Malformed:
            told = f"neither a {event['type']} of today nor an old one that is known"
            self.fault(("legacy-malformed", told, ("data",)), place, SHAPES, seq)
            self.known(event, seq, place)
            return
        sound = old is None
        kind = event.get("type")
        if isinstance(kind, str) and kind in ELIGIBLE:
            fault = message_fault(event)
            if fault is not None:
                self.fault(fault, place, SHAPES, seq)
                sound = False
        self.remember(event, seq)
        sound = self.known(event, seq, place) and sound
        self.last_time = event.get("time")
        self.end(event, seq, place)
        if sound:
            fault = admission_fault(event)
            if fault is not None:
                self.fault(fault, place, ADMISSION, seq)
                sound = fault[0] != "event-envelope" or fault[2] == ("time",)
        if not isinstance(kind, str):
            self.watcher.counted(seq)
            return
        self.watcher.event(event, seq, place)
        self.fold(event, seq, place)

    def counted(self, seq: int) -> None:
        """An event of which nothing is asked but its envelope, and that is no chunk."""
        self.watcher.counted(seq)

    def known(self, event: Event, seq: int, place: Place) -> bool:
        """Types that nobody knows refuse the log, unless they are marked."""
        kind = event.get("type")
        if (isinstance(kind, str) and kind in KNOWN_TYPES) or event.get("ignorable") is True:
            return True
        if not self.has_list:
            self.collector.add(
                "event-type-unknown", "advice", "load", f"no reader of v0 knows the type {show(kind)}", place,
                ("type",), seq=seq, found=show(kind), story="foreign-edition",
                hint="this schema has no list of types; a reader of any other store refuses the log",
            )  # fmt: skip
            return True
        told = f"no reader of v0 knows the type {show(kind)}, and it is not marked ignorable"
        self.fault(("event-type-unknown", told, ("type",)), place, TYPES, seq, found=show(kind))
        return False

    def end(self, event: Event, seq: int, place: Place) -> None:
        """What is open behind this event."""
        if self.ends is not None:
            try:
                self.ends.take(event, place.line, place.byte, seq)
            except Shapeless as shapeless:
                self.fault(("event-shapeless", str(shapeless), ("data",)), place, CLOSERS, seq)
                self.ends = None

    def fold(self, event: Event, seq: int, place: Place) -> None:
        """The surface behind this event."""
        if self.unsound_from is not None:
            return
        try:
            stretch = self.surface.plan(event, seq)
        except Refused as refused:
            self.fault(refused.fault, place, ADMISSION, seq, refused.found, refused.expected, refused.also)
            stretch = refused.stretch
            if stretch is None and event["type"] in ELIGIBLE:
                self.unsound_from = place.line
                self.unsound_why = "what this event does to the surface is not known"
                return
        if stretch is None:
            return
        node = node_of(event, seq, place)
        self.watcher.joined(node, event, stretch, place)
        if stretch:
            self.surface.replace(node, stretch)
        else:
            self.surface.append(node)

    # -- events that a typed decoder has found sound ---------------------------------

    def turn_starts(self, turn: int, seq: int, place: Place) -> None:
        """A turn/start in the shape of today."""
        if self.ends is not None:
            self.ends.turn_starts(turn, seq, place.line, place.byte)
        self.watcher.turn_starts(turn, seq, place)

    def turn_ends(self, turn: int, seq: int, place: Place) -> None:
        """A turn/end in the shape of today."""
        if self.ends is not None:
            self.ends.turn = None
        self.watcher.turn_ends(turn, seq, place)

    def step_starts(self, turn: int, step: int, seq: int, place: Place) -> None:
        """A step/start."""
        if self.ends is not None:
            self.ends.step = step
        self.watcher.step_starts(turn, step, seq, place)

    def step_ends(self, turn: int, step: int, seq: int, place: Place) -> None:
        """A step/end."""
        if self.ends is not None:
            self.ends.step_ends()
        self.watcher.step_ends(turn, step, seq, place)

    def call_starts(self, call: str, turn: int, step: int, seq: int, place: Place) -> None:
        """A tool/call."""
        if self.ends is not None:
            self.ends.call_starts(call, seq)
        self.watcher.call_starts(call, turn, step, seq, place)

    def user_appends(self, seq: int, has_content: bool, place: Place) -> None:
        """A user/message that appends and is sound, its sources included."""
        self.watcher.counted(seq)
        if self.unsound_from is None:
            node = Node(seq, "user/message", place.line, place.byte)
            node.empty = not has_content
            self.surface.append(node)

    def assistant_appends(
        self,
        seq: int,
        calls: list[str],
        cited: list[int] | None,
        projects: bool,
        inside: tuple[int, int],
        place: Place,
    ) -> None:
        """An assistant/message that appends and is sound, its sources included."""
        node = Node(seq, "assistant/message", place.line, place.byte)
        node.calls, node.projects = tuple(calls), projects
        if self.ends is not None:
            for call in calls:
                self.ends.call_waits(call, inside[1])
        joins = self.unsound_from is None
        self.watcher.assistant_appends(node, cited, *inside, place)
        if joins:
            self.surface.append(node)

    def result_appends(
        self, seq: int, call: str, cited: list[int] | None, frame: Any, inside: tuple[int, int], place: Place
    ) -> None:
        """A tool/result that appends and is sound, its sources included; it has no error of its harness."""
        if self.ends is not None:
            self.ends.calls.pop(key_of(call), None)
        self.watcher.counted(seq)
        if self.unsound_from is None:
            node = Node(seq, "tool/result", place.line, place.byte)
            node.frame, node.answers = frame, call
            self.watcher.result_appends(node, cited, *inside, place)
            self.surface.append(node)

    # -- the end ------------------------------------------------------------------

    def closers(self, events: int) -> list[Event] | None:
        """The closers, asked the same as stored events; None where they cannot be told."""
        if self.ends is None:
            return None
        place = Place(self.ends.opened_line, self.ends.opened_byte, b"")
        try:
            made = self.ends.closers(events, self.last_time)
        except Shapeless as shapeless:
            fault = ("event-shapeless", str(shapeless), ("data", "turn"))
            self.fault(fault, place, CLOSERS, self.ends.opened_seq)
            return None
        for event in made:
            fault_of_it = message_fault(event) if event["type"] in ELIGIBLE else None
            if fault_of_it is not None:
                told = f"the closer that ends the open turn is refused: {fault_of_it[1]}"
                self.fault((fault_of_it[0], told, ()), None, CLOSERS_SHAPES, event["seq"])
                return None
        return made

    # -- small things -------------------------------------------------------------

    def fault(
        self,
        fault: Fault,
        place: Place | None,
        rank: int,
        seq: int | None = None,
        found: str | None = None,
        expected: str | None = None,
        also: Node | None = None,
    ) -> None:
        """One error of the load rules; ``also`` is a node that it is about as well."""
        condition, message, names = fault
        story, hint = story_of(condition, found)
        finding = self.collector.add(
            condition, "error", "load", message, place, names,
            rank=rank, seq=seq, found=found, expected=expected, story=story, hint=hint,
        )  # fmt: skip
        if also is not None:
            finding.also = also.also("the node that it is about")

    def result_id(self, event: Event) -> Any:
        """The id of an old tool result: of what it replaces, or one made from the session and the seq."""
        marker = event.get("surfaceOp")
        if isinstance(marker, dict) and marker.get("op") == "replace" and is_number(marker.get("start")):
            if not self.keep_ids:
                raise NeedsExact
            return self.message_ids.get(float(marker["start"]))
        return f"legacy-message:{self.session}:{show(event['seq'])}"

    def remember(self, event: Event, seq: int) -> None:
        """The ids of messages, where they may be asked for."""
        if not self.keep_ids:
            return
        data = event.get("data")
        message = data if event.get("type") == "user/message" else member(data, "message")
        if isinstance(message, dict):
            self.message_ids[float(seq)] = message.get("id")


def tell_of_windows(finding: Finding, cwd: str) -> None:
    """A working directory that is no absolute path here may be one where the log was written."""
    if cwd[1:3] in (":\\", ":/") or cwd.startswith("\\\\"):
        finding.story = "other-platform"
        finding.hint = "on Windows this log loads; on other systems load and inspect refuse it"


def node_of(event: Event, seq: int, place: Place) -> Node:
    """The node that an eligible event becomes, with what is asked of nodes later."""
    kind, data = event["type"], event.get("data")
    node = Node(seq, kind, place.line, place.byte)
    if kind == "assistant/message":
        content = member(member(data, "message"), "content")
        blocks = content if isinstance(content, list) else []
        called = [member(block, "id") for block in blocks if member(block, "type") == "tool-call"]
        node.calls = tuple(call for call in called if isinstance(call, str))
        node.projects = bool(content)
    elif kind == "tool/result":
        node.frame = frame_of(event)
        answered = member(member(member(data, "message"), "source"), "callId")
        node.answers = answered if isinstance(answered, str) else None
    elif kind == "user/message":
        node.empty = not member(data, "content")
    return node
