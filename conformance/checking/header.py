"""The header line of a log: what the scan asks of it, and what it says of its edition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.checking.collector import Collector, Place
from conformance.checking.exact_json import is_number, is_seq, parse_bytes, show
from conformance.checking.loading import SCAN

RETIRED = ("sandboxMode", "approvalPolicy")
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Header:
    """A header line as far as it can be used. ``goes_on`` tells whether what follows can be judged."""

    members: dict[str, Any]
    edition: str | None
    goes_on: bool


def read_header(place: Place, collector: Collector) -> Header:
    """The header; what is wrong with it goes to the collector."""
    try:
        found = parse_bytes(place.text)
    except ValueError:
        _no_json(place, collector)
        return Header({}, None, goes_on=False)
    version = found.get("version") if isinstance(found, dict) else None
    if is_number(version) and version != 0:
        _other_edition(place, collector, version)
        return Header(found if isinstance(found, dict) else {}, f"v{show(version)}", goes_on=False)
    if not isinstance(found, dict):
        _misshapen(place, collector, (), "the first line is no object", show(found))
        return Header({}, None, goes_on=False)
    wrong = _shape_fault(found)
    if wrong is not None:
        _misshapen(place, collector, *wrong)
    else:
        for name in RETIRED:
            if name in found:
                collector.add(
                    "jsonl-header-retired", "error", "storage", f"the header has the retired member {name}",
                    place, (name,), rank=SCAN, story="foreign-edition",
                    hint="a development version before v0 wrote this; v0 readers refuse it",
                )  # fmt: skip
                break
    return Header(found, "v0" if is_number(version) else None, goes_on=True)


def _shape_fault(found: dict[str, Any]) -> tuple[tuple[str, ...], str, str] | None:
    """The names of the member that is wrong, what is wrong with it, and what was found."""
    if found.get("type") != "session":
        return ("type",), 'the first line is not of type "session"', _told(found, "type")
    if not is_number(found.get("version")):
        return ("version",), "the version of a header is a number", _told(found, "version")
    if not isinstance(found.get("id"), str):
        return ("id",), "the id of a header is a text", _told(found, "id")
    for name in ("createdAt", "delegationDepth"):
        if not is_seq(found.get(name)) or str(found[name]) == "-0.0":
            return (name,), f"{name} of a header is a whole number from 0", _told(found, name)
    if found.get("origin", "subagent") != "subagent":
        return ("origin",), 'the origin of a header is "subagent" or absent', _told(found, "origin")
    if not isinstance(found.get("agentPreset", ""), str):
        return ("agentPreset",), "agentPreset of a header is a text or absent", _told(found, "agentPreset")
    return None


def _told(found: dict[str, Any], name: str) -> str:
    return show(found[name]) if name in found else "absent"


def _misshapen(place: Place, collector: Collector, names: tuple[str, ...], message: str, found: str) -> None:
    hint = None
    if names == ("type",):
        hint = "is the header line gone, or was a line put in front of it?"
    collector.add(
        "jsonl-header-shape", "error", "storage", message, place, names, rank=SCAN, found=found, hint=hint
    )


def _no_json(place: Place, collector: Collector) -> None:
    story, hint = None, None
    text = place.text
    if text.startswith(BOM):
        story, hint = "wrong-encoding", "a byte order mark stands before the header; write UTF-8 without one"
    elif text.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in text[:8]:
        story, hint = "wrong-encoding", "this looks like UTF-16 or UTF-32; a log is UTF-8"
    elif not text.strip():
        hint = "the first line is empty"
    elif b"\x00" in text:
        story = "damaged"
    collector.add(
        "jsonl-header-json", "error", "storage", "the header line is not JSON", place,
        rank=SCAN, story=story, hint=hint,
    )  # fmt: skip


def _other_edition(place: Place, collector: Collector, version: Any) -> None:
    newer = version > 0
    hint = "a newer harness wrote this; upgrade to read it" if newer else "no reader has a way up from it"
    collector.add(
        "format-newer" if newer else "format-older", "error", "storage",
        f"the log has format v{show(version)}, and this reads v0", place, ("version",),
        rank=SCAN, found=show(version), expected="0", story="foreign-edition", hint=hint,
    )  # fmt: skip
