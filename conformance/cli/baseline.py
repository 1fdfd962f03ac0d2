"""``baseline update``: the list of known failures that a complete run calls for."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.baseline import UNEXPLAINED, load_baseline, updated, write_baseline
from conformance.cli.common import plain
from conformance.stream import read_stream


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "baseline", help="keep the list of known failures", description=plain(__doc__)
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    update = actions.add_parser("update", help="rewrite the list from a complete run, keeping reasons")
    update.add_argument("baseline", type=Path, metavar="FILE", help="the list; it need not exist yet")
    update.add_argument(
        "--from", dest="stream", type=Path, required=True, metavar="STREAM", help="run --report FILE"
    )
    update.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Write the list and say what it holds."""
    old = load_baseline(args.baseline) if args.baseline.exists() else None
    counts = write_baseline(args.baseline, updated(read_stream(args.stream), old))
    print(f"{args.baseline}: {counts['all']} known failures", end="")
    print(
        f", {counts['unexplained']} of them '{UNEXPLAINED}': give each a reason"
        if counts["unexplained"]
        else ""
    )
    return 0
