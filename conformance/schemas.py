"""The JSON Schemas in ``spec/schemas``, and one readable sentence for what breaks them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from conformance.errors import VectorError
from conformance.resources import spec_dir


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """Where a value breaks its schema (the path from its root) and how."""

    path: list[str | int]
    message: str

    def __str__(self) -> str:
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return f"{place.lstrip('.')}: {self.message}" if place else self.message


@cache
def _registry() -> Registry[Any]:
    folder = spec_dir() / "schemas"
    resources = []
    for path in sorted(folder.rglob("*.schema.json")):
        try:
            contents = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise VectorError(f"schema cannot be read: {error}", file=path) from None
        resources.append((contents["$id"], Resource.from_contents(contents, DRAFT202012)))
    return Registry().with_resources(resources)


@cache
def validator(name: str) -> Draft202012Validator:
    """The validator of ``spec/schemas/NAME.schema.json``, or of a part of it: ``op/fold#/$defs/result``."""
    return Draft202012Validator({"$ref": f"urn:session-conformance:1:{name}"}, registry=_registry())


def fault(name: str, value: Any) -> SchemaFault | None:
    """None if the value fits the schema, else the most telling fault."""
    checker = validator(name)
    if checker.is_valid(value):
        return None
    error = best_match(checker.iter_errors(value))
    assert error is not None
    return SchemaFault(list(error.absolute_path), _shorten(error.message))


@cache
def spelled_as_text(op: str) -> tuple[str, ...]:
    """The members NAME of a request for which its schema has a ``NAME_text``, too."""
    schema = _registry().contents(f"urn:session-conformance:1:op/{op}")
    members = schema["$defs"]["request"].get("properties", {})
    return tuple(name for name in members if f"{name}_text" in members)


def _shorten(message: str) -> str:
    return message if len(message) <= 300 else f"{message[:200]} … {message[-80:]}"
