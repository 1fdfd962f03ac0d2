"""``run``: put the cases to an adapter and judge its answers."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from conformance.adapters.limits import Limits
from conformance.adapters.registry import FORMS, plugin, resolve
from conformance.baseline import load_baseline
from conformance.cases import Case
from conformance.cli.common import add_selection, megabytes, plain, positive, seconds, selection_of
from conformance.config import NamedAdapter, find_config, load_config
from conformance.corpus import load_corpus
from conformance.engine import Options, interrupted_record, run
from conformance.errors import ConformanceError, UsageError
from conformance.judge import parse_strict
from conformance.ledger import Ledger, load_ledger
from conformance.profiles import TOPICS, belongs, load_profile
from conformance.stream import Record, StreamWriter
from conformance.terminal import PlainConsole, TerminalView


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("run", help="judge an implementation", description=plain(__doc__))
    named = "or a name of session-conformance.toml"
    parser.add_argument(
        "adapter", nargs="?", default="reference", help=f"{FORMS}, {named} (default: reference)"
    )
    add_selection(parser)
    group = parser.add_argument_group("what counts")
    group.add_argument(
        "--strict", default=None, metavar="LIST",
        help="what must match beyond the verdict of a refusal: condition, position, or both with a comma",
    )  # fmt: skip
    group.add_argument(
        "--profile", metavar="NAME",
        help=f"only the cases of a profile, scored as it was released: {', '.join(TOPICS)}",
    )  # fmt: skip
    group.add_argument(
        "--baseline", type=Path, metavar="FILE", help="known failures, which do not fail the run"
    )
    group.add_argument(
        "--repeat", type=positive, default=1, metavar="M", help="put every case M times; tell the flaky"
    )
    group = parser.add_argument_group("how it is run")
    group.add_argument(
        "--report", type=Path, metavar="FILE", help="write the result stream (NDJSON) to a file"
    )
    group.add_argument(
        "-j", "--jobs", type=positive, default=None, metavar="N", help="adapter processes (default 1)"
    )
    group.add_argument(
        "--time-limit", type=seconds, metavar="SECONDS",
        help=f"how long one answer may take (default {Limits().answer_seconds:g})",
    )  # fmt: skip
    group.add_argument(
        "--total-limit", type=seconds, metavar="SECONDS", help="how long the run may take (default: any)"
    )
    group.add_argument(
        "--memory-limit", type=megabytes, metavar="MIB",
        help=f"how much memory an adapter process may hold (default {Limits().memory_mib})",
    )  # fmt: skip
    group = parser.add_argument_group("a persistence plugin of DeepSeek Harness (adapter dsh-plugin)")
    group.add_argument(
        "--module", metavar="M", help="the plugin: a package name, or a path that begins with ./ or /"
    )
    group.add_argument(
        "--config", default="{}", metavar="JSON",
        help="its configuration; {root} in it stands for the folder of a store",
    )  # fmt: skip
    group.add_argument(
        "--storage", metavar="FORMAT",
        help="what it keeps there, for cases that damage it: jsonl, jsonl-zstd, sqlite14 (15, 17, 20)",
    )  # fmt: skip
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Run, show, report, and return the exit code."""
    named = load_config(find_config())
    entry = named.get(args.adapter)
    if args.adapter == "dsh-plugin" and args.module is not None:
        adapter = plugin(args.module, args.config, args.storage, limits_of(args, entry))
    else:
        adapter = resolve(args.adapter, limits_of(args, entry), named)
    ledger = load_ledger()
    cases, options = prepare(args, entry, ledger)
    with ExitStack() as stack:
        console = PlainConsole()
        view = TerminalView(console, progress=console.is_terminal and sys.stderr.isatty())
        stack.callback(view.close)
        sinks: list[Callable[[Record], None]] = [view.feed]
        if args.report is not None:
            refuse_own_input(args.report, args.vectors)
            writer = StreamWriter(args.report)
            stack.callback(writer.close)
            sinks.insert(0, writer.write)
        code = 0
        try:
            for record in run(cases, adapter, ledger, options):
                for sink in sinks:
                    sink(record)
                if record["record"] == "end":
                    code = record["exit"]
        except ConformanceError:
            raise
        except BaseException as error:
            for sink in sinks:
                sink(interrupted_record(interrupted=isinstance(error, KeyboardInterrupt)))
            raise
    return code


def refuse_own_input(report: Path, vectors: list[Path]) -> None:
    """A report must not take the place of what the run is about to read."""
    if any(report.exists() and path.exists() and report.samefile(path) for path in vectors):
        raise UsageError(f"--report {report} would overwrite the vectors of this run")


def prepare(
    args: argparse.Namespace, entry: NamedAdapter | None, ledger: Ledger
) -> tuple[list[Case], Options]:
    """The cases of the run and all that goes with them; options go before what the configuration says."""
    selection = selection_of(args)
    profile_name = args.profile or (entry.profile if entry else None)
    corpus = load_corpus(args.vectors, ledger)
    profile = None
    if profile_name is not None:
        profile = load_profile(profile_name)
        corpus = [case for case in corpus if belongs(case, profile_name)]
        selection = replace(selection, with_optional=True)
    cases = selection.pick(corpus, ledger)
    baseline_path = args.baseline or (entry.baseline if entry else None)
    strict = args.strict.split(",") if args.strict is not None else entry.strict if entry else ()
    options = Options(
        strict=parse_strict(strict),
        jobs=args.jobs or (entry.jobs if entry else None) or 1,
        repeat=args.repeat,
        profile=profile,
        baseline=load_baseline(baseline_path) if baseline_path is not None else None,
        whole=not (selection.ids or selection.topics or selection.rules or args.vectors),
        not_selected=len(corpus) - len(cases),
        described={
            "selection": selection_of(args).describe(),
            "vectors": [str(path) for path in args.vectors],
            **({"baseline": str(baseline_path)} if baseline_path is not None else {}),
        },
    )
    return cases, options


def limits_of(args: argparse.Namespace, entry: NamedAdapter | None) -> Limits:
    """The limits of the run."""
    default = Limits()
    return Limits(
        answer_seconds=args.time_limit or (entry.time_limit if entry else None) or default.answer_seconds,
        total_seconds=args.total_limit or (entry.total_limit if entry else None),
        memory_mib=args.memory_limit or (entry.memory_limit if entry else None) or default.memory_mib,
    )
