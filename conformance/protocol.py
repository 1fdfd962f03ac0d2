"""Protocol 1, seen from the runner: request lines, hello, and what counts as an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from conformance import schemas
from conformance.errors import AdapterError

VERSION = 1
KINDS = ("result", "rejected", "crashed", "unsupported", "error")
HELLO_BODY = f'"op":"hello","protocol":{VERSION}}}'


class Request(NamedTuple):
    """One request on its way: its id, and the request line behind ``{"id":N,``."""

    number: int
    body: str

    def text(self) -> str:
        """The request as it is sent; asked for once each time that it is."""
        return f'{{"id":{self.number},{self.body}'

    def line(self) -> bytes:
        return f"{self.text()}\n".encode("ascii")


class Answer(NamedTuple):
    """What became of one request.

    ``kind`` is one of the five kinds of the protocol, or what the runner saw instead:
    ``died`` and ``hung`` (blamed on this request alone), ``malformed`` (no answer of the
    protocol), ``not-run`` (never sent, with the reason). ``value`` is what stood under the
    kind, or a sentence; ``stderr`` is the tail of what the process last wrote there.
    """

    kind: str
    value: Any
    stderr: str = ""


@dataclass(frozen=True, slots=True)
class Hello:
    """What an adapter says of itself."""

    name: str
    version: str | None
    language: str | None
    url: str | None
    capabilities: frozenset[str]
    editions: frozenset[str]


class Connection(Protocol):
    """An open adapter. Every transport looks like this to the engine."""

    hello: Hello
    problems: list[str]
    """Faults charged to the run and not to one case; each is a sentence."""

    def exchange(self, requests: Iterator[Request]) -> Iterator[tuple[int, Answer]]:
        """Answers in any order, exactly one for each request."""
        ...

    def close(self) -> None:
        """End the adapter; faults seen while it ends join ``problems``."""
        ...


def read_hello(answer: Answer) -> Hello:
    """Read the answer to hello. Raises AdapterError saying what is wrong with it."""
    if answer.kind != "result":
        raise AdapterError(f"hello was answered with {answer.kind}: {_shorten(answer.value)}")
    if answer.value.get("protocol", VERSION) != VERSION:
        raise AdapterError(f"the adapter speaks protocol {answer.value['protocol']}, this suite {VERSION}")
    wrong = schemas.fault("hello", answer.value)
    if wrong is not None:
        raise AdapterError(f"hello was answered, but the result is wrong: {wrong}")
    implementation = answer.value["implementation"]
    return Hello(
        name=implementation["name"],
        version=implementation.get("version"),
        language=implementation.get("language"),
        url=implementation.get("url"),
        capabilities=frozenset(answer.value["capabilities"]),
        editions=frozenset(answer.value["editions"]),
    )


def read_answer(message: dict[str, Any]) -> Answer:
    """The answer in a message, whatever its id. A message that is none comes back as ``malformed``."""
    found = [kind for kind in KINDS if kind in message]
    if len(found) != 1:
        wanted = ", ".join(KINDS)
        return Answer("malformed", f"an answer holds exactly one of {wanted}; this holds {found or 'none'}")
    kind = found[0]
    value = message[kind]
    if kind in ("result", "rejected"):
        if type(value) is not dict:
            return Answer("malformed", f"{kind} must be an object, not {_shorten(value)}")
        if kind == "rejected":
            return _read_rejection(value)
    elif type(value) is not str:
        return Answer("malformed", f"{kind} must be a text, not {_shorten(value)}")
    return Answer(kind, value)


def _read_rejection(value: dict[str, Any]) -> Answer:
    at = value.get("at")
    if "at" in value and (type(at) is not int or at < 0):
        return Answer("malformed", f"rejected.at must be an index from 0, not {_shorten(at)}")
    for member in ("condition", "message"):
        if member in value and type(value[member]) is not str:
            return Answer("malformed", f"rejected.{member} must be a text, not {_shorten(value[member])}")
    return Answer("rejected", value)


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
