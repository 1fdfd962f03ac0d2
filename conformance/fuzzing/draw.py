"""Where a recipe's choices come from: a seeded source in bulk, a list of choices when one is repeated.

A recipe asks for whole numbers, for one of several options, and whether to go on. It never sees where
the answers come from, so the same recipe serves bulk runs, shrinking and Hypothesis. The simplest answer
is always the lowest number, the first option, no, and an end: recipes are written so that this gives the
smallest input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")
Span = tuple[int, int]
"""A stretch of choices that belong together, as indices: an event, a step, a member of a list."""


class Draw(Protocol):
    """What a recipe may ask."""

    def integer(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        ...

    def choice(self, options: Sequence[T]) -> T:
        """One of the options; the first one is the simplest."""
        ...

    def chance(self, percent: int) -> bool:
        """Yes in so many of a hundred cases; no is simpler."""
        ...

    def repeat(self, average: int) -> Iterable[int]:
        """Counts from 0, as often as it likes: ``average`` times on average, twice that at most."""
        ...


class Seeded:
    """Choices from a seeded generator; fast, and the same on every machine."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random  # noqa: S311 - nothing here is a secret

    def integer(self, low: int, high: int) -> int:
        return low + int(self._random() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        return options[int(self._random() * len(options))]

    def chance(self, percent: int) -> bool:
        return self._random() * 100 >= 100 - percent

    def repeat(self, average: int) -> Iterable[int]:
        return range(int(self._random() * (2 * average + 1)))


class Recording:
    """The choices of a ``Seeded`` of the same seed, written down.

    ``choices`` are numbers from 0: how far above the lowest number, which option, 1 for yes and for
    going on. ``spans`` are the rounds of each ``repeat``, inner ones before the one around them.
    """

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random  # noqa: S311 - as above
        self.choices: list[int] = []
        self.spans: list[Span] = []

    def clear(self) -> None:
        """Forget what was drawn, and go on from there."""
        self.choices, self.spans = [], []

    def _note(self, number: int) -> int:
        self.choices.append(number)
        return number

    def integer(self, low: int, high: int) -> int:
        return low + self._note(int(self._random() * (high - low + 1)))

    def choice(self, options: Sequence[T]) -> T:
        return options[self._note(int(self._random() * len(options)))]

    def chance(self, percent: int) -> bool:
        return self._note(int(self._random() * 100 >= 100 - percent)) == 1

    def repeat(self, average: int) -> Iterator[int]:
        # Written down round by round, so that one round can be taken out.
        for index in range(int(self._random() * (2 * average + 1))):
            begins = len(self.choices)
            self._note(1)
            yield index
            self.spans.append((begins, len(self.choices)))
        self._note(0)


class Replaying:
    """Choices from a list. Behind its end all are the simplest; one that is too large is the largest.

    ``choices`` and ``spans`` are what was taken, as in ``Recording``.
    """

    def __init__(self, choices: Sequence[int]) -> None:
        self._given = choices
        self.choices: list[int] = []
        self.spans: list[Span] = []

    def _take(self, largest: int) -> int:
        place = len(self.choices)
        number = min(self._given[place], largest) if place < len(self._given) else 0
        self.choices.append(number)
        return number

    def integer(self, low: int, high: int) -> int:
        return low + self._take(high - low)

    def choice(self, options: Sequence[T]) -> T:
        return options[self._take(len(options) - 1)]

    def chance(self, percent: int) -> bool:
        # What never or always happens in bulk must not happen otherwise here.
        return self._take(1 if percent > 0 else 0) == 1 or percent >= 100

    def repeat(self, average: int) -> Iterator[int]:
        for index in range(2 * average + 1):
            begins = len(self.choices)
            if self._take(1 if index < 2 * average else 0) == 0:
                return
            yield index
            self.spans.append((begins, len(self.choices)))
