"""The operation ``backend`` of the reference: its model of a store, opened in the folder of the case."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.adapters.members import member
from reference_impl.backend import BackendModel
from reference_impl.rejection import Rejection

if TYPE_CHECKING:
    from reference_impl.stores.store import Store

    Backend = BackendModel | Store[Any, Any]


def backend(request: dict[str, Any]) -> dict[str, Any]:
    """Open, take the steps, answer each. What the model answers for is written, so it needs no closing."""
    return answers_of(BackendModel(Path(member(request, "root"))), member(request, "steps"))


def answers_of(
    model: Backend, steps: list[dict[str, Any]], refusals: tuple[type[Exception], ...] = ()
) -> dict[str, Any]:
    """One answer per step; ``refusals`` are what a store raises in words of its own, without a condition."""
    answers: list[dict[str, Any]] = []
    for step in steps:
        reason = Exception("aborted by the test") if "aborted" in step else None
        try:
            result = take(model, step, reason)
            answers.append({"result": result if reason is None else {"aborted": False}})
        except Rejection as refusal:
            told = {"condition": refusal.condition, "message": refusal.message}
            answers.append({"rejected": told})
        except refusals as refusal:
            answers.append({"rejected": {"message": str(refusal)}})
        except Exception as thrown:
            if reason is None:
                raise
            answers.append({"result": {"aborted": thrown is reason}})
    return {"steps": answers}


def take(model: Backend, step: dict[str, Any], aborted: Exception | None) -> dict[str, Any]:
    """One step; a read may come with the reason of a signal that was aborted before."""
    match step:
        case {"create": header}:
            model.create(header)
        case {"append": {"id": session_id, "events": events}, **others}:
            model.append(session_id, events)
            if "spoil" in others:
                spoil(events)
        case {"load": session_id}:
            return model.load(session_id)._asdict()
        case {"inspect": session_id}:
            return model.inspect(session_id, aborted)._asdict()
        case {"readFrom": {"id": session_id, "from": first}}:
            return model.read_from(session_id, first, aborted)._asdict()
        case {"live": {"header": header, "events": events}}:
            model.go_live(header, events)
        case {"prepare": session_id}:
            model.prepare(session_id)
        case {"list": _}:
            return {"headers": model.list_headers(aborted)}
        case {"revision": session_id}:
            return {"revision": model.revision(session_id, aborted)}
        case _:
            raise ValueError(f"no step {step}")
    return {}


def spoil(events: list[Any]) -> None:
    """Change what was given, as a careless caller would, once it is out of hand."""
    for event in events:
        event["data"] = {"spoilt": True}
    events.append({"spoilt": True})
