"""Everything that runs: vectors, adapters, engine, verdicts, reports and the command line."""

__version__ = "0.1.0"
SESSION_CONFORMANCE = True
"""Says that this is our package ``conformance`` and not somebody else's."""
