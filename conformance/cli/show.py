"""``show``: cases as a person reads them: why they are there, one event per line, the answer."""

from __future__ import annotations

import argparse
import json
from itertools import islice
from typing import Any

from conformance.cases import Case
from conformance.cli.common import add_selection, chosen_cases, plain
from conformance.families.answers import expansion

SHOWN_MEMBERS = 5


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("show", help="show cases in full", description=plain(__doc__))
    parser.add_argument("case", nargs="*", metavar="ID", help="a case id, or a pattern over ids")
    add_selection(parser)
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Print the cases."""
    args.select = [*args.select, *args.case]
    cases, _ = chosen_cases(args, with_optional=True)
    print("\n\n".join(shown(case) for case in cases))
    return 0


def shown(case: Case) -> str:
    """One case."""
    lines = [f"{case.id}  [{', '.join(case.rules)}]", f"  {case.file}:{case.line}"]
    if case.why:
        lines.append(f"  {case.why}")
    lines.append(f"request: {case.capability}")
    for name, value in case.request.items():
        lines += _member(name, value)
    if case.family is not None:
        lines.append(f"first of its {case.family.members:,} members, with what each expects:")
        lines += [
            f"  {json.dumps(member)} → {json.dumps({right.kind: right.value})}"
            for member, right in islice(expansion(case), SHOWN_MEMBERS)
        ]
    lines.append("expect:")
    lines += [f"  {line}" for name, value in case.expect_written.items() for line in _member(name, value)]
    return "\n".join(lines)


def _member(name: str, value: Any) -> list[str]:
    """A list with an element per line, anything else on one line; JSON text as it stands."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [f"  {name}:", *(f"    {index:>3}  {json.dumps(item)}" for index, item in enumerate(value))]
    return [f"  {name}: {value if name.endswith('_text') else json.dumps(value)}"]
