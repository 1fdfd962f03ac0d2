"""``kill-trials``: a writer is killed at random moments under load; what it answered for has to be there."""

from __future__ import annotations

import argparse
import shlex
import time
from typing import TYPE_CHECKING

from conformance.adapters.registry import resolve
from conformance.cli.common import plain, whole
from conformance.errors import AdapterError, ExitCode, UsageError
from conformance.terminal import clean
from conformance.ticker import Ticker

if TYPE_CHECKING:
    from conformance.trials.channel import Backend
    from conformance.trials.kills import Verifier

MODES = ("kept-open", "opened-anew")


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("kill-trials", help="kill writers", description=plain(__doc__))
    parser.add_argument("store", help="store:NAME, dsh-backend:NAME, or any adapter with a backend")
    parser.add_argument(
        "--trials", type=lambda text: whole(text, 100_000), default=200, metavar="N",
        help="kills (default %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seed", type=lambda text: whole(text, 1 << 32), default=1, metavar="S")
    parser.add_argument(
        "--mode", choices=MODES, default=None,
        help="the store is kept open by its writer (store:NAME only), or opened anew for each batch",
    )  # fmt: skip
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Kills, then the other trials. Exits with 1 if an event was lost, or a log does not load."""
    # Imported here and below, for no other command needs any of it.
    from conformance.trials.channel import Backend
    from conformance.trials.kills import Verifier

    spec = resolve(args.store)
    ours = args.store.startswith("store:")
    if args.store == "reference":
        raise UsageError(
            "the backend of the reference is a model, which writes its one file anew and promises nothing"
            " after a crash; its stores are named store:jsonl, store:sqlite20 and so on"
        )
    if args.mode == "kept-open" and not ours:
        raise UsageError("only a store of the reference, store:NAME, can be kept open; leave --mode out")
    kept_open = ours and args.mode != "opened-anew"
    connection = spec.connect()
    try:
        if "backend" not in connection.hello.capabilities:
            raise AdapterError(f"{args.store} has no backend to be killed")
        backend, verifier = Backend(spec, kept_open=kept_open), Verifier(connection)
        code = kills(backend, verifier, args) | others(backend, verifier, args.seed)
        if code:
            print(f"again, with the same seed: {again(args)}")
        return code
    finally:
        connection.close()


def kills(backend: Backend, verifier: Verifier, args: argparse.Namespace) -> int:
    """The kills, in a few lines."""
    from conformance.trials.kills import Tally, kill_trials

    started = time.monotonic()
    mode = MODES[0] if backend.kept_open else MODES[1]
    tally = Tally()
    try:
        with Ticker() as ticker:
            kill_trials(backend, verifier, args.trials, args.seed, tally, ticker)
    except KeyboardInterrupt:
        print(f"broken off {args.store}, {mode}: {tally.trials} kills, {tally.answered} events answered for")
        raise
    word = "FAIL" if tally.faults else "pass"
    seconds = time.monotonic() - started
    print(
        f"{word} {args.store}, {mode}: {tally.trials} kills in {seconds:.0f} s,"
        f" {tally.answered} events answered for"
    )
    for outcome, count in sorted(tally.outcomes.items()):
        print(f"  {count:>7}  {outcome}")
    for told in tally.faults:
        print(f"  {clean(told)}")
    return int(ExitCode.DIFFERS if tally.faults else ExitCode.CONFORMS)


def again(args: argparse.Namespace) -> str:
    """The command that repeats a run."""
    words = ["session-conformance", "kill-trials", args.store]
    words += ["--trials", str(args.trials), "--seed", str(args.seed)]
    return shlex.join(words + ([] if args.mode is None else ["--mode", args.mode]))


def others(backend: Backend, verifier: Verifier, seed: int) -> int:
    """The trials of other kinds, a line each."""
    from conformance.trials.hostile import hostile_trials

    code = ExitCode.CONFORMS
    for name, told in hostile_trials(backend, verifier, seed):
        print(f"{'pass' if told is None else 'FAIL'} {name}{'' if told is None else f': {clean(told)}'}")
        if told is not None:
            code = ExitCode.DIFFERS
    return int(code)
