"""``init``: write an adapter kit into your repository, with a worked example and a port to fill in."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.cli.common import plain
from conformance.kits import KITS, init


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("init", help="write an adapter kit to fill in", description=plain(__doc__))
    parser.add_argument("language", metavar="LANGUAGE", choices=[*KITS], help=f"one of: {', '.join(KITS)}")
    parser.add_argument(
        "folder", type=Path, metavar="DIR", help="the folder of the kit; no file is overwritten"
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Write the kit and say what comes next."""
    print("\n".join(init(args.language, args.folder, Path.cwd())))
    return 0
