"""Options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.cases import Case
from conformance.corpus import load_corpus
from conformance.ledger import Ledger, load_ledger
from conformance.selection import Selection


def add_selection(parser: argparse.ArgumentParser) -> None:
    """--vectors, --select, --topic and --rule."""
    group = parser.add_argument_group("which cases")
    group.add_argument(
        "--vectors", action="append", type=Path, default=[], metavar="PATH",
        help="a vector file or folder instead of the corpus of this package; may be given several times",
    )  # fmt: skip
    group.add_argument(
        "--select", action="append", default=[], metavar="GLOB",
        help="cases whose id matches, as in 'surface.replace.*'; may be given several times",
    )  # fmt: skip
    group.add_argument(
        "--topic", action="append", default=[], metavar="T",
        help="cases of a topic or a folder of topics, as in surface; an optional topic runs only when named",
    )  # fmt: skip
    group.add_argument(
        "--rule", action="append", default=[], metavar="ID",
        help="cases that name a rule, as in REPL-3, or any of a page, as in REPL; may be given several times",
    )  # fmt: skip
    group.add_argument(
        "--optional", action="store_true", help="optional cases too: input that no typed port can hold"
    )


def selection_of(args: argparse.Namespace, *, with_optional: bool = False) -> Selection:
    """The selection that the options spell."""
    with_optional = with_optional or args.optional
    return Selection(tuple(args.select), tuple(args.topic), tuple(args.rule), with_optional)


def chosen_cases(args: argparse.Namespace, *, with_optional: bool = False) -> tuple[list[Case], Ledger]:
    """The selected cases, and the ledger they refer to."""
    ledger = load_ledger()
    selection = selection_of(args, with_optional=with_optional)
    return selection.pick(load_corpus(args.vectors, ledger), ledger), ledger


def positive(text: str) -> int:
    """A whole number from 1 to 256, as a command-line word."""
    return whole(text, 256)


def megabytes(text: str) -> int:
    """A size in MiB, as a command-line word."""
    return whole(text, 1 << 24)


def whole(text: str, largest: int) -> int:
    """A whole number from 1 to ``largest``, as a command-line word."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:12]) <= largest):
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to {largest}, not {text!r}")
    return int(text)


def seconds(text: str) -> float:
    """A number of seconds above 0, as a command-line word."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(
            f"must be a number of seconds above 0 and below a million, not {text!r}"
        )
    return number


def plain(doc: str | None) -> str:
    """A module's docstring as help text."""
    return (doc or "").replace("``", "")
