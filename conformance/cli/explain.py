"""``explain``: what the model sees of a log, what each replace took away, and who cites whom."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.common import plain
from conformance.errors import UsageError
from conformance.terminal import clean

if TYPE_CHECKING:
    from conformance.checking.history import History


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("explain", help="show a log's surface", description=plain(__doc__))
    parser.add_argument("path", type=Path, metavar="PATH", help="a JSONL log or a SQLite database")
    parser.add_argument("--session", metavar="ID", help="of a database with several sessions, this one")
    parser.add_argument("--at", type=seq, metavar="SEQ", help="as it was behind this event")
    parser.add_argument(
        "--diff", type=seq, nargs=2, metavar=("A", "B"), help="how the surface changed between two events"
    )
    parser.add_argument(
        "--cites", type=seq, metavar="SEQ", help="which events cite this one, and what it cites"
    )
    parser.set_defaults(command=command)


def seq(text: str) -> int:
    """A seq, as a command-line word."""
    if not (text.isascii() and text.isdigit() and len(text) <= 16):
        raise argparse.ArgumentTypeError(f"must be a seq, not {text!r}")
    return int(text)


def command(args: argparse.Namespace) -> int:
    """Print. What cannot be followed is told at the end, and then the code is 1."""
    from conformance.checking.history import read_history

    if sum(each is not None for each in (args.at, args.diff, args.cites)) > 1:
        raise UsageError("explain: give one of --at, --diff and --cites")
    if args.diff is not None:
        before, history = (read_history(args.path, last, session=args.session) for last in args.diff)
        lines = difference(before, history)
    else:
        history = read_history(args.path, args.at, args.cites, args.session)
        if args.at is not None and args.at >= history.events:
            raise UsageError(f"explain: the log has {history.events} events, so no seq {args.at}")
        lines = everything(history) if args.cites is None else citations(history, args.cites)
    for line in lines:
        print(clean(line))
    faults = [each for each in history.findings.sorted() if each.severity != "advice"]
    if faults:
        print(clean(f"not followed further: {faults[0].message}; session-conformance check tells more"))
    return 1 if faults else 0


def everything(history: History) -> Iterator[str]:
    """Nodes, replaces, transcript."""
    yield ", ".join(
        f"{count} {what}{'' if count == 1 else 's'}"
        for count, what in (
            (history.events, "event"), (len(history.nodes), "node"), (history.messages, "message")
        )
    )  # fmt: skip
    yield "what the model sees, in its order:"
    for node in history.nodes:
        yield _row(history, node)
    if history.replaced:
        yield "what each replace took away:"
    for each in history.replaced:
        gone = ", ".join(map(str, each.shadowed[:20])) + (" …" if len(each.shadowed) > 20 else "")
        yield f"  seq {each.seq} replaces {each.start} to {each.end}: {gone}"
    gone_by = history.shadowed_by()
    yield "what the human saw, in the order of the log:"
    for shown in history.joined.values():
        if shown.appends:
            by = f"  (shadowed by {gone_by[shown.seq]})" if shown.seq in gone_by else ""
            yield f"{_row(history, shown.seq)}{by}"


def difference(before: History, after: History) -> Iterator[str]:
    """The surface at two events, side by side in one column."""
    old, new = set(before.nodes), set(after.nodes)
    gone_by = after.shadowed_by()
    yield f"from {before.events} events with {len(old)} nodes to {after.events} with {len(new)}"
    for node in before.nodes:
        if node not in new:
            by = f"  (shadowed by {gone_by[node]})" if node in gone_by else ""
            yield f"- {_row(before, node).strip()}{by}"
    for node in after.nodes:
        yield f"{' ' if node in old else '+'} {_row(after, node).strip()}"


def citations(history: History, asked: int) -> Iterator[str]:
    """Who cites an event, and what it cites."""
    if asked >= history.events:
        raise UsageError(f"explain: the log has {history.events} events, so no seq {asked}")
    cited = ", ".join(map(str, history.cited or [])) or "nothing"
    yield f"seq {asked} ({history.asked or 'a packed chunk'}) cites {cited}"
    for seq_of, kind in history.citing:
        yield f"  cited by seq {seq_of}, {kind}"
    if not history.citing:
        yield "  cited by no event"
    by = history.shadowed_by().get(asked)
    if asked in history.nodes:
        yield "  on the surface"
    elif by is not None:
        yield f"  shadowed by seq {by}"
    else:
        yield "  never on the surface"


def _row(history: History, node: int) -> str:
    shown = history.joined[node]
    return f"  {shown.seq:>6}  {shown.kind:<17}  {shown.preview}"
