"""``report``: JUnit XML, a Markdown page or a JSON summary from a stored result stream."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from conformance.cli.common import plain
from conformance.errors import UsageError
from conformance.files import write_whole
from conformance.reports.json_summary import json_summary
from conformance.reports.junit import junit
from conformance.reports.markdown import markdown
from conformance.reports.summary import summarise
from conformance.stream import read_stream


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("report", help="make reports of a run", description=plain(__doc__))
    parser.add_argument("stream", type=Path, metavar="FILE", help="what run --report wrote")
    parser.add_argument("--junit", type=Path, metavar="OUT", help="JUnit XML, for CI servers")
    parser.add_argument("--markdown", type=Path, metavar="OUT", help="a summary for the page of a CI job")
    parser.add_argument("--json", type=Path, metavar="OUT", help="a small summary for machines")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Write what was asked for, and say what the stream tells."""
    if not (args.junit or args.markdown or args.json):
        raise UsageError("name at least one of --junit, --markdown and --json")
    summary = summarise(read_stream(args.stream))
    if args.junit:
        write_whole(args.junit, junit(read_stream(args.stream), summary))
    if args.markdown:
        write_whole(args.markdown, markdown(summary))
    if args.json:
        write_whole(args.json, json.dumps(json_summary(summary), indent=1) + "\n")
    print(f"{args.stream}: {summary.outcome()}")
    return 0
