"""Making an input small: fewer choices, then lower ones, as long as it stays as interesting.

What is changed are the choices a recipe took, never the request itself, so what comes out is always
something that the recipe can make: seqs stay contiguous, and the ends of a replace stay nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conformance.fuzzing.draw import Replaying, Span
from conformance.fuzzing.spelling import Members

Make = Callable[[Replaying], Members]
MOST_TRIES = 1500


class Shrinker:
    """One input on its way to a smaller one. ``interesting`` is asked of each candidate."""

    def __init__(
        self,
        choices: Sequence[int],
        make: Make,
        interesting: Callable[[Members], bool],
        tries: int = MOST_TRIES,
    ) -> None:
        self._make = make
        self._interesting = interesting
        self._left = tries
        self._seen: set[tuple[int, ...]] = set()
        first = Replaying(choices)
        self.members = make(first)
        self.choices: list[int] = first.choices
        self.spans: list[Span] = first.spans

    def run(self) -> Members:
        """The smallest input that was found."""
        improved = True
        while improved and self._left > 0:
            improved = self._drop_spans() | self._drop_blocks() | self._lower()
        return self.members

    def _try(self, choices: list[int]) -> bool:
        """Take a candidate if it is simpler and still interesting."""
        if tuple(choices) in self._seen or self._left <= 0:
            return False
        self._seen.add(tuple(choices))
        draw = Replaying(choices)
        members = self._make(draw)
        taken = draw.choices
        if (len(taken), taken) >= (len(self.choices), self.choices):
            return False
        self._left -= 1
        if not self._interesting(members):
            return False
        self.members, self.choices, self.spans = members, taken, draw.spans
        return True

    def _drop_spans(self) -> bool:
        """Leave whole rounds out: events, steps, members of lists; long ones first."""
        improved = False
        progress = True
        while progress and self._left > 0:
            progress = False
            for begins, ends in sorted(self.spans, key=lambda span: span[0] - span[1]):
                if self._try(self.choices[:begins] + self.choices[ends:]):
                    improved = progress = True
                    break
        return improved

    def _drop_blocks(self) -> bool:
        """Leave a few neighbouring choices out, wherever they stand."""
        improved = False
        for size in (8, 4, 2, 1):
            begins = len(self.choices) - size
            while begins >= 0:
                if self._try(self.choices[:begins] + self.choices[begins + size :]):
                    improved = True
                begins = min(begins - 1, len(self.choices) - size)
        return improved

    def _lower(self) -> bool:
        """Make single choices lower: the lowest that will do, found by halving."""
        improved = False
        for place in range(len(self.choices)):
            if place >= len(self.choices) or self.choices[place] == 0:
                continue
            if self._try(self._with(place, 0)):
                improved = True
                continue
            low, high = 0, self.choices[place]
            while high - low > 1 and place < len(self.choices):
                middle = (low + high) // 2
                if self._try(self._with(place, middle)):
                    improved, high = True, middle
                else:
                    low = middle
            for lower in range(1, min(self.choices[place] if place < len(self.choices) else 0, 8)):
                if self._try(self._with(place, lower)):
                    improved = True
                    break
        return improved

    def _with(self, place: int, number: int) -> list[int]:
        return [*self.choices[:place], number, *self.choices[place + 1 :]]
