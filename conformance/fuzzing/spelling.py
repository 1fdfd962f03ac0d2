"""From the members of a request to its line, also where JSON values cannot say what is meant.

``-0``, ``1e400``, 2^53+1 and a name that appears twice exist in JSON text only, and a lone surrogate may not
stand on a request line. A recipe writes them as ``raw("1e400")``, ``{again("seq"): 5, "seq": 0}`` and
``odd("\\ud800")`` inside an otherwise plain value, wrapped in ``Spelled``; such a member travels as
``NAME_text``. Everything that is not plain carries such a mark, so nobody has to look for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from conformance.operations import OPERATIONS

EDITION = "v0"
Members = dict[str, Any]
"""The members of a request beside ``op``, ``edition`` and the variant."""

_MARKS = re.compile(r'"\\u0000raw:([^"\\]*)\\u0000"|\\u0000(?:odd|again[0-9]*):')
_MARK = "\0"
encode = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":")).encode


class Spelled(NamedTuple):
    """A member that may hold what is not plain: raw texts, names given twice, lone surrogates, depth."""

    value: Any


def raw(text: str) -> str:
    """Stands for a value whose JSON text is this; without quotes and backslashes."""
    return f"{_MARK}raw:{text}{_MARK}"


def again(name: str, number: int = 1) -> str:
    """Stands for a name that the same object holds under its plain spelling too."""
    return f"{_MARK}again{number}:{name}"


def odd(text: str) -> str:
    """Stands for a text or a name that is not plain, as one with a lone surrogate."""
    return f"{_MARK}odd:{text}"


def unmarked(text: str) -> str:
    """JSON text with what the marks in it stand for."""
    return _MARKS.sub(lambda match: match[1] or "", text) if "\\u0000" in text else text


def is_plain(members: Members) -> bool:
    """Whether no member has an odd spelling."""
    texts = (encode(value.value) for value in members.values() if type(value) is Spelled)
    return all(unmarked(text) == text for text in texts)


def body_of(capability: str, members: Members) -> str:
    """The request line behind ``{"id":N,``."""
    return head_of(capability) + ",".join(pairs_of(members)) + "}"


def request_of(members: Members) -> dict[str, Any]:
    """The members as a request holds them, without ``op``, ``edition`` and the variant."""
    found: dict[str, Any] = json.loads("{" + ",".join(pairs_of(members)) + "}")
    return found


def pairs_of(members: Members) -> Iterator[str]:
    """Each member as it stands in the request; what is not plain is spelled under ``NAME_text``."""
    for name, value in members.items():
        if type(value) is not Spelled:
            yield f'"{name}":{encode(value)}'
            continue
        text = encode(value.value)
        spelled = unmarked(text)
        yield f'"{name}":{text}' if spelled == text else f'"{name}_text":{encode(spelled)}'


@cache
def head_of(capability: str) -> str:
    """``"op":"seqs.decode","schema":19,"edition":"v0",``: what every request of a capability begins with."""
    name, _, variant = capability.partition("@")
    member = OPERATIONS[name].variant
    head: dict[str, Any] = {"op": name}
    if member is not None:
        head[member] = int(variant) if variant.isdigit() else variant
    return encode({**head, "edition": EDITION})[1:-1] + ","
