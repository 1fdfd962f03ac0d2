"""``run``: put the cases to an adapter and judge its answers."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from conformance.adapters.limits import Limits
from conformance.adapters.registry import FORMS, resolve
from conformance.cli.common import add_selection, chosen_cases, selection_of
from conformance.engine import interrupted_record, run
from conformance.errors import UsageError
from conformance.stream import Record, StreamWriter
from conformance.terminal import TerminalView

if TYPE_CHECKING:
    from collections.abc import Callable

STRICT = ("condition", "position")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("run", help="judge an implementation", description=__doc__)
    parser.add_argument("adapter", nargs="?", default="reference", help=f"{FORMS} (default: reference)")
    add_selection(parser)
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write the result stream (NDJSON) to a file"
    )
    parser.add_argument(
        "--strict", default="", metavar="LIST",
        help="what must match beyond the verdict of a refusal: condition, position, or both with a comma",
    )  # fmt: skip
    parser.add_argument(
        "-j", "--jobs", type=_positive, default=1, metavar="N", help="adapter processes (default 1)"
    )
    parser.add_argument(
        "--time-limit", type=_seconds, default=Limits().answer_seconds, metavar="SECONDS",
        help="how long one answer may take (default %(default)g; adapters over a pipe)",
    )  # fmt: skip
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Run, show, report, and return the exit code."""
    strict = parse_strict(args.strict)
    adapter = resolve(args.adapter, Limits(answer_seconds=args.time_limit))
    cases, ledger = chosen_cases(args)
    described: Record = {
        "selection": selection_of(args).describe(),
        "vectors": [str(path) for path in args.vectors],
    }
    with ExitStack() as stack:
        view = TerminalView(Console(), Console(stderr=True))
        stack.callback(view.close)
        sinks: list[Callable[[Record], None]] = [view.feed]
        if args.report is not None:
            writer = StreamWriter(args.report)
            stack.callback(writer.close)
            sinks.insert(0, writer.write)
        code = 0
        try:
            for record in run(cases, adapter, ledger, strict=strict, jobs=args.jobs, described=described):
                for sink in sinks:
                    sink(record)
                if record["record"] == "end":
                    code = record["exit"]
        except KeyboardInterrupt:
            for sink in sinks:
                sink(interrupted_record())
            raise
    return code


def parse_strict(text: str) -> frozenset[str]:
    """The words of --strict. Raises UsageError for any other word."""
    words = frozenset(word for word in text.split(",") if word)
    unknown = words - set(STRICT)
    if unknown:
        raise UsageError(f"--strict knows {' and '.join(STRICT)}, not {', '.join(sorted(unknown))}")
    return words


def _positive(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 256:
        raise argparse.ArgumentTypeError("must be from 1 to 256")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError("must be a number of seconds above 0")
    return number
