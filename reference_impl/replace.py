"""Replace: an inclusive stretch of nodes, named by its ends, gives way to one node.

Page: ``spec/replace.md``.
"""

from __future__ import annotations

from typing import NamedTuple

from .marker import Replace
from .rejection import Rejection


class Range(NamedTuple):
    """A stretch of the surface by index, both ends included."""

    first: int
    last: int

    def shadowed(self, nodes: list[int]) -> list[int]:
        """REPL-9: the seqs that would leave the surface, in surface order."""
        return nodes[self.first : self.last + 1]


def locate(marker: Replace, nodes: list[int]) -> Range:
    """REPL-1, REPL-2, REPL-3: both ends are nodes now, and stand in order by position.

    A replacement is a node and a shadowed seq is none (REPL-7); both ends may be one node (REPL-6).
    A window knows no nodes from before its base (WIN-2).
    """
    if marker.start not in nodes:
        raise Rejection(
            "replace-start-absent", f"surface replace: start seq {marker.start} not found in surface"
        )
    if marker.end not in nodes:
        raise Rejection("replace-end-absent", f"surface replace: end seq {marker.end} not found in surface")
    first = nodes.index(marker.start)
    last = nodes.index(marker.end)
    if first > last:  # REPL-5: positions, never values
        raise Rejection(
            "replace-reversed",
            f"surface replace: start seq {marker.start} (index {first})"
            f" is after end seq {marker.end} (index {last})",
        )
    return Range(first, last)


def splice(nodes: list[int], stretch: Range, seq: int) -> None:
    """REPL-4: the new seq stands where the stretch began; its neighbours keep their order."""
    nodes[stretch.first : stretch.last + 1] = [seq]
