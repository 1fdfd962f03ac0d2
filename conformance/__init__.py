"""Everything that runs: vectors, adapters, engine, verdicts, reports and the command line."""

__version__ = "0.1.0"
