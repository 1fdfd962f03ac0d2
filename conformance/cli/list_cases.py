"""``list``: the cases that a selection holds."""

from __future__ import annotations

import argparse
import json

from conformance.cli.common import add_selection, chosen_cases, plain
from conformance.export import case_document


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("list", help="list cases", description=plain(__doc__))
    add_selection(parser)
    parser.add_argument("--json", action="store_true", help="whole cases, expanded, as one JSON list")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Print one line per case, or the cases as JSON."""
    cases, _ = chosen_cases(args, with_optional=True)
    if args.json:
        print(json.dumps([case_document(case) for case in cases], indent=1, sort_keys=True))
        return 0
    width = max(len(case.id) for case in cases)
    for case in cases:
        kinds = "/".join(dict.fromkeys(alternative.kind for alternative in case.expect.alternatives))
        if case.family is not None:
            kinds = f"family of {case.family.members:,}"
        optional = "  (optional)" if case.optional else ""
        print(f"{case.id:<{width}}  {case.capability:<9} {kinds:<16} {' '.join(case.rules)}{optional}")
    return 0
