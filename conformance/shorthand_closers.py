"""Shorthand for closers: what an author writes as the expected ending of a log, expanded.

A closer has nothing of its own beside its kind, its call, its seq and its time, yet is a dozen lines in full.
The forms are listed in ``vectors/README.md``; an element with a ``type`` member stays exactly as written.
"""

from __future__ import annotations

import json
from typing import Any

from conformance.shorthand import ShorthandError

Event = dict[str, Any]

UNKNOWN_TEXT = (
    "The tool call was interrupted after it was recorded, but no result was durably recorded. Its outcome is"
    " unknown. Decide whether to retry from the tool semantics: retry only if the operation is read-only or"
    " idempotent; if it may have side effects, first verify external state or ask the user."
    " Do not retry blindly."
)
NOT_STARTED_TEXT = (
    "The tool call was interrupted before the Harness recorded it as started. Retry it if it is still needed."
)
MEMBERS = {
    "unknown": {"seq", "time", "sources", "turn", "step"},
    "not-started": {"seq", "time", "turn", "step"},
    "step/end": {"seq", "time", "turn"},
    "interrupted": {"seq", "time"},
}
"""Each form with the members that may stand beside it; seq and time must, and sources where there are any."""


def expand_closer(element: Any) -> Any:
    """One closer; anything that is no object, or has a ``type``, is left as it is."""
    if not isinstance(element, dict) or "type" in element:
        return element
    names = [name for name in MEMBERS if name in element]
    if len(names) != 1:
        raise ShorthandError(f"a closer needs a type, or exactly one of the shorthands {', '.join(MEMBERS)}")
    name = names[0]
    unknown = sorted(element.keys() - MEMBERS[name] - {name})
    if unknown:
        raise ShorthandError(f"shorthand {name} knows no {', '.join(unknown)}")
    missing = [each for each in ("seq", "time", "sources") if each in MEMBERS[name] and each not in element]
    if missing:
        raise ShorthandError(f"shorthand {name} needs {', '.join(missing)}")
    if name == "step/end":
        kind, data = name, {"turn": element.get("turn", 1), "step": element[name]}
    elif name == "interrupted":
        kind, data = "turn/end", {"turn": element[name], "reason": {"kind": "interrupted"}}
    else:
        kind, data = "tool/result", _result(element, name, element[name])
    event = {"type": kind, "seq": element["seq"], "time": element["time"], "data": data}
    if kind == "tool/result":
        event["surfaceOp"] = "append"
    if "sources" in element:
        event["sourceEventSeqs"] = element["sources"]
    return event


def _result(element: Event, name: str, call: Any) -> Event:
    if name == "unknown":
        text, error = UNKNOWN_TEXT, {"name": "ToolOutcomeUnknownError", "code": "TOOL_OUTCOME_UNKNOWN"}
    else:
        text, error = NOT_STARTED_TEXT, {"name": "ToolNotStartedError", "code": "TOOL_NOT_STARTED"}
    content = [{"type": "text", "text": text}]
    shown = call if isinstance(call, str) else json.dumps(call)
    message = {
        "id": f"interrupted-tool-result-{shown}-{element['seq']}",
        "role": "user",
        "source": {"kind": "tool", "callId": call},
        "content": [{"type": "tool-result", "toolCallId": call, "isError": True, "content": content}],
    }
    return {
        "turn": element.get("turn", 1),
        "step": element.get("step", 1),
        "message": message,
        "error": error,
    }
