"""Is this stored log valid, why not, and what would a reader do with it?

The checker is an implementation of its own: it shares no code with the reference, and tests hold both to
the same answers. Its layers are kept apart: the storage scan, the load rules, what a live append asks.
"""

from conformance.checking.model import FileReport, Finding, Report

__all__ = ["FileReport", "Finding", "Report"]
