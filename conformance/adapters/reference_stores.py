"""The stores of the reference that keep real files, as backends: ``store:jsonl`` and ``store:jsonl-zstd``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.adapters.members import MissingMemberError, member
from conformance.adapters.reference_backend import answers_of
from reference_impl.rejection import Rejection
from reference_impl.stores.durable import StoreBusy
from reference_impl.stores.jsonl_store import JsonlStore, ReadOnly

__all__ = ["REFUSALS", "STORES", "JsonlStore", "Rejection", "StoreBusy", "adapter", "open_store"]

STORES: dict[str, tuple[str, str]] = {
    "jsonl": ("none", "storage.jsonl"),
    "jsonl-zstd": ("zstd", "storage.jsonl-zstd"),
}
"""By name: how its files are compressed, and the capability that says what they are."""

REFUSALS = (OSError, ReadOnly)
"""What a store raises in words of its own."""


def open_store(name: str, folder: Path, *, read_only: bool = False) -> JsonlStore:
    """Open a store in a folder. Raises StoreBusy where another writer has it."""
    return JsonlStore(folder, STORES[name][0], read_only=read_only)


def adapter(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The adapter of a store: it opens it, takes the steps, closes it, and answers."""

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if request["op"] == "hello":
            if request.get("protocol") != 1:
                return {"error": f"protocol {request.get('protocol')} is not spoken here, only 1"}
            return {"result": hello(name)}
        if request["op"] != "backend" or request.get("edition") != "v0":
            return {"unsupported": f"operation {request['op']} of edition {request.get('edition')}"}
        try:
            folder, steps = Path(member(request, "root")), member(request, "steps")
        except MissingMemberError as missing:
            return {"error": f"backend needs {missing}"}
        try:
            store = open_store(name, folder)
        except (StoreBusy, OSError) as error:
            return {"rejected": {"message": str(error)}}
        try:
            return {"result": answers_of(store, steps, REFUSALS)}
        finally:
            store.close()

    return answer


def hello(name: str) -> dict[str, Any]:
    """What a store says of itself."""
    beside = ["backend.borrowed", "backend.live", "backend.signal", STORES[name][1]]
    return {
        "protocol": 1,
        "implementation": {"name": f"reference store {name}", "version": __version__, "language": "Python"},
        "capabilities": ["backend", *beside],
        "editions": ["v0"],
    }
