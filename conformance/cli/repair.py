"""``repair``: write what a reader would make of a log, a torn tail cut off and an open turn closed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from conformance.cli.common import plain
from conformance.errors import UsageError
from conformance.terminal import clean


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "repair", help="cut a torn tail and close a turn", description=plain(__doc__)
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="a JSONL log or a SQLite database")
    parser.add_argument(
        "--output", type=Path, metavar="NEW", help="the repaired log or database; it must not be there yet"
    )
    parser.add_argument(
        "--session", action="append", metavar="ID",
        help="of a database, only this session; may be given several times",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="only tell what would be done")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Repair, and return 0; what a reader refuses is not repaired (1)."""
    from conformance.checking.repair import plan_repair, write_repair
    from conformance.checking.sources import is_database

    if args.output is None and not args.dry_run:
        raise UsageError("repair: give --output NEW, or --dry-run; a log is never changed in place")
    if not args.dry_run:
        require_new(args.output)
    if is_database(args.path):
        return database(args)
    if args.session:
        raise UsageError(f"repair: --session is for databases, and {args.path} is a log of one session")
    plan = plan_repair(args.path)
    if not plan.changes:
        print(clean(f"{args.path}: nothing to repair"))
        return 0
    tell(args, (("", step) for step in plan.steps()))
    if args.dry_run:
        return 0
    write_repair(plan, args.path, args.output)
    print(clean(f"{args.output}: written, {plan.size:,} bytes before and {args.output.stat().st_size:,} now"))
    return 0


def require_new(target: Path) -> None:
    """Look at the place of the result before anything is told of it."""
    if os.path.lexists(target):
        raise UsageError(f"{target} is there already; a repair never writes over a file")
    if not target.parent.is_dir():
        raise UsageError(f"{target} cannot be written: {target.parent} is no folder")


def database(args: argparse.Namespace) -> int:
    """Repair the sessions of a database. One that a reader refuses stays as it is, and then the code is 1."""
    from conformance.checking.db_repair import plan_database, write_database

    plan = plan_database(args.path, args.session or ())
    tell(args, plan.steps())
    for told in plan.refused():
        print(clean(f"{args.path}: {told}"), file=sys.stderr)
    if not plan.changes:
        print(clean(f"{args.path}: nothing to repair"))
    elif not args.dry_run:
        write_database(plan, args.output)
        print(clean(f"{args.output}: written"))
    return int(plan.exit_code)


def tell(args: argparse.Namespace, steps: Iterator[tuple[str, str]]) -> None:
    """What is done to what, or would be."""
    will = "would " if args.dry_run else ""
    for what, step in steps:
        print(clean(f"{args.path}: {what}{will}{step}"))
