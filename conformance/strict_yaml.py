"""Strict YAML: JSON types only, every value with the line it came from.

YAML as commonly read turns ``no`` into false, ``1:30`` into 90 and ``2024-01-01`` into
a date. A corpus cannot afford that: a plain scalar here is null, true, false, a JSON
number or a text that no YAML reader would take for something else. Duplicate keys, tags,
merge keys, several documents and unbounded aliases are refused.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from conformance.errors import VectorError

MAX_FILE_BYTES = 16 << 20
MAX_ALIASED_VALUES = 10_000
MAX_ALIASED_CHARACTERS = 1 << 20
MAX_NESTING = 200

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)\Z")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z")
_MISREAD = re.compile(
    r"(~|null|true|false|yes|no|on|off|y|n|<<|=|[-+]?\.(inf|nan)"
    r"|[-+.]?[0-9][-+0-9_.:eExXoOa-fA-F]*"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*)\Z",
    re.IGNORECASE,
)
_WORDS: dict[str, Any] = {"null": None, "true": True, "false": False}


class Lines:
    """Which line of the file a container, or a member of it, began on. Lines count from 1."""

    def __init__(self) -> None:
        self._of: dict[int, int] = {}
        self._member: dict[tuple[int, object], int] = {}
        self._kept: list[Any] = []  # an id is only good while its object lives

    def note(self, container: Any, line: int) -> None:
        self._of[id(container)] = line
        self._kept.append(container)

    def note_member(self, container: Any, key: object, line: int) -> None:
        self._member[id(container), key] = line

    def of(self, container: Any, default: int = 1) -> int:
        return self._of.get(id(container), default)

    def at(self, root: Any, path: list[str | int]) -> int:
        """The line of the deepest value on a path that is still known."""
        line, here = self.of(root), root
        for step in path:
            line = self._member.get((id(here), step), line)
            try:
                here = here[step]
            except (KeyError, IndexError, TypeError):
                break
            line = max(line, self.of(here, line))
        return line


def load(path: Path) -> tuple[Any, Lines]:
    """Read one YAML file. Raises VectorError with file and line for anything that is not strict."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise VectorError(f"cannot be read: {error.strerror or error}", file=path) from None
    if len(raw) > MAX_FILE_BYTES:
        raise VectorError(f"is larger than {MAX_FILE_BYTES >> 20} MiB; split it by topic", file=path)
    return loads(raw, path)


def loads(raw: bytes, path: object) -> tuple[Any, Lines]:
    """Parse YAML bytes; ``path`` is only for messages."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise VectorError("is not UTF-8 text", file=path, line=line) from None
    builder = _Builder(path)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.feed(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 1
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        raise VectorError(f"is not YAML: {reason}", file=path, line=line) from None
    return builder.finish(), builder.lines


class _Builder:
    """Builds JSON values from YAML events, one event at a time, without recursion."""

    def __init__(self, path: object) -> None:
        self.path = path
        self.lines = Lines()
        self.root: Any = None
        self.documents = 0
        self.open: list[Any] = []
        self.keys: list[str | None] = []  # per open mapping: the key that waits for its value
        self.anchors: dict[str, Any] = {}
        self.anchored: list[str | None] = []
        self.sizes: dict[str, int] = {}
        self.values = 0
        self.started: list[int] = []
        self.aliased = 0
        self.lengths: dict[str, int] = {}
        self.characters = 0
        self.characters_before: list[int] = []
        self.aliased_characters = 0

    def fail(self, message: str, event: Any) -> VectorError:
        return VectorError(message, file=self.path, line=event.start_mark.line + 1)

    def feed(self, event: Any) -> None:
        if getattr(event, "tag", None) not in (None, "!"):
            raise self.fail(f"tag {event.tag} is not allowed; write plain JSON types", event)
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    raise self.fail("holds a second YAML document; one file is one document", event)
            case yaml.MappingStartEvent():
                self.start({}, event)
            case yaml.SequenceStartEvent():
                self.start([], event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self.end()
            case yaml.AliasEvent():
                self.alias(event)
            case yaml.ScalarEvent():
                self.scalar(event)
            case _:
                pass

    def start(self, container: Any, event: Any) -> None:
        if self.awaits_key():
            raise self.fail("a key must be a text", event)
        if len(self.open) >= MAX_NESTING:
            raise self.fail(f"is nested deeper than {MAX_NESTING} levels", event)
        self.lines.note(container, event.start_mark.line + 1)
        self.place(container, event)
        self.open.append(container)
        self.keys.append(None)
        self.anchored.append(event.anchor)
        self.started.append(self.values)
        self.characters_before.append(self.characters)

    def end(self) -> None:
        container = self.open.pop()
        self.keys.pop()
        anchor = self.anchored.pop()
        before = self.started.pop()
        characters_before = self.characters_before.pop()
        if anchor is not None:
            self.anchors[anchor] = container
            self.sizes[anchor] = self.values - before + 1
            self.lengths[anchor] = self.characters - characters_before

    def alias(self, event: Any) -> None:
        if event.anchor not in self.anchors:
            raise self.fail(f"alias *{event.anchor} names no finished anchor above it", event)
        if self.awaits_key():
            raise self.fail("a key must be a text, not an alias", event)
        self.aliased += self.sizes[event.anchor]
        self.aliased_characters += self.lengths[event.anchor]
        self.characters += self.lengths[event.anchor]
        if self.aliased_characters > MAX_ALIASED_CHARACTERS:
            raise self.fail(f"aliases expand to more than {MAX_ALIASED_CHARACTERS} characters", event)
        self.values += self.sizes[event.anchor]
        if self.aliased > MAX_ALIASED_VALUES:
            raise self.fail(f"aliases expand to more than {MAX_ALIASED_VALUES} values", event)
        self.place(self.anchors[event.anchor], event)

    def scalar(self, event: Any) -> None:
        self.characters += len(event.value)
        if self.awaits_key():
            self.key(event)
            return
        value = self.plain(event) if not event.style else event.value
        self.place(value, event)
        if event.anchor is not None:
            self.anchors[event.anchor] = value
            self.sizes[event.anchor] = 1
            self.lengths[event.anchor] = len(event.value)

    def key(self, event: Any) -> None:
        key, holder = event.value, self.open[-1]
        if not event.style and _MISREAD.match(key):
            raise self.fail(f'key {key} is not a text for every YAML reader; write "{key}"', event)
        if key in holder:
            raise self.fail(f'key "{key}" appears twice in one mapping', event)
        self.keys[-1] = key

    def plain(self, event: Any) -> Any:
        text = event.value
        if text in _WORDS:
            return _WORDS[text]
        if text == "":
            raise self.fail('has a value that is empty; write null or ""', event)
        if _INTEGER.match(text):
            if text == "-0" or len(text) > 300:
                raise self.fail(f"{text[:40]} is no plain number; put it into a NAME_text member", event)
            return int(text)
        if _NUMBER.match(text):
            return self.fraction(text, event)
        if _MISREAD.match(text):
            raise self.fail(f'{text} means different things to different YAML readers; write "{text}"', event)
        return text

    def fraction(self, text: str, event: Any) -> float:
        value = float(text)
        if value.is_integer() or value in (float("inf"), float("-inf")):
            raise self.fail(f"{text} is no plain number; put it into a NAME_text member", event)
        return value

    def awaits_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1], dict) and self.keys[-1] is None

    def place(self, value: Any, event: Any) -> None:
        self.values += 1
        if not self.open:
            self.root = value
            return
        holder = self.open[-1]
        if isinstance(holder, dict):
            key = self.keys[-1]
            assert key is not None
            holder[key] = value
            self.keys[-1] = None
            self.lines.note_member(holder, key, event.start_mark.line + 1)
        else:
            self.lines.note_member(holder, len(holder), event.start_mark.line + 1)
            holder.append(value)

    def finish(self) -> Any:
        if self.documents == 0:
            raise VectorError("is empty", file=self.path, line=1)
        return self.root
