"""The pytest plugin of session-conformance, and ``assert_conforms`` for one-line use.

A package of its own because pytest loads it everywhere, and a project under test may well
have a package called ``conformance``: nothing else is imported until an adapter is named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["assert_conforms"]


def assert_conforms(
    implementation: str | Callable[[dict[str, Any]], dict[str, Any]],
    *,
    vectors: Iterable[str] = (),
    select: Iterable[str] = (),
    topics: Iterable[str] = (),
    strict: Iterable[str] = (),
) -> None:
    """Raise AssertionError, listing every case that does not pass, unless the implementation conforms.

    ``implementation`` is the name of an adapter as on the command line, or a function from a
    request of protocol 1 to an answer. The other arguments are as on the command line.
    """
    from session_conformance.loading import load_runner

    load_runner().assert_conforms(implementation, vectors, select, topics, strict)
