"""The incremental view: one owner of the surface over a log that keeps growing.

Page: ``spec/surface-view.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from .event_log import Event
from .fold import Plan, Surface, apply_plan, plan_event


class SurfaceView:
    """The surface over a log that the caller owns and appends to.

    ``log[i]`` has seq ``base + i``. Every read first catches up with events that are not
    yet folded (VIEW-1), so the result always equals the full fold (VIEW-2). Cost (VIEW-8):
    a read with nothing new is O(1), a read with new events is O(new events).
    """

    def __init__(self, log: Sequence[Event], base: int = 0) -> None:
        self._log = log
        self._base = base
        self._surface = Surface()
        self._folded = 0
        self._planned: tuple[object, Plan] | None = None

    @property
    def nodes(self) -> Sequence[int]:
        """The nodes now; the list itself, which goes on growing (VIEW-9), so that a read costs nothing."""
        self._catch_up()
        return self._surface.nodes

    @property
    def replace_generation(self) -> int:
        """The number of replaces made so far."""
        self._catch_up()
        return self._surface.replace_generation

    def nodes_from(self, count: int) -> list[int]:
        """The nodes after the first ``count``: what a reader that knows those has not seen."""
        self._catch_up()
        return self._surface.nodes[count:]

    def validate_next(self, event: object) -> None:
        """Check a candidate for the next place in the log; nothing visible changes (VIEW-3, VIEW-4).

        The plan is kept for that same object. A refusal keeps an earlier plan as it was (VIEW-6).
        """
        self._catch_up()
        expected = self._base + len(self._log)
        self._planned = (event, plan_event(self._surface, event, expected, self._log, self._base))

    def _catch_up(self) -> None:
        """Fold what is new. VIEW-7: a refused event stays unfolded, and every read meets it again."""
        while self._folded < len(self._log):
            apply_plan(self._surface, self._plan_of(self._log[self._folded]))
            self._folded += 1
            self._planned = None

    def _plan_of(self, event: object) -> Plan:
        """VIEW-5: a remembered plan serves only the object it was made for, at the place it was made for.

        The place is the next one to be folded, for a plan is forgotten as soon as anything is.
        """
        if self._planned is not None and self._planned[0] is event:
            return self._planned[1]
        expected = self._base + self._folded
        return plan_event(self._surface, event, expected, self._log, self._base)
