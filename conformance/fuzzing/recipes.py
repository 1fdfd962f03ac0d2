"""Which recipes make requests for which operation.

A new operation joins with one line in ``RECIPES``: the capability, the recipe, and how often it is used
beside the others. ``typed=False`` marks recipes whose events no typed port can hold, ``shapeless`` those
that the published package may answer with a crash; both are drawn from only when asked for. Operations
that judge shapes themselves get their recipes all the same, but for odd spellings. What makes
an implementation open files takes a hundred times as long as the rest, so it is drawn less often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from conformance.fuzzing import (
    backends,
    cells,
    chunks,
    faults,
    headers,
    interrupted,
    loading,
    logs,
    old_shapes,
    openings,
    paths,
    respelling,
    rewrites,
    rows,
    scripts,
    sessions,
    shapeless,
    simple_logs,
    stored,
)
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.spelling import Members, Spelled, is_plain

Make = Callable[[Draw], Members]


ON_FILES = frozenset(("jsonl.scan", "jsonl.path", "jsonl.load", "sqlite.open", "backend"))
"""Operations for which files are made, by the runner or by the implementation."""
SELDOM = 20
"""So many turns another recipe has for one of theirs."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to make requests of one capability. ``needs`` are capabilities beside that of the operation.

    Where ``typed`` is False, ``plain`` makes what a typed port can be asked all the same, if anything.
    """

    name: str
    capability: str
    make: Make
    weight: int = 1
    typed: bool = True
    plain: Make | None = None
    needs: tuple[str, ...] = ()

    @property
    def op(self) -> str:
        return self.capability.partition("@")[0]

    @property
    def turns(self) -> int:
        """How often it stands on a wheel."""
        return self.weight * (1 if self.op in ON_FILES else SELDOM)


def events(make: Callable[..., list[Any]], **options: Any) -> Make:
    """A request that is one list of events."""
    return lambda draw: {"events": Spelled(make(draw, **options))}


def plain_events(draw: Draw) -> Members:
    """A valid log, which never holds anything that is not plain."""
    return {"events": logs.valid_log(draw)}


def drafted(make: Callable[..., logs.LogDraft], **options: Any) -> Make:
    """A request with the events of a draft."""
    return lambda draw: {"events": Spelled(make(draw, **options).events)}


def windowed(make: Callable[..., logs.LogDraft], **options: Any) -> Make:
    """The same behind a base."""

    def request(draw: Draw) -> Members:
        base = logs.base_seq(draw)
        given = base if not draw.chance(3) else logs.base_seq(draw)
        return {"baseSeq": given, "events": Spelled(make(draw, base=base, **options).events)}

    return request


def spoiled(draw: Draw, base: int = 0, *, typed: bool = True) -> logs.LogDraft:
    return faults.spoiled_draft(draw, draw.choice(faults.KINDS), base, typed=typed)


def view(draw: Draw, *, typed: bool = True) -> Members:
    base = 0 if not draw.chance(30) else logs.base_seq(draw)
    return {"baseSeq": base, "steps": Spelled(scripts.view_script(draw, base, typed=typed))}


def steps(make: Callable[..., list[Any]], **options: Any) -> Make:
    return lambda draw: {"steps": Spelled(make(draw, **options))}


def shapeless_event(draw: Draw) -> Members:
    log = logs.valid_draft(draw, average=1)
    return {"event": Spelled(shapeless.shapeless_event(draw, log))}


def log_recipes(op: str, *, finite: bool) -> Iterable[Recipe]:
    """What every operation over a whole log gets; what its answer repeats must be ``finite``."""
    yield Recipe("valid", op, plain_events, 4)
    yield Recipe("faulty", op, events(faults.nearly_valid_log, finite=finite), 4)
    yield Recipe("rewritten", op, events(rewrites.rewritten_log, finite=finite), 2)
    yield Recipe("valid-untyped", op, events(logs.valid_log, typed=False), 2, typed=False)
    yield Recipe(
        "faulty-untyped", op, events(faults.nearly_valid_log, typed=False, finite=finite), 4, typed=False
    )
    yield Recipe(
        "rewritten-untyped", op, events(rewrites.rewritten_log, typed=False, finite=finite), 3, typed=False
    )
    yield Recipe("respelled", op, events(respelling.respelled_log), 3, typed=False)
    yield Recipe("odd", op, drafted(respelling.odd_draft), 1, typed=False)
    yield Recipe("shapeless", op, drafted(shapeless.shapeless_draft), 1, typed=False)


def judged(name: str, capability: str, make: Make, weight: int, **more: Any) -> Recipe:
    """A recipe for an operation that judges shapes itself: a typed port is asked what is plainly spelled."""
    return Recipe(name, capability, make, weight, typed=False, plain=plainly(make), **more)


TRIES = 30


def plainly(make: Make) -> Make:
    """The same requests without odd spellings, drawn again where there are any."""

    def request(draw: Draw) -> Members:
        members = make(draw)
        for _ in range(TRIES):
            if is_plain(members):
                break
            members = make(draw)
        return members

    return request


STREAMS = plainly(chunks.plain_request)
WRITTEN = (15, 17, 19, 20)
"""Schemas whose rows are known; that of a session from 17 on."""
OPENED = (14, *WRITTEN)


def of_schema(make: Callable[[Draw, int], Members], schema: int) -> Make:
    """The requests of one schema."""
    return lambda draw: make(draw, schema)


def row_recipes() -> Iterable[Recipe]:
    """What every schema of SQLite rows gets."""
    for schema in WRITTEN:
        odd = rows.encode_15_request if schema == 15 else rows.odd_encode_request
        yield Recipe("batch", f"rows.encode@{schema}", rows.encode_request)
        yield Recipe("batch-odd", f"rows.encode@{schema}", odd, typed=False)
        yield Recipe("row", f"rows.decode@{schema}", of_schema(rows.decode_request, schema), 2)
        yield Recipe("log", f"rows.scan@{schema}", of_schema(rows.scan_request, schema), 2)
        if schema > 15:
            needs = ("undecidable",) if schema > 17 else ()
            yield Recipe("frame", f"rows.decode@{schema}", of_schema(rows.frame_request, schema), needs=needs)
            yield Recipe("session", f"rows.session@{schema}", of_schema(rows.session_request, schema))


RECIPES: tuple[Recipe, ...] = (
    *log_recipes("fold", finite=False),
    Recipe("long", "fold", lambda draw: {"events": logs.long_log(draw)}),
    *log_recipes("messages", finite=True),
    *log_recipes("transcript", finite=True),
    Recipe("valid", "window", windowed(logs.valid_draft), 2),
    Recipe("faulty", "window", windowed(spoiled), 3),
    Recipe("rewritten", "window", windowed(rewrites.rewritten_draft), 2),
    Recipe("faulty-untyped", "window", windowed(spoiled, typed=False), 3, typed=False),
    Recipe("respelled", "window", windowed(respelling.respelled_draft), 2, typed=False),
    Recipe("shapeless", "window", windowed(shapeless.shapeless_draft), 1, typed=False),
    Recipe("event", "project", simple_logs.one_event, 2),
    Recipe("event-untyped", "project", lambda draw: simple_logs.one_event(draw, typed=False), 2, typed=False),
    Recipe("odd", "project", simple_logs.odd_event, 2, typed=False),
    Recipe("shapeless", "project", shapeless_event, 1, typed=False),
    Recipe("event", "classify", simple_logs.one_event, 2),
    Recipe(
        "event-untyped", "classify", lambda draw: simple_logs.one_event(draw, typed=False), 2, typed=False
    ),
    Recipe("odd", "classify", simple_logs.odd_event, 1, typed=False),
    Recipe("shapeless", "classify", shapeless_event, 1, typed=False),
    Recipe("view", "surface.live", view, 6),
    Recipe("view-untyped", "surface.live", lambda draw: view(draw, typed=False), 3, typed=False),
    Recipe("session", "session.live", steps(scripts.session_script), 3),
    Recipe("session-empty", "session.live", steps(scripts.empty_then_full), 1),
    Recipe(
        "session-isolated",
        "session.live",
        steps(scripts.session_script, isolation=True),
        1,
        needs=("isolation",),
    ),
    Recipe("session-untyped", "session.live", steps(scripts.session_script, typed=False), 2, typed=False),
    Recipe("unmarked", "messages.linear-fallback", events(simple_logs.unmarked_log), 3),
    Recipe(
        "unmarked-untyped",
        "messages.linear-fallback",
        events(simple_logs.unmarked_log, typed=False),
        2,
        typed=False,
    ),
    Recipe("faulty", "messages.linear-fallback", events(faults.nearly_valid_log, finite=True), 2),
    Recipe("shapeless", "messages.linear-fallback", drafted(shapeless.shapeless_draft), 1, typed=False),
    Recipe("teaching", "tutorial", lambda draw: {"events": simple_logs.teaching_log(draw)}, 2),
    Recipe("list", "seqs.encode@15", cells.encode_15_request, 1),
    Recipe("list", "seqs.encode@17", cells.encode_request, 2),
    Recipe("list", "seqs.encode@19", cells.encode_request, 2),
    Recipe("cell", "seqs.decode@15", cells.decode_15_request, 1),
    Recipe("cell", "seqs.decode@17", cells.decode_17_request, 2),
    Recipe("cell", "seqs.decode@19", cells.decode_19_request, 4),
    Recipe("cut", "closers", lambda draw: {"events": interrupted.cut_session(draw)}, 2),
    Recipe("lifecycle", "closers", events(interrupted.lifecycle_log), 4),
    Recipe("lifecycle-untyped", "closers", events(interrupted.lifecycle_log, typed=False), 3, typed=False),
    Recipe("shapeless", "closers", drafted(shapeless.shapeless_draft), 1, typed=False),
    Recipe("batch", "chunks.pack@jsonl", chunks.pack_request, 2, typed=False, plain=STREAMS),
    Recipe(
        "batch",
        "chunks.pack@sqlite",
        chunks.pack_request,
        2,
        typed=False,
        plain=STREAMS,
    ),
    judged("row", "chunks.unpack@jsonl", chunks.unpack_request, 2),
    judged("row", "chunks.unpack@sqlite", chunks.unpack_request, 2),
    Recipe("headers", "request-header", headers.header_log, 2),
    Recipe(
        "headers-untyped",
        "request-header",
        lambda draw: headers.header_log(draw, untyped=True),
        2,
        typed=False,
    ),
    Recipe("pair", "request-header.equal", headers.header_pair, 3),
    judged("restored", "admit@restored", sessions.admit_request, 6),
    judged("borrowed", "admit@borrowed", sessions.borrowed_request, 6),
    judged("altered", "admit@restored", sessions.altered_request, 4),
    judged("altered", "admit@borrowed", sessions.altered_request, 2),
    judged("fork", "fork", sessions.fork_request, 2),
    judged("file", "jsonl.scan", stored.scan_request, 4),
    judged("frames", "jsonl.scan", loading.scan_frames_request, 3),
    judged("path", "jsonl.path", paths.path_request, 3),
    judged("found", "jsonl.path", paths.found_request, 1),
    judged("store", "jsonl.path", paths.files_request, 3),
    judged("file", "jsonl.load", loading.load_request, 4),
    judged("frames", "jsonl.load", loading.load_frames_request, 3),
    judged("legacy", "normalise", old_shapes.old_log, 8),
    Recipe("lossy", "session.live", sessions.lossy_script, 2, typed=False),
    Recipe("long", "chunks.pack@sqlite", chunks.long_batch, 1, typed=False),
    Recipe("long", "chunks.pack@jsonl", chunks.long_batch, 1, typed=False),
    Recipe("long", "chunks.unpack@sqlite", chunks.long_row, 1, typed=False),
    Recipe("seeded", "session.live", sessions.seeded_script, 1, typed=False, needs=("seed",)),
    *row_recipes(),
    *(
        Recipe("database", f"sqlite.open@{schema}", of_schema(openings.open_request, schema))
        for schema in OPENED
    ),
    Recipe("story", "backend", backends.request),
    Recipe("borrowed", "backend", backends.borrowed_request, needs=("backend.borrowed", "backend.signal")),
    Recipe("live", "backend", backends.live_request, needs=("backend.live",)),
    Recipe("lossy", "backend", backends.lossy_request, typed=False),
    Recipe("damaged", "backend", backends.damaged_request, needs=("storage.jsonl",)),
)


def usable(
    recipes: Iterable[Recipe], capabilities: frozenset[str], op: str | None, *, untyped: bool
) -> list[Recipe]:
    """The recipes for what an adapter declares; of one operation or capability, where that is named."""
    return [
        recipe if untyped or recipe.plain is None else replace(recipe, make=recipe.plain)
        for recipe in recipes
        if op in (None, recipe.op, recipe.capability)
        and {recipe.capability, *recipe.needs} <= capabilities
        and (recipe.typed or recipe.plain is not None or untyped)
    ]


def wheel_of(recipes: Iterable[Recipe], *, evenly: bool = False) -> tuple[Recipe, ...]:
    """Each recipe as often as its turns say, so that a choice from all is a choice by weight.

    ``evenly``: recipes on files are no rarer than others.
    """
    return tuple(recipe for recipe in recipes for _ in range(recipe.weight if evenly else recipe.turns))
