"""``repair``: write what a reader would make of a log, a torn tail cut off and an open turn closed."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.cli.common import plain
from conformance.errors import UsageError
from conformance.terminal import clean


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "repair", help="cut a torn tail and close a turn", description=plain(__doc__)
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="a JSONL log, plain or compressed")
    parser.add_argument(
        "--output", type=Path, metavar="NEW", help="the repaired log; it must not be there yet"
    )
    parser.add_argument("--dry-run", action="store_true", help="only tell what would be done")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Repair, and return 0; a log that a reader refuses is not repaired (1)."""
    from conformance.checking.repair import plan_repair, write_repair

    if args.output is None and not args.dry_run:
        raise UsageError("repair: give --output NEW, or --dry-run; a log is never changed in place")
    plan = plan_repair(args.path)
    if not plan.changes:
        print(clean(f"{args.path}: nothing to repair"))
        return 0
    will = "would " if args.dry_run else ""
    for step in plan.steps():
        print(clean(f"{args.path}: {will}{step}"))
    if args.dry_run:
        return 0
    write_repair(plan, args.path, args.output)
    print(clean(f"{args.output}: written, {plan.size:,} bytes before and {args.output.stat().st_size:,} now"))
    return 0
