"""``cost``: how an implementation's cost grows with the log and with the surface, as exponents."""

from __future__ import annotations

import argparse

from conformance.adapters.registry import resolve
from conformance.cli.common import plain
from conformance.cost import measure
from conformance.errors import UsageError


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("cost", help="measure growth", description=plain(__doc__))
    parser.add_argument("adapter", nargs="?", default="reference", help="reference or python:...")
    parser.add_argument(
        "--largest",
        type=int,
        default=1_000_000,
        metavar="N",
        help="events in the longest log, from 100000 (default %(default)s)",
    )
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Print one block per series; 1.00 is linear, so flat cost per event."""
    adapter = resolve(args.adapter)
    if adapter.factory is None:
        raise UsageError("cost needs an adapter in this process: reference, or python:package.module:factory")
    if args.largest < 100_000:
        raise UsageError("--largest must be at least 100000: an exponent needs two sizes")
    for growth in measure(adapter.factory(), args.largest):
        exponents = ", ".join(f"{exponent:.2f}" for exponent in growth.exponents)
        print(f"{growth.name}: growth exponent {exponents}")
        for size, seconds in zip(growth.sizes, growth.seconds, strict=True):
            print(f"  {size:>9,}  {seconds * 1000:10.2f} ms  {seconds / size * 1e6:8.3f} µs each", flush=True)
    return 0
