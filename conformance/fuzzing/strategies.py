"""Hypothesis strategies over the same recipes, for tests of your own.

They need the package ``hypothesis``. What they give are plain values, fresh for each example, as Python reads
them from JSON text: ``-0`` is ``-0.0``, what is beyond the doubles is infinite, the last of two names counts.
``requests`` gives whole requests, in which such things are still spelled out::

    @given(valid_logs())
    def test_my_fold(log):
        assert my_fold(log).nodes == ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from conformance.errors import UsageError
from conformance.fuzzing import (
    alterations,
    backends,
    chunks,
    faults,
    headers,
    interrupted,
    loading,
    logs,
    old_shapes,
    respelling,
    rewrites,
    scripts,
)
from conformance.fuzzing import cells as cell_recipes
from conformance.fuzzing import rows as row_recipes
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.recipes import RECIPES, WRITTEN
from conformance.fuzzing.spelling import EDITION, encode, head_of, request_of, unmarked
from conformance.json_text import parse_exact

T = TypeVar("T")
Event = dict[str, Any]


class Drawn:
    """Hypothesis as the source of a recipe's choices; it shrinks towards the same simplest answers."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def choice(self, options: Sequence[T]) -> T:
        return options[self._draw(st.integers(0, len(options) - 1))]

    def chance(self, percent: int) -> bool:
        return self._draw(st.integers(0, 99)) >= 100 - percent

    def repeat(self, average: int) -> Iterator[int]:
        for index in range(2 * average):
            if self._draw(st.integers(0, average)) == 0:
                return
            yield index


def plain(value: Any) -> Any:
    """A fresh value, with what its marks stand for."""
    return parse_exact(unmarked(encode(value)))


def made_by(recipe: Callable[..., Any], **options: Any) -> st.SearchStrategy[Any]:
    """What a recipe makes, as a strategy of plain values."""

    @st.composite
    def strategy(draw: st.DrawFn) -> Any:
        source: Draw = Drawn(draw)
        return plain(recipe(source, **options))

    return strategy()


def valid_logs(*, typed: bool = True) -> st.SearchStrategy[list[Event]]:
    """Logs that every fold accepts: turns, tools, chunks, compactions, prunings.

    ``typed`` logs hold only what a port with typed events can hold; others have odd types and payloads too.
    """
    return made_by(logs.valid_log, typed=typed)


def nearly_valid_logs(fault: str | None = None, *, typed: bool = True) -> st.SearchStrategy[list[Any]]:
    """Logs with one event at fault, now and then with two faults.

    ``fault`` is the condition that it aims at, such as ``replace-reversed``, or None for any. A fault may
    miss, so ask the reference what becomes of a log. Raises UsageError for a fault that there is not.
    """
    if fault is not None and fault not in faults.FAULTS:
        raise UsageError(f"no fault {fault}; there are {', '.join(faults.KINDS)}")
    return made_by(faults.nearly_valid_log, kind=fault, typed=typed)


def rewritten_logs(*, typed: bool = True) -> st.SearchStrategy[list[Event]]:
    """Logs with a tool result and a rewrite of it that differs from it in one place, or only seems to."""
    return made_by(rewrites.rewritten_log, typed=typed)


def respelled_logs() -> st.SearchStrategy[list[Any]]:
    """Logs whose numbers and names were spelled in odd ways; as plain values they are hardly odd any more."""
    return made_by(respelling.respelled_log)


def interrupted_logs(*, typed: bool = True) -> st.SearchStrategy[list[Event]]:
    """Logs that break off in the middle of a turn, with calls that are open."""
    return made_by(interrupted.lifecycle_log, typed=typed)


def require_schema(schema: int, known: tuple[int, ...]) -> None:
    if schema not in known:
        raise UsageError(f"nothing is drawn for schema {schema}; there are {', '.join(map(str, known))}")


def old_logs() -> st.SearchStrategy[list[Event]]:
    """Logs with events in the shapes of before, as they lie in old stores, most of them with a fault."""
    return made_by(old_shapes.old_events)


def altered(value: Any) -> st.SearchStrategy[Any]:
    """A JSON value with one change anywhere inside; the one that is given stays as it is.

    Seldom it is the same value, or one in another spelling. Where there is no inside, it is another value.
    """
    return made_by(alterations.altered, value=value)


def windows() -> st.SearchStrategy[tuple[int, list[Event]]]:
    """A base, and a valid window that begins there."""

    @st.composite
    def strategy(draw: st.DrawFn) -> tuple[int, list[Event]]:
        source: Draw = Drawn(draw)
        base = logs.base_seq(source)
        return base, plain(logs.valid_draft(source, base).events)

    return strategy()


def view_scripts(*, typed: bool = True) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Steps of ``surface.live`` at base 0."""
    return made_by(scripts.view_script, typed=typed)


def live_scripts(*, isolation: bool = False, typed: bool = True) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Steps of ``session.live``; with ``isolation`` some try to change what was handed out."""
    return made_by(scripts.session_script, isolation=isolation, typed=typed)


def seq_lists() -> st.SearchStrategy[list[int]]:
    """Lists of source seqs: runs, gaps, steps back, and numbers at the borders of a varint."""
    return made_by(cell_recipes.seq_list)


def cells(schema: int = 19) -> st.SearchStrategy[bytes]:
    """Cells of schema 17 or 19: what a writer makes, nearly that, or any bytes. Raises UsageError."""
    require_schema(schema, (17, 19))

    @st.composite
    def strategy(draw: st.DrawFn) -> bytes:
        return cell_recipes.cell(Drawn(draw), tagged=schema != 17)

    return strategy()


def chunk_batches() -> st.SearchStrategy[list[Event]]:
    """Events of streams, in batches as a store packs them."""
    return made_by(chunks.batch)


def chunk_rows(*, spoiled: bool = False) -> st.SearchStrategy[Any]:
    """Packed rows, sound ones or such with a fault."""
    return made_by(chunks.spoiled_row if spoiled else chunks.row)


def row_batches() -> st.SearchStrategy[list[Event]]:
    """The events of one append to a SQLite store: streams, messages, what is long, what may be ignored."""
    return made_by(row_recipes.batch)


def stored_rows(schema: int = 20) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Rows of one session of schema 15, 17, 19 or 20 as the protocol spells their cells, most without damage.

    Raises UsageError for another schema.
    """
    require_schema(schema, WRITTEN)
    return made_by(row_recipes.log_of_rows, schema=schema, base=0)


def log_files(*, compressed: bool = False) -> st.SearchStrategy[bytes]:
    """Files of the JSONL store: whole, torn, or with one fault; ``compressed`` ones are Zstandard frames."""

    @st.composite
    def strategy(draw: st.DrawFn) -> bytes:
        source: Draw = Drawn(draw)
        make = loading.load_frames_request if compressed else loading.load_request
        return bytes.fromhex(make(source)["hex"])

    return strategy()


def backend_scripts() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Steps of ``backend``: sessions that are created, appended to, broken off and read again."""
    return made_by(backends.tell)


def request_headers() -> st.SearchStrategy[Event]:
    """The header of a ``request/header`` event."""
    return made_by(headers.header)


def requests(capability: str) -> st.SearchStrategy[dict[str, Any]]:
    """Requests of one operation, or of one of its variants, as they stand on a line, without their id.

    Raises UsageError where no recipe makes any.
    """
    makes = [recipe.make for recipe in RECIPES if recipe.capability == capability]
    if not makes:
        known = sorted({recipe.capability for recipe in RECIPES})
        raise UsageError(f"no recipe makes requests of {capability}; there are {', '.join(known)}")
    head: dict[str, Any] = parse_exact("{" + head_of(capability).rstrip(",") + "}")
    assert head["edition"] == EDITION

    @st.composite
    def strategy(draw: st.DrawFn) -> dict[str, Any]:
        source: Draw = Drawn(draw)
        return {**head, **request_of(source.choice(makes)(source))}

    return strategy()
