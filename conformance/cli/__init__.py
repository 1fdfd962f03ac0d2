"""The command line: one module per command, each a thin function over one part of the package."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType

from conformance import __version__
from conformance.adapters.inprocess import describe
from conformance.cli import (
    adequacy,
    baseline,
    bench,
    check,
    cost,
    doctor,
    explain,
    export,
    fuzz,
    init,
    kill_trials,
    lint,
    list_cases,
    repair,
    report,
    rules,
    run,
    serve,
    show,
    sweep,
)
from conformance.errors import ConformanceError, ExitCode
from conformance.terminal import clean

COMMANDS = (
    run,
    init,
    doctor,
    check,
    repair,
    explain,
    report,
    baseline,
    list_cases,
    show,
    rules,
    serve,
    export,
    lint,
    adequacy,
    bench,
    cost,
    fuzz,
    sweep,
    kill_trials,
)

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
    """Run one command and return its exit code."""

    def work() -> int:
        args = parsed(argv)
        code: int = args.command(args)
        return code

    return guarded(work)


def guarded(work: Callable[[], int]) -> int:
    """Do some work for a person; its exit code. Errors that they can act on are one message."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what an encoding has not is told by its number
            stream.reconfigure(errors="backslashreplace")
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, _as_interrupt)
    if sys.stdout is None:  # closed by whoever started us; what we find out still shows in the exit code
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
    try:
        code = work()
        sys.stdout.flush()
        return code
    except ConformanceError as error:
        _tell(str(error))
        return int(error.exit_code)
    except KeyboardInterrupt:
        _tell("interrupted")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has had enough; a second error at exit would only be noise.
        _silence_stdout()
        return 128 + signal.SIGPIPE
    except OSError as error:
        _silence_stdout()
        named = f"{os.fsdecode(error.filename)}: {error.strerror}" if _has_name(error) else str(error)
        _tell(named)
        return int(ExitCode.ADAPTER if error.filename is None else ExitCode.USAGE)
    except Exception as error:
        if os.environ.get("SESSION_CONFORMANCE_TRACEBACK"):
            raise
        _tell(
            f"a fault of this program, not of yours: {describe(error)};"
            " SESSION_CONFORMANCE_TRACEBACK=1 shows where, please report it"
        )
        return int(ExitCode.ADAPTER)


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """The words of the command line. What --help and --version print is out before the process ends."""
    try:
        return build_parser().parse_args(argv)
    except SystemExit:
        sys.stdout.flush()
        raise


def entry() -> int:
    """The command as a program: ``main``, but no thread that an adapter left behind keeps it alive."""
    code = main()
    others = [
        each for each in threading.enumerate() if each is not threading.main_thread() and not each.daemon
    ]
    if others:
        _tell(f"the adapter left {len(others)} threads running; they end here")
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def _has_name(error: OSError) -> bool:
    """Whether the error is about a path; it may as well be about the number of an open file."""
    return isinstance(error.filename, str | bytes) and error.strerror is not None


def _tell(message: str) -> None:
    """One line on stderr, whatever it holds."""
    with contextlib.suppress(OSError, ValueError):
        print(f"session-conformance: {clean(message)}", file=sys.stderr)


def _silence_stdout() -> None:
    """What is still unwritten goes nowhere, so that the end of the process has nothing to complain about."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _as_interrupt(_signal: int, _frame: FrameType | None) -> None:
    """SIGTERM and a closed terminal end a run as cleanly as Ctrl-C does."""
    raise KeyboardInterrupt
