"""Why a run ended before its time: an adapter was at fault, or an implementation had to be given up."""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.protocol import Answer

MOST_TOLD = 5
LONGEST_TOLD = 600


@dataclass
class Ending:
    """What is told of it, each thing once.

    ``faults`` say nothing of an implementation. ``given_up`` says why no more could be asked of one that
    broke down too often; how it did is told by itself.
    """

    faults: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return bool(self.faults or self.given_up)

    def blame(self, party: str, asked: str, answer: Answer) -> None:
        """An answer of a kind that says nothing of the implementation."""
        kept, told = self.faults, f"{party} answered {asked} with {answer.kind}: {answer.value}"
        if answer.kind == "not-run":
            kept, told = self.given_up, f"{party}: {answer.value}"
        if len(kept) < MOST_TOLD and told[:LONGEST_TOLD] not in kept:
            kept.append(told[:LONGEST_TOLD])
