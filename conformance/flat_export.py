"""The sequence codec as flat tables: for a decoder without YAML, protocol or adapter.

``seqs-decode`` and ``seqs-encode``, each as CSV and as JSON with the same rows: one cell and what
is right for it. Families are written out. README.md in the folder says what the columns hold.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from conformance.cases import Alternative, Case
from conformance.errors import UsageError
from conformance.export import write_folder
from conformance.families.answers import expansion
from conformance.json_text import dump_ascii

DECODE = ("case", "schema", "hex", "row_seq", "values", "condition", "at", "or_values", "or_condition")
ENCODE = ("case", "schema", "values", "hex", "condition")
README = """\
# The sequence codec, cell by cell

Each row is one check. CSV and JSON hold the same rows; in JSON a column that says nothing is left out.

| column | |
| --- | --- |
| case | the case that the row comes from; a family gives one row per member, named CASE#INDEX |
| schema | 15, 17 or 19 (20 shares the codec of 19) |
| hex | the cell, as bytes in hex; for schema 15 the UTF-8 bytes of its text |
| row_seq | the seq of the row that holds the cell; schema 15 asks for none |
| values | the list; in CSV its JSON text |
| condition | the list or cell must be refused; by the condition of this name, if you tell conditions apart |
| at | the byte offset at which it is refused |
| or_values, or_condition | a second answer that is right as well: known systems differ here |

In JSON, values that are spelled in a way of their own, such as -0 or 1e400, are values_text.
A row has either values (for decoding) or hex (for encoding) to compare with, or a condition.
Hand such a text, and any text of the CSV, to your own JSON parser.
"""


def export_flat(cases: Sequence[Case], target: Path) -> int:
    """Write the tables into a folder; return the number of rows."""
    decoding = [case for case in cases if case.op == "seqs.decode"]
    encoding = [case for case in cases if case.op == "seqs.encode"]
    if not decoding and not encoding:
        raise UsageError("the selection holds no case of the sequence codec (--topic codec)")
    tables = {
        "seqs-decode": (DECODE, [row for case in decoding for row in rows(case, decode_row)]),
        "seqs-encode": (ENCODE, [row for case in encoding for row in rows(case, encode_row)]),
    }

    def fill(folder: Path) -> None:
        (folder / "README.md").write_text(README, "ascii", newline="\n")
        for name, (columns, table) in tables.items():
            _write_csv(folder / f"{name}.csv", columns, table)
            _write_json(folder / f"{name}.json", table)

    write_folder(target, fill, is_flat_export)
    return sum(len(table) for _, table in tables.values())


def is_flat_export(folder: Path) -> bool:
    """Whether a folder is an earlier export, which may be replaced."""
    try:
        return (folder / "README.md").read_text("utf-8") == README
    except (OSError, ValueError):
        return False


def rows(case: Case, row: Any) -> Iterator[dict[str, Any]]:
    """The rows of a case: one, or one per member of a family."""
    if case.family is None:
        yield {"case": case.id, "schema": _schema(case), **row(case.request, case.expect.alternatives)}
        return
    for index, (member, right) in enumerate(expansion(case)):
        yield {"case": f"{case.id}#{index}", "schema": _schema(case), **row(member, (right,))}


def decode_row(request: dict[str, Any], alternatives: Sequence[Alternative]) -> dict[str, Any]:
    """A cell and what it reads as."""
    if "text" in request:
        found: dict[str, Any] = {"hex": request["text"].encode().hex()}
    else:
        found = {"hex": request["hex"], "row_seq": request["rowSeq"]}
    first, *others = alternatives
    found |= _answer(first)
    for other in others:
        found |= {f"or_{name}": value for name, value in _answer(other).items() if name != "at"}
    return found


def encode_row(request: dict[str, Any], alternatives: Sequence[Alternative]) -> dict[str, Any]:
    """A list and the cell that is written for it."""
    return {"values": _text(request), **_answer(alternatives[0])}


def _answer(alternative: Alternative) -> dict[str, Any]:
    value = alternative.value
    if alternative.kind == "rejected":
        return {name: value[name] for name in ("condition", "at") if name in value}
    if "text" in value:
        return {"hex": value["text"].encode().hex()}
    return {"hex": value["hex"]} if "hex" in value else {"values": _text(value)}


def _text(holder: dict[str, Any]) -> str:
    text: str = holder["values_text"] if "values_text" in holder else dump_ascii(holder["values"])
    return text


def _for_json(name: str, value: Any) -> tuple[str, Any]:
    """Values as values, for a reader of JSON; what is spelled in a way of its own stays text."""
    if name not in ("values", "or_values"):
        return name, value
    parsed = json.loads(value, parse_float=str)
    return (name, parsed) if dump_ascii(parsed) == value else (f"{name}_text", value)


def _schema(case: Case) -> int:
    return int(case.capability.partition("@")[2])


def _write_csv(path: Path, columns: Sequence[str], table: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="ascii", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


def _write_json(path: Path, table: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="ascii", newline="\n") as file:
        for index, row in enumerate(table):
            file.write(
                f"{',' if index else '['}\n{json.dumps(dict(_for_json(*each) for each in row.items()))}"
            )
        file.write("\n]\n" if table else "[]\n")
