"""The likely story behind a fault of the load rules: what has happened, and what can be done."""

from __future__ import annotations

RETIRED = "a development version before v0 wrote this"
STORIES: dict[str, tuple[str, str]] = {
    "replace-start-absent": (
        "remapped-seqs",
        "the node was shadowed by an earlier replace, or its event has another seq now",
    ),
    "replace-end-absent": (
        "remapped-seqs",
        "the node was shadowed by an earlier replace, or its event has another seq now",
    ),
    "replace-reversed": ("remapped-seqs", "ends are compared by their positions on the surface, not by seq"),
    "source-not-earlier": ("remapped-seqs", "whoever renumbers events has to renumber what they cite"),
    "sources-duplicate": ("remapped-seqs", "two events may have become one"),
    "sources-incomplete": (
        "remapped-seqs",
        "cite every node from start to end as they stand on the surface, not as their numbers follow",
    ),
    "sources-empty": ("foreign-edition", "leave sourceEventSeqs out where there is nothing to cite"),
    "tool-result-span": ("remapped-seqs", "start and end of such a rewrite are the same node"),
    "tool-result-target": ("remapped-seqs", "the seq of the result may have changed"),
    "tool-result-changed": (
        "remapped-seqs",
        "the rewrite hits another result than it means, or a tool has edited more than the content",
    ),
    "surface-op-missing": (
        "foreign-edition",
        'logs from before the marker need "surfaceOp":"append" on each message',
    ),
    "surface-op-forbidden": ("foreign-edition", "other editions have more types on the surface"),
    "sources-forbidden": ("foreign-edition", "other editions let more types cite"),
    "event-type-unknown": (
        "foreign-edition",
        "read it with the harness that wrote it; a type that may be skipped is marked ignorable: true",
    ),
    "legacy-header-delta": ("foreign-edition", RETIRED),
    "legacy-mode-set": ("foreign-edition", RETIRED),
    "legacy-header-fallback": ("foreign-edition", RETIRED),
    "legacy-malformed": ("foreign-edition", "it resembles an old shape, and is not whole"),
    "event-envelope": ("foreign-edition", "other editions have other members; a tool may have added one"),
    "message-id": ("rewind-tool", "messages of v0 have an id; tools that insert messages often forget it"),
    "message-tool-ids": ("rewind-tool", "the block and the source of a result name the same call"),
}
"""By condition: a name of ``model.STORIES``, and a hint."""

LATER = {"system/message": "v3", "image/offload": "v3", "developer/message": "v4"}
"""Types of later editions, with the first that has them."""


def story_of(condition: str, found: str | None) -> tuple[str | None, str | None]:
    """The story of a fault, and a hint; ``found`` may say more than the condition does."""
    if condition == "source-not-seq" and found is not None and found.startswith("["):
        hint = "later editions write ranges as [start, end]; v0 wants each seq by itself"
        return "foreign-edition", hint
    if condition == "replace-op-invalid" and found is not None and "startSeq" in found:
        return "foreign-edition", "later editions name the ends startSeq and endSeq; v0 says start and end"
    if condition == "event-type-unknown" and found is not None and found.strip('"') in LATER:
        return "foreign-edition", f"this type came with {LATER[found.strip(chr(34))]} of the format"
    return STORIES.get(condition, (None, None))
