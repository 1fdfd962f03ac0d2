"""The rule ledger, ``spec/rules.yaml``: every requirement with its id, page, condition and known texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance import schemas, strict_yaml
from conformance.errors import VectorError
from conformance.resources import spec_dir


@dataclass(frozen=True, slots=True)
class Rule:
    """One requirement. ``condition`` is None for a rule that refuses nothing.

    ``untestable`` says why no case shows the rule, ``one_sided`` why cases show one side of it only.
    """

    id: str
    level: str
    page: str
    edition: str
    says: str
    condition: str | None
    texts: tuple[str, ...]
    untestable: str | None
    line: int
    one_sided: str | None = None


class Ledger:
    """All rules, by id, and the conditions that a message text stands for."""

    def __init__(self, rules: Iterable[Rule], pages: Mapping[str, str]) -> None:
        self.rules = {rule.id: rule for rule in rules}
        self.pages = dict(pages)
        self.conditions = {rule.condition: rule for rule in self.rules.values() if rule.condition}
        self._patterns = [
            (rule.condition, pattern_of(text))
            for rule in self.rules.values()
            if rule.condition
            for text in rule.texts
        ]

    def conditions_of(self, message: str) -> frozenset[str]:
        """The conditions whose known texts a message is; one text may belong to several."""
        return frozenset(name for name, pattern in self._patterns if pattern.fullmatch(message))

    def known_texts(self) -> list[dict[str, object]]:
        """Condition names with their text templates, as adapters need them."""
        return [
            {"condition": rule.condition, "texts": list(rule.texts)}
            for rule in self.rules.values()
            if rule.condition and rule.texts
        ]


def pattern_of(template: str) -> re.Pattern[str]:
    """An anchored pattern in which each ``{name}`` of a template stands for any text."""
    parts = re.split(r"\{[A-Za-z][A-Za-z0-9_]*\}", template)
    return re.compile(".*".join(re.escape(part) for part in parts), re.DOTALL)


@cache
def load_ledger(path: Path | None = None) -> Ledger:
    """Read and check the ledger. Raises VectorError with file and line."""
    file = path or spec_dir() / "rules.yaml"
    document, lines = strict_yaml.load(file)
    wrong = schemas.fault("rules", document)
    if wrong is not None:
        raise VectorError(str(wrong), file=file, line=lines.at(document, wrong.path))
    rules: list[Rule] = []
    for entry in document["rules"]:
        rule = _rule(entry, lines.of(entry))
        _check(rule, rules, document["pages"], file)
        rules.append(rule)
    return Ledger(rules, {name: page["title"] for name, page in document["pages"].items()})


def _rule(entry: dict[str, Any], line: int) -> Rule:
    return Rule(
        id=entry["id"],
        level=entry["level"],
        page=entry["page"],
        edition=entry["edition"],
        says=entry["says"],
        condition=entry.get("condition"),
        texts=tuple(entry.get("texts", ())),
        untestable=entry.get("untestable"),
        line=line,
        one_sided=entry.get("one_sided"),
    )


def _check(rule: Rule, earlier: list[Rule], pages: dict[str, Any], file: Path) -> None:
    if any(other.id == rule.id for other in earlier):
        raise VectorError(f"rule {rule.id} is listed twice", file=file, line=rule.line)
    if rule.condition and any(other.condition == rule.condition for other in earlier):
        raise VectorError(f"condition {rule.condition} has two rules", file=file, line=rule.line)
    if rule.page not in pages:
        raise VectorError(
            f"rule {rule.id} is on page {rule.page}, which is not listed", file=file, line=rule.line
        )
    prefix = pages[rule.page]["prefix"]
    if not rule.id.startswith(f"{prefix}-"):
        raise VectorError(f"rules of page {rule.page} begin with {prefix}-", file=file, line=rule.line)
