"""The command line: one module per command, each a thin function over one part of the package."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from conformance import __version__
from conformance.cli import (
    adequacy,
    baseline,
    bench,
    cost,
    export,
    lint,
    list_cases,
    report,
    rules,
    run,
    serve,
)
from conformance.errors import ConformanceError, ExitCode

COMMANDS = (run, report, baseline, list_cases, rules, serve, export, lint, adequacy, bench, cost)

EPILOG = """\
exit codes:
  0  conforms
  1  does not conform: an answer differs, or the implementation dies or hangs on a case
  2  wrong use, bad vectors, or nothing selected
  3  the adapter or its environment is at fault, or declares nothing of what was selected
  2 goes before 3, and 3 before 1; 130 after Ctrl-C
"""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command."""
    parser = argparse.ArgumentParser(
        prog="session-conformance",
        description="Checks implementations of the DeepSeek Harness session log against its specification.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Errors that a person can act on are one message."""
    args = build_parser().parse_args(argv)
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        code: int = args.command(args)
        sys.stdout.flush()
        return code
    except ConformanceError as error:
        print(f"session-conformance: {error}", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print("session-conformance: interrupted", file=sys.stderr)
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has had enough; a second error at exit would only be noise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE


def _as_interrupt(_signal: int, _frame: FrameType | None) -> None:
    """SIGTERM ends a run as cleanly as Ctrl-C does."""
    raise KeyboardInterrupt
