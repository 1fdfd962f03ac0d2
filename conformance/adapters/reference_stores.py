"""The stores of the reference that keep real files, as backends: ``store:NAME`` for each name below."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.adapters.members import MissingMemberError, member
from conformance.adapters.reference_backend import answers_of
from reference_impl.rejection import Rejection
from reference_impl.sqlite_rows import UndecidableError
from reference_impl.stores.durable import StoreBusy
from reference_impl.stores.jsonl_store import JsonlStore
from reference_impl.stores.sqlite_store import SqliteStore, Unstorable
from reference_impl.stores.store import ReadOnly, Store

__all__ = ["OPENING", "REFUSALS", "STORES", "AnyStore", "adapter", "open_store", "refusal_of"]

AnyStore = Store[Any, Any]

STORES: dict[str, tuple[type[JsonlStore] | type[SqliteStore], Any, str]] = {
    "jsonl": (JsonlStore, "none", "storage.jsonl"),
    "jsonl-zstd": (JsonlStore, "zstd", "storage.jsonl-zstd"),
    "sqlite15": (SqliteStore, 15, "storage.sqlite15"),
    "sqlite17": (SqliteStore, 17, "storage.sqlite17"),
    "sqlite20": (SqliteStore, 20, "storage.sqlite20"),
}
"""By name: the store, the compression or schema of its files, and the capability that says what they are."""

REFUSALS = (OSError, ReadOnly, Unstorable, UndecidableError)
"""What a store raises in words of its own."""
OPENING = (Rejection, StoreBusy, OSError)
"""What keeps a store from being opened."""


def open_store(name: str, folder: Path, *, read_only: bool = False) -> AnyStore:
    """Open a store in a folder. Raises what OPENING has: StoreBusy where another writer has it."""
    kind, what, _ = STORES[name]
    return kind(folder, what, read_only=read_only)


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
        except OPENING as refusal:
            return refusal_of(refusal)
        try:
            return {"result": answers_of(store, steps, REFUSALS)}
        finally:
            store.close()

    return answer


def refusal_of(refusal: Exception) -> dict[str, Any]:
    """The answer where a store cannot be opened."""
    if isinstance(refusal, Rejection):
        return {"rejected": {"condition": refusal.condition, "message": refusal.message}}
    return {"rejected": {"message": str(refusal)}}


def hello(name: str) -> dict[str, Any]:
    """What a store says of itself."""
    beside = ["backend.borrowed", "backend.live", "backend.signal", STORES[name][2]]
    return {
        "protocol": 1,
        "implementation": {"name": f"reference store {name}", "version": __version__, "language": "Python"},
        "capabilities": ["backend", *beside],
        "editions": ["v0"],
    }
