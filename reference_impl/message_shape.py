"""Shapes that admission asks for inside ``data``: messages, and the header of a request.

Page: ``spec/message-shape.md``.
"""

from __future__ import annotations

from typing import Any, Final

from .event_log import Event
from .rejection import Rejection

ADAPTER_DEFAULTS: Final = ("reasoningEffort", "maxTokens")


def check_message(event: Event, index: int) -> None:
    """SHAP-1 to SHAP-8 for the message of an eligible event, in this order (SHAP-9).

    Other types hold none. Whatever else a message holds is accepted (SHAP-10).
    """
    kind = event["type"]
    if kind == "user/message":
        message = event["data"]
    elif kind in ("assistant/message", "tool/result"):
        message = member_of(event["data"], "message")
    else:
        return
    if not is_text(member_of(message, "id")):  # SHAP-1
        raise Rejection("message-id", f"{shown_seed(index, kind)} lacks an identified message")
    role = "assistant" if kind == "assistant/message" else "user"
    if message.get("role") != role:  # SHAP-2
        raise Rejection("message-role", f'{shown_seed(index, kind)} message must have role "{role}"')
    source = message.get("source")
    if not is_text(member_of(source, "kind")):  # SHAP-3
        raise Rejection("message-source", f"{shown_seed(index, kind)} message has invalid source")
    if not isinstance(message.get("content"), list):  # SHAP-4
        raise Rejection("message-content", f"{shown_seed(index, kind)} message has invalid content")
    if kind == "assistant/message" and not is_model_source(source):  # SHAP-5
        raise Rejection("message-model-source", f"{shown_seed(index, kind)} message must have model source")
    if kind == "tool/result":
        check_tool_message(message, index)


def check_tool_message(message: dict[str, Any], index: int) -> None:
    """SHAP-6 to SHAP-8: a tool's source, exactly one block, and both of the same call."""
    source = message["source"]
    if source["kind"] != "tool" or not is_text(source.get("callId")):  # SHAP-6
        raise Rejection(
            "message-tool-source", f"{shown_seed(index, 'tool/result')} message must have tool source"
        )
    content = message["content"]
    if len(content) != 1 or not is_tool_block(content[0]):  # SHAP-7
        raise Rejection(
            "message-tool-block",
            f"{shown_seed(index, 'tool/result')} message must contain one tool-result block",
        )
    if content[0].get("toolCallId") != source["callId"]:  # SHAP-8
        raise Rejection(
            "message-tool-ids", f"{shown_seed(index, 'tool/result')} message has mismatched tool call ids"
        )


def is_model_source(source: dict[str, Any]) -> bool:
    """SHAP-5: the kind is ``model``, and it names provider and model."""
    return source["kind"] == "model" and names_model(source)


def is_tool_block(block: object) -> bool:
    """SHAP-7: an object of type ``tool-result`` with a list as its content."""
    return member_of(block, "type") == "tool-result" and isinstance(member_of(block, "content"), list)


def check_request_header(data: object, index: int) -> None:
    """SHAP-11 to SHAP-13 for the data of a ``request/header``, in this order."""
    header = member_of(data, "header")
    config = member_of(header, "config")
    if not names_model(config):  # SHAP-11
        raise Rejection(
            "request-header-provider", f"{shown_seed(index, 'request/header')} lacks provider/model"
        )
    if "reasoningEffort" in config and not is_text(config["reasoningEffort"]):  # SHAP-12
        raise Rejection(
            "request-header-effort", f"{shown_seed(index, 'request/header')} has an invalid reasoningEffort"
        )
    if "adapterDefaults" in header and not are_defaults(header["adapterDefaults"], config):  # SHAP-13
        raise Rejection(
            "request-header-defaults", f"{shown_seed(index, 'request/header')} has invalid adapterDefaults"
        )


def are_defaults(defaults: object, config: dict[str, Any]) -> bool:
    """SHAP-13: an object whose members are true, and name members that the config has."""
    if not isinstance(defaults, dict):
        return False
    for name, value in defaults.items():
        if name not in ADAPTER_DEFAULTS or value is not True or name not in config:
            return False
    return True


def refuse_retired_delta(kind: object, subject: str) -> None:
    """SHAP-14: the type ``request/header-delta`` is retired, whatever else the event holds (SHAP-16)."""
    if kind == "request/header-delta":
        raise Rejection(
            "request-header-delta", f"{subject} uses unsupported legacy request/header-delta format"
        )


def refuse_retired_reason(kind: object, data: object, subject: str) -> None:
    """SHAP-15: so is the reason ``fallback`` of a request header; no other reason is (SHAP-16)."""
    if kind == "request/header" and member_of(data, "reason") == "fallback":
        raise Rejection(
            "request-header-fallback",
            f'{subject} uses unsupported legacy request/header reason "fallback"',
        )


def names_model(value: Any) -> bool:
    """Whether an object names a provider and a model, each by a text that is not empty."""
    return is_text(member_of(value, "provider")) and is_text(member_of(value, "model"))


def is_text(value: object) -> bool:
    """A text that is not empty."""
    return isinstance(value, str) and value != ""


def shown_seed(index: int, kind: str = "event") -> str:
    """An event of a seed as messages name it."""
    return f"seed {kind} at index {index}"


def shown_append(kind: str) -> str:
    """An event that is appended as messages name it."""
    return f'session event "{kind}"'


def member_of(holder: object, name: str) -> Any:
    """A member, or None where it is absent or the holder is no object; null is never enough here."""
    return holder.get(name) if isinstance(holder, dict) else None
