"""Saved findings asked again: fixed, or still failing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.adapters.registry import resolve
from conformance.config import NamedAdapter
from conformance.errors import UsageError
from conformance.fuzzing.all_laws import LAWS
from conformance.fuzzing.comparing import AT_FAULT, compare
from conformance.fuzzing.findings import Document, Finding, answer_in
from conformance.fuzzing.law_runs import check_one
from conformance.fuzzing.parties import Party, Table
from conformance.fuzzing.quirks import Quirk, explaining
from conformance.fuzzing.spelling import encode, head_of
from conformance.ledger import Ledger
from conformance.protocol import Answer


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a finding. ``state``: fixed, known (a listed quirk), failing or fault."""

    state: str
    says: str


class Tables:
    """Adapters by name, opened when they are first asked."""

    def __init__(self, named: Mapping[str, NamedAdapter]) -> None:
        self._named = named
        self._open: dict[str, Table] = {}

    def table(self, name: str) -> Table:
        if name not in self._open:
            self._open[name] = Table.open([resolve(name, named=self._named)])
        return self._open[name]

    def ask(self, name: str, body: str) -> Answer:
        table = self.table(name)
        return table.ask(body, table.parties)[0]

    def close(self) -> None:
        for table in self._open.values():
            table.close()


def replay(
    finding: Finding,
    tables: Tables,
    ledger: Ledger,
    quirks: tuple[Quirk, ...],
    *,
    instead: str | None,
    recorded: bool,
) -> Verdict:
    """Ask again. ``instead`` is an adapter to ask in place of the one that was under test.

    With ``recorded`` only that one is asked, and held against what the other one answered then.
    """
    if finding.is_law:
        return replay_law(finding.document, tables, instead)
    document = finding.document
    first, second = document["difference"]["between"]
    under_test = document["answers"][0]["adapter"]
    if under_test not in (first, second):
        under_test = second
    found = {}
    for name in (first, second):
        if recorded and name != under_test:
            found[name] = next(answer_in(entry) for entry in document["answers"] if entry["adapter"] == name)
        else:
            asked = instead if instead is not None and name == under_test else name
            found[name] = tables.ask(asked, body_in(document))
        if found[name].kind in AT_FAULT:
            return Verdict("fault", f"{name} answered {found[name].kind}: {found[name].value}"[:400])
    op = document["capability"].partition("@")[0]
    unlike = compare(op, found[first], found[second], ledger)
    if unlike is None:
        return Verdict("fixed", "both answer the same")
    quirk = explaining(quirks, document["capability"], unlike)
    if quirk is not None:
        return Verdict("known", f"a listed quirk: {quirk.id}")
    place = f" at {unlike.path}" if unlike.path else ""
    return Verdict("failing", f"{first} {unlike.one}, {second} {unlike.other}{place}")


def replay_law(document: Document, tables: Tables, instead: str | None) -> Verdict:
    """Ask all questions of a law again."""
    law = next((law for law in LAWS if law.name == document["law"]), None)
    if law is None:
        raise UsageError(f"there is no law {document['law']} in this version")
    name = instead or document["adapter"]
    table = tables.table(name)
    party: Party = table.parties[0]
    missing = sorted(law.needs - party.capabilities)
    if missing:
        return Verdict("fault", f"{name} does not declare {', '.join(missing)}")
    told, exchanges = check_one(table, party, law, document["input"])
    for each in exchanges:
        if each.answer.kind in AT_FAULT:
            return Verdict("fault", f"{name} answered {each.answer.kind}: {each.answer.value}"[:400])
    return Verdict("fixed", "the law holds") if told is None else Verdict("failing", told[:400])


def body_in(document: Document) -> str:
    """The request line of a saved finding, behind ``{"id":N,``."""
    return head_of(document["capability"]) + encode(document["request"])[1:]


def worst(verdicts: list[Verdict]) -> str:
    """fault before failing before known before fixed."""
    order = ("fault", "failing", "known", "fixed")
    return min((verdict.state for verdict in verdicts), key=order.index)
