"""``export``: the selected cases as plain JSON, with schemas and digests."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.cli.common import add_selection, chosen_cases, plain
from conformance.export import export
from conformance.flat_export import export_flat


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("export", help="write the corpus as plain JSON", description=plain(__doc__))
    parser.add_argument("folder", type=Path, metavar="DIR", help="an empty folder, or an earlier export")
    parser.add_argument(
        "--flat",
        action="store_true",
        help="only the sequence codec, as CSV and JSON tables that need no protocol",
    )
    add_selection(parser)
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Export and say how much."""
    cases, _ = chosen_cases(args, with_optional=True)
    if args.flat:
        print(f"{export_flat(cases, args.folder)} rows written to {args.folder}")
        return 0
    print(f"{export(cases, args.folder)} cases written to {args.folder}")
    return 0
