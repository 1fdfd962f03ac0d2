"""``bench``: how fast loading, the engine and an adapter are on this machine (medians, and their range)."""

from __future__ import annotations

import argparse

from conformance import bench
from conformance.adapters.registry import FORMS, resolve
from conformance.cli.common import plain, positive, whole
from conformance.corpus import load_corpus
from conformance.errors import AdapterError

DEEP = "surface/values-depth"
"""Values nested 300 to 512 levels: reading and comparing them is most of what such a case costs."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("bench", help="measure speed", description=plain(__doc__))
    parser.add_argument("adapters", nargs="*", default=["reference", "dsh"], metavar="ADAPTER", help=FORMS)
    parser.add_argument(
        "--cases",
        type=_requests,
        default=20_000,
        metavar="N",
        help="requests per round",
    )
    parser.add_argument("--rounds", type=positive, default=5, metavar="N", help="rounds per figure")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Print the figures; of stores of the reference, if only such are named, theirs alone."""
    for name in args.adapters:
        resolve(name)  # a name that nobody has is told before anything is measured
    stores = [name for name in args.adapters if name.startswith("store:")]
    for name in stores:
        resolve(name).connect().close()
        in_a_store(name, args.rounds)
    if len(stores) == len(args.adapters):
        return 0
    number, times = bench.loading(args.rounds)
    print(f"loading {number} cases, ms per case: {bench.middle(times, 2)}")
    cases = [case for case in load_corpus() if not case.optional and case.family is None]
    usual = [case for case in cases if case.topic != DEEP]
    for name in args.adapters:
        if name in stores:
            continue
        try:
            adapter = resolve(name)
            for what, chosen in (("the whole corpus", cases), (f"all but {DEEP}", usual)):
                judged = bench.judging(adapter, chosen, args.cases, args.rounds)
                print(f"{name}, {what}, cases a second, judged: {bench.middle(judged)}", flush=True)
            bare = bench.bare(adapter, cases, args.cases, args.rounds)
            print(f"{name}, the whole corpus, cases a second, answers only: {bench.middle(bare)}", flush=True)
            for way, rates in bench.codec(adapter, args.cases, args.rounds).items():
                print(f"{name}, small lists a second, {way} by schema 19: {bench.middle(rates)}", flush=True)
        except AdapterError as error:
            print(f"{name}: not measured: {error}")
    write, read, peak = bench.million(resolve("reference"))
    print(f"reference, 1,000,000 consecutive seqs: written in {write:.2f} s, read in {read:.2f} s")
    print(f"reference, a run of 2^53-1 seqs: refused with {peak:,} bytes")
    alone = bench.engine_alone(cases, args.cases, args.rounds)
    print(f"engine alone, answers at once in this process: {bench.middle(alone)}")
    return 0


def in_a_store(name: str, rounds: int) -> None:
    """A store of the reference beside a bare loop."""
    from conformance import store_bench  # and with it the stores, which no other figure needs

    batches = 100
    appended = store_bench.appending(name.removeprefix("store:"), batches, rounds)
    each, bare = appended.store / batches * 1000, appended.bare / batches * 1000
    told = f"{each:.2f} ms a batch, {appended.ratio:.2f} times a bare write and flush ({bare:.2f} ms)"
    if appended.through_sqlite is not None:
        told += f", {appended.store / appended.through_sqlite:.2f} times bare SQLite with its rows"
    print(f"{name}, {batches} batches of 50 events, each flushed: {told}", flush=True)
    loaded = store_bench.loading(name.removeprefix("store:"), 100_000, min(rounds, 3))
    told = f"{loaded.store:.2f} s, {loaded.ratio:.2f} times decoding the lines"
    print(f"{name}, loading 100,000 events: {told}", flush=True)


def _requests(text: str) -> int:
    return whole(text, 10_000_000)
