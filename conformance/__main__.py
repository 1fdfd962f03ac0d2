"""``python -m conformance`` is the command ``session-conformance``."""

import sys

from conformance.cli import entry

sys.exit(entry())
