"""The adapter of the reference. The only module of ``conformance`` that knows ``reference_impl``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import reference_impl.fold
import reference_impl.projection
import reference_impl.transcript
from conformance import __version__
from conformance.json_text import JsonTextError, parse_exact
from reference_impl.event_log import require_event
from reference_impl.marker import is_eligible
from reference_impl.rejection import Rejection

Request = dict[str, Any]
Result = dict[str, Any]


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


HANDLERS: dict[str, Callable[[Request], Result]] = {
    "fold": fold,
    "messages": messages,
    "project": project,
    "classify": classify,
}


def answer(request: Request) -> dict[str, Any]:
    """Answer one request of protocol 1."""
    name = request.get("op")
    if name == "hello":
        return {"result": hello()}
    handler = HANDLERS.get(str(name))
    if handler is None:
        return {"unsupported": f"operation {name}"}
    try:
        return {"result": handler(request)}
    except Rejection as refusal:
        found = {"condition": refusal.condition, "at": refusal.at, "message": refusal.message}
        return {"rejected": {name: value for name, value in found.items() if value is not None}}
    except JsonTextError as error:
        return {"error": f"a member of the request is not JSON: {error}"}


def hello() -> Result:
    """What the reference says of itself."""
    return {
        "protocol": 1,
        "implementation": {"name": "reference", "version": __version__, "language": "Python"},
        "capabilities": list(HANDLERS),
        "editions": ["v0"],
    }


def member(request: Request, name: str) -> Any:
    """A member in either spelling; the text spelling keeps -0 and integers of any length."""
    return request[name] if name in request else parse_exact(request[f"{name}_text"])


def create() -> Callable[[Request], dict[str, Any]]:
    """The factory, as ``python:`` adapters have one."""
    return answer
