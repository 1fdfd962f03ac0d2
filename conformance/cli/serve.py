"""``serve``: offer an adapter over stdin and stdout, one JSON line each way."""

from __future__ import annotations

import argparse

from conformance.adapters.registry import FORMS, resolve
from conformance.cli.common import plain
from conformance.serve import serve


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("serve", help="offer an adapter over stdio", description=plain(__doc__))
    parser.add_argument("adapter", help=FORMS)
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Serve until the end of input."""
    return serve(resolve(args.adapter))
