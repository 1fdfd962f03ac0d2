"""``sweep``: one good log, damaged at every byte, and what an implementation makes of each damage."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.adapters.registry import FORMS, resolve
from conformance.cli.common import plain, whole
from conformance.errors import ExitCode
from conformance.files import require_writable
from conformance.protocol import Connection
from conformance.sweeps.damages import KINDS
from conformance.sweeps.good_log import MOST_EVENTS
from conformance.terminal import clean
from conformance.ticker import Ticker

if TYPE_CHECKING:
    from conformance.sweeps.good_log import GoodLog
    from conformance.sweeps.run import Verdict

FORMATS = {"plain": "none", "zstd": "zstd"}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("sweep", help="damage a log at every byte", description=plain(__doc__))
    parser.add_argument("adapter", nargs="?", default="reference", help=FORMS)
    parser.add_argument(
        "--kind", action="append", choices=KINDS, help="one kind of damage; may be given several times"
    )
    parser.add_argument("--format", choices=FORMATS, default="plain", help="of the log (default %(default)s)")
    parser.add_argument(
        "--events", type=lambda text: whole(text, MOST_EVENTS), default=200, metavar="N",
        help="events of the log (default %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--stride", type=lambda text: whole(text, 1 << 20), default=1, metavar="BYTES",
        help="besides all boundaries, every so many bytes (default %(default)s: every byte)",
    )  # fmt: skip
    parser.add_argument(
        "--files", action="store_true", help="the files of a backend, in place of bytes in memory"
    )
    parser.add_argument("--save", type=Path, metavar="DIR", help="keep the first failing log of each sweep")
    parser.add_argument("--repeat", type=Path, metavar="FILE", help="repeat the one check that was saved")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """One verdict per sweep. Exits with 1 if one of them failed."""
    # Imported here and below, for no other command needs any of it.
    from conformance.sweeps.saved import repeat

    if args.save is not None:
        require_writable(args.save)
    connection = resolve(args.adapter).connect()
    try:
        if args.repeat is not None:
            return show(repeat(connection, args.repeat), 0.0)
        return max(one(connection, args, kind) for kind in args.kind or KINDS)
    finally:
        connection.close()


def one(connection: Connection, args: argparse.Namespace, kind: str) -> int:
    """Run a sweep, or one for each file of a database; show it, and keep its first failure."""
    from conformance.sweeps.good_log import build
    from conformance.sweeps.real_files import sweep_files
    from conformance.sweeps.run import sweep
    from conformance.sweeps.saved import save

    def shown(verdict: Verdict, log: GoodLog) -> int:
        code = show(verdict, time.monotonic() - started)
        if verdict.first is not None and args.save is not None:
            damaged, check = save(args.save, log, verdict, args.events, files=args.files)
            print(f"  saved as {damaged}, and {check} repeats the check")
        return code

    started = time.monotonic()
    if not args.files:
        log = build(args.events, FORMATS[args.format])
        with Ticker() as ticker:
            verdict = sweep(connection, log, kind, args.stride, tell=ticker)
        return shown(verdict, log)
    with Ticker() as ticker:
        verdict, real = sweep_files(connection, kind, args.events, args.stride, tell=ticker)
    code = shown(verdict, real.log)
    if len(real.states) > 1:  # else there is nothing for a log to hold
        started = time.monotonic()
        with Ticker() as ticker:
            verdict, real = sweep_files(
                connection, kind, args.events, args.stride, left_behind=True, tell=ticker
            )
        code = max(code, shown(verdict, real.log))
    return code


def show(verdict: Verdict, seconds: float) -> int:
    """A sweep in a few lines; 1 if it failed."""
    failed = verdict.first is not None
    repaired = f", {verdict.repaired} repaired logs loaded twice" if verdict.repaired else ""
    word = "FAIL" if failed else "pass"
    print(f"{word} {verdict.name}: {verdict.checks} damaged logs in {seconds:.1f} s{repaired}")
    for outcome, count in sorted(verdict.outcomes.items()):
        print(f"  {count:>7}  {clean(outcome)}")
    if verdict.unseen:
        told = "damages make a committed write seem unfinished, which the format cannot tell from a crash"
        print(f"  note: {verdict.unseen} {told}")
    if verdict.unloadable:
        told = "torn last writes make the log unloadable, as the format has it"
        print(f"  note: {verdict.unloadable} {told}")
    if verdict.first is not None:
        print(
            f"  {verdict.failures} failed; the first is {verdict.first.damage}: {clean(verdict.first.told)}"
        )
    print(end="", flush=True)
    return int(ExitCode.DIFFERS if failed else ExitCode.CONFORMS)
