"""The operations of protocol 1: their request members, and how a capability is spelled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. ``variant`` is the request member that stands behind the ``@`` of a capability."""

    name: str
    members: tuple[str, ...]
    variant: str | None = None
    stepwise: bool = False
    """The request holds ``steps``, and the answer one answer per step."""
    tokens: bool = False
    """Expectations may hold ``{"$any": "time"}`` for a value of the implementation's clock."""

    def capability(self, request: dict[str, object]) -> str:
        """``fold``, or ``seqs.decode@19`` where the operation has variants."""
        return self.name if self.variant is None else f"{self.name}@{request.get(self.variant)}"


STORAGE = frozenset(
    f"storage.{name}" for name in ("jsonl", "jsonl-zstd", "sqlite14", "sqlite15", "sqlite17", "sqlite20")
)
"""What a backend keeps in its folder, for cases that damage it."""

BACKEND = frozenset(("backend.borrowed", "backend.live", "backend.signal"))
"""What a backend may offer beside its store."""

BESIDE_OPERATIONS = STORAGE | BACKEND | {"isolation", "seed", "files", "text", "undecidable"}
"""Capabilities that are no operation."""

OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("fold", ("events",)),
        Operation("messages", ("events",)),
        Operation("project", ("event",)),
        Operation("classify", ("event",)),
        Operation("transcript", ("events",)),
        Operation("window", ("baseSeq", "events")),
        Operation("surface.live", ("baseSeq", "steps"), stepwise=True),
        Operation("session.live", ("seed", "steps"), stepwise=True, tokens=True),
        Operation("messages.linear-fallback", ("events",)),
        Operation("tutorial", ("events",)),
        Operation("seqs.encode", ("values",), variant="schema"),
        Operation("seqs.decode", ("hex", "text", "rowSeq"), variant="schema"),
        Operation("closers", ("events",)),
        Operation("chunks.pack", ("events",), variant="store"),
        Operation("chunks.unpack", ("record",), variant="store"),
        Operation("jsonl.scan", ("hex", "path", "compression")),
        Operation("jsonl.path", ("session", "cwd", "compression", "found", "files")),
        Operation("request-header", ("events",)),
        Operation("request-header.equal", ("left", "right")),
        Operation("admit", ("sessionId", "header", "events"), variant="source", tokens=True),
        Operation("fork", ("header", "events", "taken", "sourceId", "boundary", "childId"), tokens=True),
        Operation("normalise", ("sessionId", "events")),
        Operation("jsonl.load", ("hex", "path", "compression", "sessionId")),
        Operation("backend", ("root", "steps"), stepwise=True, tokens=True),
        Operation("rows.encode", ("events",), variant="schema"),
        Operation("rows.decode", ("row",), variant="schema"),
        Operation("rows.scan", ("rows", "base"), variant="schema"),
        Operation("rows.session", ("row",), variant="schema"),
        Operation("sqlite.open", ("path",), variant="schema"),
    )
}


def known_capability(capability: str) -> bool:
    """Whether a capability is one of this suite's, in whatever variant."""
    name, _, variant = capability.partition("@")
    operation = OPERATIONS.get(name)
    if operation is None:
        return capability in BESIDE_OPERATIONS
    return bool(variant) == (operation.variant is not None)
