"""``fuzz``: inputs that nobody wrote, put to an adapter and to others.

``fuzz ADAPTER`` runs, ``fuzz replay PATH`` asks saved findings again, ``fuzz promote FILE`` makes one a case.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.adapters.registry import FORMS, resolve
from conformance.cli.common import plain, seconds, whole
from conformance.config import find_config, load_config
from conformance.errors import ExitCode, UsageError
from conformance.files import require_writable
from conformance.ticker import Ticker

if TYPE_CHECKING:
    from conformance.fuzzing.findings import Finding

DEFAULT_EXAMPLES = 10_000


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "fuzz", help="look for differences nobody thought of", description=plain(__doc__)
    )
    parser.add_argument("what", metavar="ADAPTER", help=f"{FORMS}; or the word replay or promote")
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help="saved findings, or their folder")
    group = parser.add_argument_group("a run")
    group.add_argument(
        "--against", action="append", default=[], metavar="ADAPTER",
        help="what it is held against; may be given several times (default: reference)",
    )  # fmt: skip
    group.add_argument(
        "--op", metavar="OP", help="one operation, as in fold, or one capability, as in seqs.decode@19"
    )
    amount = group.add_mutually_exclusive_group()
    amount.add_argument(
        "--examples", type=_examples, metavar="N", help=f"how many inputs (default {DEFAULT_EXAMPLES})"
    )
    amount.add_argument("--for", dest="time", type=seconds, metavar="SECONDS", help="how long instead")
    group.add_argument(
        "--seed", type=_seed, default="1", metavar="S", help="the same seed draws the same inputs (default 1)"
    )
    group.add_argument(
        "--save", type=Path, metavar="DIR", help="write each finding into a file of this folder"
    )
    group.add_argument(
        "--untyped", action="store_true", help="input too that no port with typed events can hold"
    )
    group.add_argument("--no-laws", action="store_true", help="compare answers only, check no laws")
    group = parser.add_argument_group("fuzz replay PATH…")
    group.add_argument(
        "--adapter", metavar="ADAPTER", help="ask this one instead of the one that was under test"
    )
    group.add_argument(
        "--recorded", action="store_true", help="hold it against the answers in the file, and ask nobody else"
    )
    group = parser.add_argument_group("fuzz promote FILE")
    group.add_argument("--id", metavar="ID", help="the permanent id of the case")
    group.add_argument("--why", metavar="TEXT", help="one sentence: the mistake that the case catches")
    group.add_argument(
        "--facts", metavar="TEXT", help="what it rests on where the published package cannot tell"
    )
    group.add_argument("--rule", action="append", default=[], metavar="ID", help="a rule that the case shows")
    group.add_argument(
        "--right", default="reference", metavar="ADAPTER", help="whose answer is right (default: reference)"
    )
    group.add_argument(
        "--into", type=Path, metavar="FILE",
        help="put it into this vector file, which may be a new one (default: print it)",
    )  # fmt: skip
    parser.set_defaults(command=command)


def _seed(text: str) -> str:
    """Any word that can be written down again."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise argparse.ArgumentTypeError("must be a text of whole characters") from None
    return text


def _examples(text: str) -> int:
    return whole(text, 1_000_000_000)


def command(args: argparse.Namespace) -> int:
    """Run, replay or promote."""
    if args.what == "replay":
        return replay(args)
    if args.what == "promote":
        return promote(args)
    if args.paths:
        raise UsageError(f"fuzz takes one adapter; {args.paths[0]} is one word too many")
    return fuzz(args)


def fuzz(args: argparse.Namespace) -> int:
    """A run, and its report."""
    # Imported here, for no other command needs any of it.
    from conformance.fuzzing.parties import Table
    from conformance.fuzzing.reporting import Report
    from conformance.fuzzing.session import Wanted, run_all

    if args.save is not None:
        require_writable(args.save)
    named = load_config(find_config())
    others = args.against or ["reference"]
    if args.what == "reference" and not args.against:
        others = []
    specs = [resolve(name, named=named) for name in [args.what, *others]]
    wanted = Wanted(
        seed=args.seed,
        op=args.op,
        examples=args.examples or (None if args.time else DEFAULT_EXAMPLES),
        seconds=args.time,
        untyped=args.untyped,
        laws=not args.no_laws,
    )
    with Table.open(specs) as table, Ticker() as ticker:
        result = run_all(table, wanted, ticker)
    report = Report(result, table)
    report.show(print)
    for place, told in report.save(args.save):
        print(f"{place}: {told}")
    return report.exit_code()


def replay(args: argparse.Namespace) -> int:
    """Saved findings, asked again."""
    from conformance.fuzzing import findings
    from conformance.fuzzing.quirks import load_quirks
    from conformance.fuzzing.replaying import Tables, worst
    from conformance.fuzzing.replaying import replay as ask_again
    from conformance.ledger import load_ledger

    found = findings.find(args.paths)
    tables = Tables(load_config(find_config()))
    verdicts = []
    try:
        for finding in found:
            verdict = ask_again(
                finding, tables, load_ledger(), load_quirks(), instead=args.adapter, recorded=args.recorded
            )
            verdicts.append(verdict)
            print(f"{verdict.state:<8} {finding.path.name}: {verdict.says}")
    finally:
        tables.close()
    return {"fault": ExitCode.ADAPTER, "failing": ExitCode.DIFFERS}.get(worst(verdicts), ExitCode.CONFORMS)


def promote(args: argparse.Namespace) -> int:
    """A saved difference as a case."""
    from conformance.fuzzing import findings, promoting
    from conformance.fuzzing.replaying import Tables
    from conformance.ledger import load_ledger

    finding = one_finding(findings.find(args.paths))
    if not args.id or not args.why:
        raise UsageError(
            "promote needs --id and --why: what the case is called for ever, and what it catches"
        )
    promotion = promoting.Promotion(args.id, args.why, args.facts, tuple(args.rule), args.right)
    ledger = load_ledger()
    tables = Tables(load_config(find_config()))
    try:
        entry = promoting.case_of(finding, promotion, tables, ledger)
    finally:
        tables.close()
    if args.into is None:
        print(promoting.as_yaml(entry), end="")
        return ExitCode.CONFORMS
    promoting.put_into(args.into, entry, finding.document["capability"], ledger)
    print(f"{args.into}: case {args.id} added; in the corpus of this project, run lint --write now")
    return ExitCode.CONFORMS


def one_finding(found: list[Finding]) -> Finding:
    """The only one. Raises UsageError where there are several."""
    if len(found) != 1:
        raise UsageError(f"promote takes one finding, not {len(found)}")
    return found[0]
