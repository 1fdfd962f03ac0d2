"""``lint``: is the corpus what its digests say, and is every case as a case should be?"""

from __future__ import annotations

import argparse

from conformance import lint, profiles
from conformance.corpus import load_corpus
from conformance.errors import ExitCode, UsageError
from conformance.resources import PACKAGE, vectors_dir


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("lint", help="check the corpus itself", description=__doc__)
    parser.add_argument(
        "--write", action="store_true", help="record the digests of the cases as they are now"
    )
    parser.add_argument("--freeze", metavar="RELEASE", help="release the profiles as they are now")
    parser.set_defaults(command=command)


def command(args: argparse.Namespace) -> int:
    """Print what is wrong, one line each; exit 2 if anything is."""
    if (args.write or args.freeze) and not is_checkout():
        raise UsageError(
            f"{vectors_dir()} belongs to an installed package, and what it holds was released;"
            " --write and --freeze are for a checkout of the project"
        )
    cases = load_corpus([vectors_dir()])  # as it is written, whatever is kept
    if args.write:
        lint.write_digests(vectors_dir(), cases)
    if args.freeze:
        profiles.write_profiles(profiles.freeze(cases, args.freeze))
    findings = [*lint.all_findings(vectors_dir(), cases), *profiles.findings(cases)]
    for finding in findings:
        print(finding)
    print(f"{len(cases)} cases, {len(findings)} findings")
    return ExitCode.USAGE if findings else ExitCode.CONFORMS


def is_checkout() -> bool:
    """Whether the corpus in use is the one that is developed, and not a copy inside a package."""
    return not vectors_dir().resolve().is_relative_to(PACKAGE)
