"""``doctor``: find out what is wrong with an adapter and how to repair it. No implementation is judged."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from conformance.adapters.registry import FORMS, resolve
from conformance.cli.common import plain, seconds
from conformance.config import find_config, load_config
from conformance.doctor.examination import ANSWER_SECONDS, examine
from conformance.doctor.render import show
from conformance.errors import UsageError
from conformance.files import write_whole
from conformance.terminal import PlainConsole


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("doctor", help="examine an adapter", description=plain(__doc__))
    parser.add_argument("adapter", help=f"{FORMS}, or a name of session-conformance.toml")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the findings as JSON too")
    parser.add_argument(
        "--time-limit", type=seconds, default=ANSWER_SECONDS, metavar="SECONDS",
        help=f"how long one answer may take (default {ANSWER_SECONDS:g}, at most 10)",
    )  # fmt: skip
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Examine, show, and return 0 or, where the adapter is at fault, 3."""
    adapter = resolve(args.adapter, named=load_config(find_config()))
    if args.json is not None and not args.json.parent.is_dir():
        raise UsageError(f"--json {args.json}: there is no folder {args.json.parent}")
    diagnosis = examine(adapter, min(args.time_limit, 10.0))
    if args.json is not None:
        text = json.dumps(diagnosis.record(), ensure_ascii=True, indent=2)
        write_whole(args.json, f"{text}\n", "JSON file")
    show(diagnosis, PlainConsole())
    return int(diagnosis.exit_code)
