"""The surface fold: from a log to the ordered list of seqs that the model sees.

Page: ``spec/fold.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .event_log import Event, require_contiguous, require_event
from .marker import Append, read_marker
from .provenance import check_provenance
from .rejection import Rejection
from .replace import Range, locate, splice
from .rewrite import check_rewrite


class Replacement(NamedTuple):
    """One replace that was made: its own seq, the ends it named, the nodes it shadowed."""

    seq: int
    start: int
    end: int
    shadowed_seqs: list[int]


@dataclass
class Surface:
    """The surface at one moment: ``nodes`` in model-visible order, and the count of replaces."""

    nodes: list[int] = field(default_factory=list)
    replace_generation: int = 0


class Plan(NamedTuple):
    """What one valid event will do: nothing, add its seq, or put it in place of a stretch."""

    seq: int
    joins: bool
    stretch: Range | None = None
    replacement: Replacement | None = None


def plan_event(surface: Surface, element: object, expected: int, log: Sequence[Event], base: int) -> Plan:
    """Check one event against the surface without changing it.

    FOLD-1: seq, then marker, then range, then provenance, then rewrite; the first
    failure is the only one reported. FOLD-4: whatever is refused has changed nothing.
    LOG-3: only the members that these checks name are read.
    ``log`` holds the events before this one, the first of them at seq ``base``.
    """
    event = require_event(element)
    require_contiguous(event, expected)
    marker = read_marker(event)
    if marker is None:  # FOLD-3
        return Plan(expected, joins=False)
    if isinstance(marker, Append):
        check_provenance(event, expected, [])
        return Plan(expected, joins=True)
    stretch = locate(marker, surface.nodes)
    shadowed = stretch.shadowed(surface.nodes)
    check_provenance(event, expected, shadowed)
    check_rewrite(event, [log[seq - base] for seq in shadowed])
    replacement = Replacement(expected, marker.start, marker.end, shadowed)
    return Plan(expected, joins=True, stretch=stretch, replacement=replacement)


def apply_plan(surface: Surface, plan: Plan) -> None:
    """FOLD-2: an append adds its seq at the tail. REPL-4, REPL-8: a replace splices and is counted."""
    if not plan.joins:
        return
    if plan.stretch is None:
        surface.nodes.append(plan.seq)
    else:
        splice(surface.nodes, plan.stretch, plan.seq)
        surface.replace_generation += 1


def fold(events: Sequence[Event], base: int = 0) -> tuple[Surface, list[Replacement]]:
    """The surface of a whole log, or of a window that begins at seq ``base`` (WIN-1), and its replaces.

    FOLD-5: nodes in surface order, replaces in log order.
    Raises Rejection with ``at`` set to the index of the first event that breaks a rule.
    """
    surface = Surface()
    replacements: list[Replacement] = []
    for index, event in enumerate(events):
        try:
            plan = plan_event(surface, event, base + index, events, base)
        except Rejection as refusal:
            refusal.at = index
            raise
        apply_plan(surface, plan)
        if plan.replacement is not None:
            replacements.append(plan.replacement)
    return surface, replacements
