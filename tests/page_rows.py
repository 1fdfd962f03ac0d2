"""How examples of pages about rows are written, for ``page_examples``.

The lines of ``rows.encode`` hold one event each, those of the others one row each. ``rows.encode`` and
``rows.decode`` are told whole, ``rows.session`` by its header. A log is told as ``kept SEQS, torn from SEQ``
or ``kept SEQS, torn nothing``. The line of ``sqlite.open`` is what the runner makes the file of.
"""

from __future__ import annotations

import json
import re
from typing import Any

from conformance.adapters.inprocess import InProcess
from conformance.adapters.reference import answer
from conformance.json_text import parse_exact
from conformance.protocol import Request

KEPT = re.compile(r"kept (?P<kept>\[.*?\]), torn (?:from (?P<torn>\d+)|nothing)")


def request(op: str, base: int | None, lines: tuple[str, ...]) -> dict[str, Any]:
    """The request of an example; ``op`` with its schema."""
    name, schema = op.split("@")
    asked: dict[str, Any] = {"op": name, "edition": "v0", "schema": int(schema)}
    if name == "rows.encode":
        return {**asked, "events_text": f"[{','.join(lines)}]"}
    if name == "rows.scan":
        return {**asked, "rows_text": f"[{','.join(lines)}]", "base": base}
    (row,) = lines
    return {**asked, "row_text": row}


def expectation(op: str, says: str) -> dict[str, Any]:
    """What a heading says, unless it is a refusal."""
    if says == "undecidable":
        return {"result": {"undecidable": True}}
    if kept := KEPT.fullmatch(says):
        torn = None if kept["torn"] is None else int(kept["torn"])
        return {"result": {"kept": json.loads(kept["kept"]), "torn": torn}}
    member = {"rows.encode": "rows", "rows.decode": "events", "rows.session": "header"}[op.split("@")[0]]
    return {"result": {member: parse_exact(says)}}


def as_told(op: str, result: dict[str, Any]) -> dict[str, Any]:
    """A result as headings tell it: of a log its seqs."""
    if op.startswith("rows.scan") and "events" in result:
        return {"kept": [event["seq"] for event in result["events"]], "torn": result["tornFrom"]}
    return result


def opened(op: str, lines: tuple[str, ...]) -> dict[str, Any]:
    """What the reference says of a database that the runner makes."""
    (database,) = lines
    body = f'"op":"sqlite.open","schema":{op.split("@")[1]},"edition":"v0","database":{database}}}'
    ((_, told),) = InProcess(answer).exchange(iter([Request(1, body)]))
    return {told.kind: {"opened": True} if told.kind == "result" else told.value}
