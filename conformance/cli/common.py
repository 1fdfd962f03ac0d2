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
        help="cases that name a rule, as in REPL-3; may be given several times",
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
