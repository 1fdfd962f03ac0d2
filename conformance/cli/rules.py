"""``rules``: the requirements of the specification, and the cases that show them."""

from __future__ import annotations

import argparse
from collections import defaultdict

from conformance.corpus import load_corpus
from conformance.errors import UsageError
from conformance.ledger import Rule, load_ledger


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("rules", help="list rules", description=__doc__)
    parser.add_argument("rule", nargs="*", metavar="ID", help="show these rules in full, with their cases")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Print all rules, one line each, or some in full."""
    ledger = load_ledger()
    for name in args.rule:
        if name not in ledger.rules:
            raise UsageError(f"unknown rule {name}; session-conformance rules lists them")
    if not args.rule:
        for rule in ledger.rules.values():
            print(f"{rule.id:<8} {rule.level:<6} {rule.page:<12} {rule.condition or '-':<22} {rule.says}")
        return 0
    cases: dict[str, list[str]] = defaultdict(list)
    for case in load_corpus(ledger=ledger):
        for name in case.rules:
            cases[name].append(f"{case.id}  ({case.file}:{case.line})")
    print("\n\n".join(describe(ledger.rules[name], cases[name]) for name in args.rule))
    return 0


def describe(rule: Rule, cases: list[str]) -> str:
    """One rule in full."""
    lines = [f"{rule.id}  {rule.level}, edition {rule.edition}, spec/{rule.page}.md", f"  {rule.says}"]
    if rule.condition:
        lines.append(f"  condition  {rule.condition}")
        lines += [f"  text       {text}" for text in rule.texts]
    if rule.untestable:
        lines.append(f"  untestable {rule.untestable}")
    lines += [f"  case       {case}" for case in cases]
    return "\n".join(lines)
