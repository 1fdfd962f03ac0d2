"""``rules``: the requirements of the specification, and the cases that show them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from conformance.corpus import load_corpus
from conformance.errors import ExitCode, UsageError
from conformance.ledger import load_ledger

if TYPE_CHECKING:
    from conformance.matrix import Row


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("rules", help="list rules", description=__doc__)
    parser.add_argument("rule", nargs="*", metavar="ID", help="show these rules in full, with their cases")
    parser.add_argument(
        "--matrix", action="store_true", help="count cases per rule; exit 1 if a rule is not traced"
    )
    parser.add_argument("--json", action="store_true", help="the same as one JSON list")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Print all rules, one line each, or some in full, or the matrix."""
    ledger = load_ledger()
    for name in args.rule:
        if name not in ledger.rules:
            raise UsageError(f"unknown rule {name}; session-conformance rules lists them")
    if not args.rule and not args.matrix and not args.json:
        for rule in ledger.rules.values():
            print(f"{rule.id:<8} {rule.level:<6} {rule.page:<15} {rule.condition or '-':<22} {rule.says}")
        return 0
    from conformance.matrix import build_matrix  # parses the reference; no other command needs that

    cases = load_corpus(ledger=ledger)
    rows = [row for row in build_matrix(ledger, cases) if not args.rule or row.rule.id in args.rule]
    faults = [fault for row in rows for fault in row.faults()] if args.matrix else []
    if args.json:
        print(json.dumps([row.document() for row in rows], indent=1))
    elif args.matrix:
        either = sum(case.expect.kind == "either" for case in cases)
        show_matrix(rows, faults, len(cases), either)
    else:
        print("\n\n".join(describe(row) for row in rows))
    return ExitCode.DIFFERS if faults else ExitCode.CONFORMS


def show_matrix(rows: Sequence[Row], faults: Sequence[str], cases: int, either: int) -> None:
    """A line per rule, then totals, then what is not traced."""
    print(f"{'rule':<8} {'level':<7} {'kept':>5} {'broken':>7} {'either':>7} {'beside':>7}  reference")
    for row in rows:
        counts = f"{len(row.accepting):>5} {len(row.refusing):>7} {len(row.open):>7} {len(row.beside):>7}"
        where = f"untestable: {row.rule.untestable}" if row.rule.untestable else ", ".join(row.functions)
        print(f"{row.rule.id:<8} {row.rule.level:<7} {counts}  {where}")
    excluded = sum(row.rule.untestable is not None for row in rows)
    print(
        f"{len(rows)} rules, {excluded} of them untestable from outside;"
        f" {cases} cases, {either} of them either"
    )
    for fault in faults:
        print(fault)


def describe(row: Row) -> str:
    """One rule in full."""
    rule = row.rule
    lines = [f"{rule.id}  {rule.level}, edition {rule.edition}, spec/{rule.page}.md", f"  {rule.says}"]
    if rule.condition:
        lines.append(f"  condition  {rule.condition}")
        lines += [f"  text       {text}" for text in rule.texts]
    if rule.untestable:
        lines.append(f"  untestable {rule.untestable}")
    if rule.one_sided:
        lines.append(f"  one-sided  {rule.one_sided}")
    lines += [f"  reference  {function}" for function in row.functions]
    for word, cases in (
        ("kept", row.accepting), ("broken", row.refusing), ("either", row.open), ("beside", row.beside),
    ):  # fmt: skip
        lines += [f"  {word:<10} {case}" for case in cases]
    return "\n".join(lines)
