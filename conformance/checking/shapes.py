"""What one event has to be by itself: envelope, old shapes, messages, request headers."""

from __future__ import annotations

from typing import Any

from conformance.checking.exact_json import is_number, is_seq, is_whole, show

Event = dict[str, Any]
Fault = tuple[str, str, tuple[str, ...]]
"""A condition, what is wrong, and the names that lead to the place in the event."""

ELIGIBLE = frozenset(("user/message", "assistant/message", "tool/result"))
ENVELOPE = frozenset(("type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable"))
KNOWN_TYPES = frozenset(
    (
        "agent-preset/selected", "agent/inbox/spliced", "approval/asked", "approval/decided",
        "approval/policy", "assistant/chunk", "assistant/message", "command/done", "command/run",
        "compaction/end", "compaction/prune", "compaction/start", "compaction/summary",
        "feedback/record", "goal/change", "hook/invoked", "hook/result", "llm/retry",
        "llm/retry-started", "permission/preset", "plan/mode", "request/context", "request/header",
        "sandbox/mode", "schedule/change", "session/end-seed", "session/title",
        "session/title-llm-request", "step/end", "step/start", "subagent/descriptor", "team/member",
        "team/message/delivered", "team/message/queued", "team/task", "todo/write",
        "tool-workflow/agent-end", "tool-workflow/agent-start", "tool-workflow/run-end",
        "tool-workflow/run-start", "tool/call", "tool/code-dispatch", "tool/code-dispatch-start",
        "tool/result", "turn/end", "turn/start", "user/message", "web/deepseek-search-llm-request",
    )
)  # fmt: skip
"""The types of edition v0."""


def is_text(value: object) -> bool:
    """A text that is not empty."""
    return isinstance(value, str) and value != ""


def member(holder: object, name: str) -> Any:
    """A member, or None where there is none."""
    return holder.get(name) if isinstance(holder, dict) else None


def has_exactly(record: Event, *names: str) -> bool:
    """Whether these are all the members of a record."""
    return record.keys() == set(names)


# -- retired and old shapes -----------------------------------------------------------


def retired(event: Event) -> tuple[int, str, str] | None:
    """The shape that nobody reads any more: when it is asked for, its condition, and what it is."""
    kind = event.get("type")
    if kind == "request/header-delta":
        return 0, "legacy-header-delta", "an event of the retired type request/header-delta"
    if kind == "mode/set":
        return 1, "legacy-mode-set", "an event of the retired type mode/set"
    if kind == "request/header" and member(event.get("data"), "reason") == "fallback":
        return 2, "legacy-header-fallback", "a request/header with the retired reason fallback"
    return None


class Malformed(Exception):  # noqa: N818 - it becomes a finding
    """Neither a shape of today nor an old one that is known."""


def upgraded(event: Event, session: str, result_id: Any) -> Event:
    """The event in the shape of today; the same object where it is in that shape. Raises Malformed.

    ``result_id`` gives the id of an old tool result.
    """
    kind, data = event.get("type"), event.get("data")
    if kind == "turn/start" and isinstance(data, dict) and "trigger" in data:
        if not has_exactly(data, "turn", "trigger") or not _is_turn(data["turn"]):
            raise Malformed
        if not is_text(member(data["trigger"], "kind")):
            raise Malformed
        return {**event, "data": {"turn": data["turn"]}}
    if kind == "turn/end" and isinstance(data, dict):
        if not has_exactly(data, "turn", "reason") or not _is_turn(data["turn"]):
            raise Malformed
        reason = _reason(data["reason"])
        return event if reason is data["reason"] else {**event, "data": {**data, "reason": reason}}
    if kind == "steering/message":
        return _user(_steering(event, data), session)
    if kind == "user/message":
        return _user(event, session)
    if kind == "assistant/message":
        return _assistant(event, data, session)
    if kind == "tool/result":
        return _result(event, data, result_id)
    return event


def _is_turn(value: object) -> bool:
    return is_seq(value) and value != 0


def _reason(reason: Any) -> Event:
    if not isinstance(reason, dict) or not isinstance(reason.get("kind"), str):
        raise Malformed
    kind = reason["kind"]
    plain = has_exactly(reason, "kind")
    if kind in ("completed", "blocked", "max-tokens", "interrupted") and not plain:
        raise Malformed
    if kind == "aborted" and "reason" not in reason:
        if not plain:
            raise Malformed
        return {"kind": "aborted", "reason": {"kind": "legacy"}}
    if kind == "disposed":
        if not plain:
            raise Malformed
        return {"kind": "aborted", "reason": {"kind": "disposed"}}
    if kind == "error" and "error" not in reason:
        return {"kind": "error", "error": _old_error(reason)}
    return reason


def _old_error(reason: Event) -> Event:
    if not is_seq(reason.get("step")):
        raise Malformed
    if has_exactly(reason, "kind", "step", "failure"):
        failure: Event = reason["failure"]
        if not _is_failure(failure):
            raise Malformed
        return failure
    if not {"kind", "step", "message"} <= reason.keys() <= {"kind", "step", "message", "code"}:
        raise Malformed
    message, code = reason["message"], reason.get("code", "UNKNOWN")
    if not isinstance(message, str) or not isinstance(code, str):
        raise Malformed
    return {"message": message, "code": code}


def _is_failure(failure: Any) -> bool:
    required, optional = {"message", "code"}, {"status", "providerRetryAfterMs", "requestId"}
    return (
        isinstance(failure, dict)
        and required <= failure.keys() <= required | optional
        and isinstance(failure["message"], str)
        and isinstance(failure["code"], str)
        and all(is_number(failure.get(name, 0)) for name in ("status", "providerRetryAfterMs"))
        and isinstance(failure.get("requestId", ""), str)
    )


def _steering(event: Event, data: Any) -> Event:
    if not isinstance(data, dict) or not is_whole(data.get("turn")):
        raise Malformed
    if has_exactly(data, "turn", "message") and isinstance(data["message"], dict):
        return {**event, "type": "user/message", "data": data["message"]}
    if has_exactly(data, "turn", "content", "source"):
        message = {"content": data["content"], "source": data["source"]}
        return {**event, "type": "user/message", "data": message}
    raise Malformed


def _legacy_id(event: Event, session: str) -> str:
    return f"legacy-message:{session}:{show(event['seq'])}"


def _user(event: Event, session: str) -> Event:
    data = event.get("data")
    if not isinstance(data, dict) or not {"content", "source"} <= data.keys():
        return event
    if not data.keys().isdisjoint(("id", "role", "message")):
        return event
    return {**event, "data": {**data, "id": _legacy_id(event, session), "role": "user"}}


def _assistant(event: Event, data: Any, session: str) -> Event:
    if not isinstance(data, dict) or "message" in data or not {"content", "provenance"} <= data.keys():
        return event
    provenance = data["provenance"] if isinstance(data["provenance"], dict) else {}
    message = {
        "id": _legacy_id(event, session),
        "role": "assistant",
        "content": data["content"],
        "source": {**provenance, "kind": "model"},
    }
    kept = {name: value for name, value in data.items() if name not in ("content", "provenance")}
    return {**event, "data": {**kept, "message": message}}


def is_old_result(event: Event) -> bool:
    """Whether it is a tool result whose message has yet to be made."""
    data = event.get("data")
    return (
        event.get("type") == "tool/result"
        and isinstance(data, dict)
        and "message" not in data
        and {"callId", "content", "isError"} <= data.keys()
    )


def _result(event: Event, data: Any, result_id: Any) -> Event:
    if not is_old_result(event):
        return event
    block = {
        "type": "tool-result",
        "toolCallId": data["callId"],
        "content": data["content"],
        "isError": data["isError"],
    }
    message = {
        "id": result_id(event),
        "role": "user",
        "content": [block],
        "source": {"kind": "tool", "callId": data["callId"]},
    }
    kept = {name: value for name, value in data.items() if name not in ("callId", "content", "isError")}
    return {**event, "data": {**kept, "message": message}}


# -- shapes of today ------------------------------------------------------------------


def message_fault(event: Event) -> Fault | None:
    """The message of an eligible event: the first fault, or None. Other types hold none."""
    kind = event["type"]
    if kind == "user/message":
        message = event.get("data")
        path: tuple[str, ...] = ("data",)
    else:
        message = member(event.get("data"), "message")
        path = ("data", "message")
    what = f"the message of this {kind}"
    if not isinstance(message, dict) or not is_text(message.get("id")):
        return "message-id", f"{what} has no id", (*path, "id")
    role = "assistant" if kind == "assistant/message" else "user"
    if message.get("role") != role:
        return "message-role", f'{what} must have the role "{role}"', (*path, "role")
    source: Any = message.get("source")
    if not is_text(member(source, "kind")):
        return "message-source", f"{what} has no source with a kind", (*path, "source")
    content = message.get("content")
    if not isinstance(content, list):
        return "message-content", f"{what} has no content list", (*path, "content")
    if kind == "assistant/message":
        if source["kind"] != "model" or not _names_model(source):
            told = f"{what} must come from a model, with provider and model"
            return "message-model-source", told, (*path, "source")
    elif kind == "tool/result":
        if source["kind"] != "tool" or not is_text(source.get("callId")):
            return "message-tool-source", f"{what} must come from a tool, with a callId", (*path, "source")
        block = content[0] if len(content) == 1 else None
        if member(block, "type") != "tool-result" or not isinstance(member(block, "content"), list):
            return "message-tool-block", f"{what} must hold one tool-result block", (*path, "content")
        if member(block, "toolCallId") != source["callId"]:
            told = f"{what} names one call in its source and another in its block"
            return "message-tool-ids", told, (*path, "source", "callId")
    return None


def _names_model(value: Any) -> bool:
    return is_text(member(value, "provider")) and is_text(member(value, "model"))


def envelope_fault(event: Event) -> Fault | None:
    """What is asked of the members of every event, its retired type first."""
    if event.get("type") == "request/header-delta":
        return "request-header-delta", "the retired type request/header-delta", ("type",)
    for name in event:
        if name not in ENVELOPE:
            return "event-envelope", f"an event has no member {show(name)}", (name,)
    if not isinstance(event.get("type"), str):
        return "event-envelope", "the type of an event is a text", ("type",)
    if not is_seq(event.get("seq")):
        return "event-envelope", "the seq of an event is a whole number from 0", ("seq",)
    if not is_whole(event.get("time")):
        return "event-envelope", "the time of an event is a whole number", ("time",)
    if "data" not in event:
        return "event-envelope", "an event has data, if only null", ()
    if event.get("ignorable", True) is not True:
        return "event-envelope", "ignorable is true or absent", ("ignorable",)
    return None


def request_header_fault(data: Any) -> Fault | None:
    """The payload of a request/header."""
    header = member(data, "header")
    config = member(header, "config")
    at = ("data", "header", "config")
    if not _names_model(config):
        return "request-header-provider", "a request header names provider and model", at
    if "reasoningEffort" in config and not is_text(config["reasoningEffort"]):
        told = "reasoningEffort is a text that is not empty"
        return "request-header-effort", told, (*at, "reasoningEffort")
    if "adapterDefaults" in header:
        defaults = header["adapterDefaults"]
        if not isinstance(defaults, dict) or not all(
            name in ("reasoningEffort", "maxTokens") and value is True and name in config
            for name, value in defaults.items()
        ):
            told = "adapterDefaults marks reasoningEffort or maxTokens of the config with true"
            return "request-header-defaults", told, ("data", "header", "adapterDefaults")
    return None


def admission_fault(event: Event) -> Fault | None:
    """Everything that admission asks of one event by itself, in its order."""
    fault = envelope_fault(event)
    if fault is None and event["type"] == "request/header":
        fault = request_header_fault(event["data"])
    if fault is None and event["type"] in ELIGIBLE:
        fault = message_fault(event)
    if fault is None and event["type"] == "request/header" and member(event["data"], "reason") == "fallback":
        return "request-header-fallback", "a request/header with the retired reason fallback", ("data",)
    return fault
