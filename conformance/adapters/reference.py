"""The adapter of the reference. The only place in ``conformance`` that knows ``reference_impl``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import reference_impl.fold
import reference_impl.linear_fallback
import reference_impl.projection
import reference_impl.transcript
import reference_impl.tutorial
from conformance import __version__
from conformance.adapters.members import MissingMemberError, Request, Result, member
from conformance.adapters.reference_admission import admit, fork, seed_of
from conformance.adapters.reference_backend import backend
from conformance.adapters.reference_chunks import chunks_pack, chunks_unpack
from conformance.adapters.reference_files import TooLarge, jsonl_scan, place_of_log
from conformance.adapters.reference_load import jsonl_load, normalise
from conformance.adapters.reference_rows import rows_decode, rows_encode, rows_scan, rows_session
from conformance.adapters.reference_sqlite import sqlite_open
from reference_impl import seqs_codec
from reference_impl.closers import closers as closers_of
from reference_impl.event_log import require_event
from reference_impl.marker import is_eligible
from reference_impl.rejection import Rejection
from reference_impl.request_header import request_header as request_header_of
from reference_impl.request_header import same_header
from reference_impl.session import Session
from reference_impl.surface_view import SurfaceView


def fold(request: Request) -> Result:
    surface, replacements = reference_impl.fold.fold(member(request, "events"))
    return {
        "nodes": surface.nodes,
        "replacements": [
            {"seq": each.seq, "start": each.start, "end": each.end, "shadowedSeqs": each.shadowed_seqs}
            for each in replacements
        ],
        "replaceGeneration": surface.replace_generation,
    }


def messages(request: Request) -> Result:
    return {"messages": reference_impl.projection.derive_messages(member(request, "events"))}


def project(request: Request) -> Result:
    return {"message": reference_impl.projection.project(member(request, "event"))}


def classify(request: Request) -> Result:
    event = require_event(member(request, "event"))
    return {
        "eligible": is_eligible(event),
        "surface": reference_impl.transcript.is_on_surface(event),
        "append": reference_impl.transcript.is_append(event),
        "replacement": reference_impl.transcript.is_replacement(event),
    }


def transcript(request: Request) -> Result:
    events = member(request, "events")
    return {
        "seqs": [event.get("seq") for event in reference_impl.transcript.transcript(events)],
        "messages": reference_impl.transcript.transcript_messages(events),
    }


def window(request: Request) -> Result:
    surface, _ = reference_impl.fold.fold(member(request, "events"), member(request, "baseSeq"))
    return {"nodes": surface.nodes, "replaceGeneration": surface.replace_generation}


def linear_fallback(request: Request) -> Result:
    return {"messages": reference_impl.linear_fallback.derive_messages_or_scan(member(request, "events"))}


def tutorial(request: Request) -> Result:
    return {"messages": reference_impl.tutorial.derive_messages(member(request, "events"))}


def surface_live(request: Request) -> Result:
    """Steps over the incremental view; the log is ours, as it is any caller's."""
    log: list[Any] = []
    view = SurfaceView(log, member(request, "baseSeq"))
    validated: list[Any] = []

    def take(step: Request) -> Result:
        match step:
            case {"push": event}:
                log.append(event)
            case {"pushValidated": _}:
                log.append(last_of(validated, "validate"))
            case {"amend": event}:
                last_of(log, "push")
                log[-1] = event
            case {"validate": event}:
                validated.append(event)
                view.validate_next(event)
            case {"observe": _}:
                return {"nodes": list(view.nodes), "replaceGeneration": view.replace_generation}
            case _:
                raise MissingMemberError(f"a step that it can take, not {step}")
        return {}

    return step_by_step(member(request, "steps"), take)


def session_live(request: Request) -> Result:
    """Steps on a live session; ``held`` keeps what a read gave, and what it looked like then."""
    session = Session(seed_of(request))
    held: dict[str, tuple[Any, Any]] = {}
    read: dict[str, Callable[[], Any]] = {
        "nodes": lambda: list(session.nodes),  # promised for the time of the read only
        "replaceGeneration": lambda: session.replace_generation,
        "messages": session.derive_messages,
        "events": lambda: session.events,
    }

    def take(step: Request) -> Result:
        match step:
            case {"append": {"type": kind, "data": data, **others}}:
                marker: dict[str, Any] = {str(name): value for name, value in others.items()}
                return {"seq": session.append(kind, data, **marker)["seq"]}
            case {"observe": list(names)} if set(names) <= read.keys():
                return {name: plain_copy(read[name]()) for name in names}
            case {"hold": str(what), "as": str(name)} if what in read:
                value = read[what]()
                held[name] = (value, plain_copy(value))
                return {}
            case {"recheck": str(name)} if name in held:
                value, before = held[name]
                return {"same": value == before}
            case {"mutate": str(name), "how": "grow" | "edit" as how} if name in held:
                return {"outcome": mutate(held[name][0], how)}
        raise MissingMemberError(f"a step that it can take, not {step}")

    return step_by_step(member(request, "steps"), take)


def step_by_step(steps: list[Request], take: Callable[[Request], Result]) -> Result:
    """One answer per step; a refusal answers its step, and the next one goes on."""
    answers: list[dict[str, Any]] = []
    for step in steps:
        try:
            answers.append({"result": take(step)})
        except Rejection as refusal:
            answers.append({"rejected": rejected(refusal)})
    return {"steps": answers}


def last_of(earlier: list[Any], step: str) -> Any:
    """The last of what earlier steps gave; a script without such a step is the asker's mistake."""
    if not earlier:
        raise MissingMemberError(f"{step} step before this one")
    return earlier[-1]


def plain_copy(value: Any) -> Any:
    """A copy in plain dicts and lists, which no later change reaches."""
    # Plain loops: a comprehension would cost a second stack frame per level of nesting.
    if isinstance(value, dict):
        members = {}
        for name, member in value.items():
            members[name] = plain_copy(member)
        return members
    if isinstance(value, list):
        elements = []
        for element in value:
            elements.append(plain_copy(element))
        return elements
    return value


def rejected(refusal: Rejection) -> dict[str, Any]:
    """A refusal as the protocol tells it."""
    found = {"condition": refusal.condition, "at": refusal.at, "message": refusal.message}
    return {name: value for name, value in found.items() if value is not None}


def mutate(value: Any, how: str) -> str:
    """Try to change what was kept; what came of it shows when the session is observed afterwards."""
    try:
        if how == "grow":
            value.append(value[0] if value else 0)
            return "no-effect"
        tried = [edit(element) for element in value]
    except TypeError:
        return "refused"
    return "no-effect" if any(tried) or not tried else "refused"


def edit(value: Any) -> bool:
    """Try to change every text and to lengthen every list inside; True if any attempt went through."""
    if not isinstance(value, dict | list):
        return False
    changed = False
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        if isinstance(inner, str):
            changed = attempt(operator.setitem, value, key, f"{inner} changed") or changed
        else:
            changed = edit(inner) or changed
    return (isinstance(value, list) and attempt(lambda: value.append("added"))) or changed


def attempt(change: Callable[..., Any], *arguments: Any) -> bool:
    """Whether a change goes through."""
    try:
        change(*arguments)
    except TypeError:
        return False
    return True


def seqs_encode(request: Request) -> Result:
    """Schema 15 gives JSON text, the later ones bytes."""
    values = member(request, "values")
    if request["schema"] == 15:
        return {"text": seqs_codec.encode_15(values)}
    encode = seqs_codec.encode_17 if request["schema"] == 17 else seqs_codec.encode_19
    return {"hex": encode(values).hex()}


def seqs_decode(request: Request) -> Result:
    """Schema 15 reads whatever JSON there is; a bound by the row's seq is asked by schema 19 only."""
    if request["schema"] == 15:
        return {"values": seqs_codec.decode_15(member(request, "text"))}
    blob = bytes.fromhex(member(request, "hex"))
    if request["schema"] == 17:
        return {"values": seqs_codec.decode_17(blob)}
    return {"values": seqs_codec.decode_19(blob, member(request, "rowSeq"))}


def closers(request: Request) -> Result:
    return {"closers": closers_of(member(request, "events"))}


def request_header(request: Request) -> Result:
    return {"header": request_header_of(member(request, "events"))}


def request_header_equal(request: Request) -> Result:
    return {"equal": same_header(member(request, "left"), member(request, "right"))}


def jsonl_path(request: Request) -> Result:
    """Where a log belongs; with ``found`` whether it lies there, with ``files`` whether it can be found."""
    cwd = member(request, "cwd") if request.keys() & {"cwd", "cwd_text"} else None
    found, files = request.get("found"), request.get("files")
    return place_of_log(member(request, "session"), cwd, member(request, "compression"), found, files)


VARIANTS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "seqs.encode": ("schema", (15, 17, 19)),
    "seqs.decode": ("schema", (15, 17, 19)),
    "chunks.pack": ("store", ("jsonl", "sqlite")),
    "chunks.unpack": ("store", ("jsonl", "sqlite")),
    "admit": ("source", ("borrowed", "restored")),
    "rows.encode": ("schema", (15, 17, 19, 20)),
    "rows.decode": ("schema", (15, 17, 19, 20)),
    "rows.scan": ("schema", (15, 17, 19, 20)),
    "rows.session": ("schema", (17, 19, 20)),
    "sqlite.open": ("schema", (14, 15, 17, 19, 20)),
}
"""Operations with variants: the member that tells them apart, and the ones that are here."""

HANDLERS: dict[str, Callable[[Request], Result]] = {
    "fold": fold,
    "messages": messages,
    "project": project,
    "classify": classify,
    "transcript": transcript,
    "window": window,
    "surface.live": surface_live,
    "session.live": session_live,
    "messages.linear-fallback": linear_fallback,
    "tutorial": tutorial,
    "seqs.encode": seqs_encode,
    "seqs.decode": seqs_decode,
    "closers": closers,
    "chunks.pack": chunks_pack,
    "chunks.unpack": chunks_unpack,
    "request-header": request_header,
    "request-header.equal": request_header_equal,
    "admit": admit,
    "fork": fork,
    "jsonl.scan": jsonl_scan,
    "jsonl.path": jsonl_path,
    "normalise": normalise,
    "jsonl.load": jsonl_load,
    "backend": backend,
    "rows.encode": rows_encode,
    "rows.decode": rows_decode,
    "rows.scan": rows_scan,
    "rows.session": rows_session,
    "sqlite.open": sqlite_open,
}
EDITIONS = ("v0",)
BESIDE_OPERATIONS = (
    "isolation", "text", "seed", "files", "backend.borrowed", "backend.live", "backend.signal", "undecidable",
)  # fmt: skip
"""Capabilities that are no operation; spec/protocol.md says what each of them is."""


def answer(request: Request) -> dict[str, Any]:
    """Answer one request of protocol 1."""
    name = request.get("op")
    if name == "hello":
        if request.get("protocol") != 1:
            return {"error": f"protocol {request.get('protocol')} is not spoken here, only 1"}
        return {"result": hello()}
    handler = HANDLERS.get(str(name))
    member_name, known = VARIANTS.get(str(name), ("", (None,)))
    if (
        handler is None
        or request.get("edition", "v0") not in EDITIONS
        or request.get(member_name) not in known
    ):
        return {"unsupported": f"operation {name} of edition {request.get('edition')}"}
    try:
        return {"result": handler(request)}
    except Rejection as refusal:
        return {"rejected": rejected(refusal)}
    except MissingMemberError as missing:
        return {"error": f"{name} needs {missing}"}
    except (TooLarge, OSError) as unable:
        return {"error": f"{name}: {unable}"}


def hello() -> Result:
    """What the reference says of itself."""
    return {
        "protocol": 1,
        "implementation": {"name": "reference", "version": __version__, "language": "Python"},
        "capabilities": [*capabilities(), *BESIDE_OPERATIONS],
        "editions": list(EDITIONS),
    }


def capabilities() -> list[str]:
    """The operations, each with its variants spelled out."""
    return [
        f"{name}@{value}" if value is not None else name
        for name in HANDLERS
        for value in VARIANTS.get(name, ("", (None,)))[1]
    ]


def create() -> Callable[[Request], dict[str, Any]]:
    """The factory, as ``python:`` adapters have one."""
    return answer
