"""``check``: is a stored log valid, why not, and what would a reader do with it? Nothing is ever written."""

from __future__ import annotations

import argparse
import json
import sys

from conformance.cli.common import plain
from conformance.errors import ExitCode, UsageError
from conformance.terminal import PlainConsole

FORMATS = ("text", "json", "sarif", "junit")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("check", help="check stored logs", description=plain(__doc__))
    parser.add_argument(
        "paths", nargs="+", metavar="PATH",
        help="a log (JSONL, plain or compressed, or a SQLite database), a folder of them, or - for stdin",
    )  # fmt: skip
    parser.add_argument("--format", choices=FORMATS, default="text", help="how to print it (default text)")
    parser.add_argument(
        "--deep", action="store_true", help="look for numbers in payloads that a live append would not take"
    )
    parser.add_argument("--exact", action="store_true", help="leave the fast way out; for comparison")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Check, print, and return 0, 1 where a log is refused or loses events, or 3 where one is not judged."""
    from conformance.checking.check import check_each
    from conformance.checking.model import Report
    from conformance.checking.progress import Bar

    if len(args.paths) != len(set(args.paths)):
        raise UsageError("check: the same path is given twice")
    report = Report()
    console = PlainConsole()
    with Bar(sys.stderr) as bar:
        stdin = sys.stdin.buffer if "-" in args.paths else None
        for each in check_each(args.paths, deep=args.deep, exact=args.exact, progress=bar.at, stdin=stdin):
            report.files.append(each)
            if args.format == "text":
                from conformance.checking.text import show

                bar.hide()
                show(each, console)
    if not report.files:
        raise UsageError(f"check: there is no log in {', '.join(args.paths)}")
    if args.format == "text":
        from conformance.checking.text import summary

        console.print(summary(report), soft_wrap=True, highlight=False, markup=False)
    elif args.format == "json":
        print(json.dumps(report.record(), ensure_ascii=True, indent=2))
    elif args.format == "sarif":
        from conformance.checking.sarif import sarif

        print(json.dumps(sarif(report), ensure_ascii=True, indent=2))
    else:
        from conformance.checking.junit import junit

        sys.stdout.write(junit(report))
    return int(ExitCode(report.exit_code))
