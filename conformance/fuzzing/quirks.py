"""Known differences, each listed in ``quirks.yaml`` with its reason: they are counted, never passed over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance import schemas, strict_yaml
from conformance.errors import VectorError
from conformance.fuzzing.comparing import Unlike
from conformance.judge import plain_members
from conformance.protocol import Answer

FILE = Path(__file__).with_name("quirks.yaml")


@dataclass(frozen=True, slots=True)
class Quirk:
    """One listed difference between two answers to requests of some operations.

    ``one`` says what one of the two is, ``others`` what the other may be, in either order of the parties.
    ``cases`` are the cases of the corpus that show it.
    """

    id: str
    ops: frozenset[str]
    one: str
    others: frozenset[str]
    reason: str
    cases: tuple[str, ...]
    last_value: int | None = None
    """Where given, the last value of a result on the other side, or the seq of its last event."""
    says: str | None = None
    """Where given, a part of the text of ``one``; ``rejected`` among the others is any other refusal then."""

    def explains(self, capability: str, unlike: Unlike) -> bool:
        """Whether this is that difference."""
        if not {capability, capability.partition("@")[0]} & self.ops:
            return False
        if unlike.one == self.one and self._among_others(unlike.other):
            return self._fits(unlike.first, unlike.second)
        if unlike.other == self.one and self._among_others(unlike.one):
            return self._fits(unlike.second, unlike.first)
        return False

    def _among_others(self, told: str) -> bool:
        if told in self.others:
            return True
        return self.says is not None and told != self.one and told.partition(":")[0] in self.others

    def _fits(self, one: Answer, answer: Answer) -> bool:
        if self.says is not None and self.says not in str(one.value):
            return False
        if self.last_value is None or answer.kind != "result":
            return True
        plain = plain_members(answer.value)
        values = plain.get("values", plain.get("events"))
        last = values[-1] if isinstance(values, list) and values else None
        return (last.get("seq") if isinstance(last, dict) else last) == self.last_value


@cache
def load_quirks(path: Path = FILE) -> tuple[Quirk, ...]:
    """The list. Raises VectorError with file and line."""
    document, lines = strict_yaml.load(path)
    wrong = schemas.fault("quirks", document)
    if wrong is not None:
        raise VectorError(str(wrong), file=path, line=lines.at(document, wrong.path))
    return tuple(_quirk(entry) for entry in document["quirks"])


def _quirk(entry: dict[str, Any]) -> Quirk:
    return Quirk(
        id=entry["id"],
        ops=frozenset(entry["ops"]),
        one=entry["one"],
        others=frozenset(entry["others"]),
        reason=entry["reason"],
        cases=tuple(entry["cases"]),
        last_value=entry.get("last_value"),
        says=entry.get("says"),
    )


def explaining(quirks: tuple[Quirk, ...], capability: str, unlike: Unlike) -> Quirk | None:
    """The quirk that a difference is, if it is one."""
    return next((quirk for quirk in quirks if quirk.explains(capability, unlike)), None)
