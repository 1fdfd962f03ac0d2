"""``export``: the selected cases as plain JSON, with schemas and digests."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.cli.common import add_selection, chosen_cases, plain
from conformance.export import export


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("export", help="write the corpus as plain JSON", description=plain(__doc__))
    parser.add_argument("folder", type=Path, metavar="DIR", help="an empty folder, or an earlier export")
    add_selection(parser)
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Export and say how much."""
    cases, _ = chosen_cases(args, with_optional=True)
    print(f"{export(cases, args.folder)} cases written to {args.folder}")
    return 0
