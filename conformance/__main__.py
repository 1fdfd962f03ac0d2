"""``python -m conformance`` is the command ``session-conformance``."""

import sys


def entry() -> int:
    """The command as a program; a Ctrl-C while it is still being loaded ends it as later ones do."""
    try:
        from conformance import cli
    except KeyboardInterrupt:
        sys.stderr.write("session-conformance: interrupted\n")
        return 130
    return cli.entry()


if __name__ == "__main__":
    sys.exit(entry())
