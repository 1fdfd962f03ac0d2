"""Named mutants: mistakes that people make when porting, as small reviewable changes to the reference.

One file per page of the specification in ``mutants/``; a new page joins by adding its file.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from conformance import schemas, strict_yaml
from conformance.adequacy.mutant import Mutant
from conformance.errors import VectorError
from conformance.ledger import Ledger
from conformance.reference_sources import sources

FOLDER = Path(__file__).with_name("mutants")


def load_named(ledger: Ledger, folder: Path = FOLDER) -> dict[str, list[Mutant]]:
    """The named mutants of each page. Raises VectorError with file and line.

    A mutant whose text is not found exactly once comes with an empty source: it does not apply.
    """
    pages: dict[str, list[Mutant]] = {}
    seen: set[str] = set()
    for path in sorted(folder.glob("*.yaml")):
        document, lines = strict_yaml.load(path)
        wrong = schemas.fault("mutants", document)
        if wrong is not None:
            raise VectorError(str(wrong), file=path, line=lines.at(document, wrong.path))
        page = document["page"]
        if page not in ledger.pages or page != path.stem:
            raise VectorError(f"{page} is no page, or not the one this file is named after", file=path)
        mutants = pages.setdefault(page, [])
        for entry in document["mutants"]:
            line = lines.of(entry)
            if entry["rule"] not in ledger.rules:
                raise VectorError(f"unknown rule {entry['rule']}", file=path, line=line)
            if entry["id"] in seen:
                raise VectorError(f"mutant {entry['id']} is defined twice", file=path, line=line)
            if entry["module"] not in sources():
                raise VectorError(f"the reference has no module {entry['module']}", file=path, line=line)
            seen.add(entry["id"])
            mutants.append(named_mutant(entry))
    return pages


def named_mutant(entry: dict[str, Any]) -> Mutant:
    """One entry of a file as a mutant."""
    original = sources()[entry["module"]]
    find = entry["find"].rstrip("\n")
    source, lines = "", frozenset[int]()
    if original.count(find) == 1:
        source = original.replace(find, entry["put"].rstrip("\n"))
        first = original[: original.index(find)].count("\n") + 1
        lines = frozenset(range(first, first + find.count("\n") + 1))
        if not lines <= lines_inside_functions(original):
            lines = frozenset()  # it runs when the module is loaded, so every case may notice
    return Mutant(entry["id"], entry["module"], "named", entry["mistake"], source, lines, entry["rule"])


def lines_inside_functions(source: str) -> frozenset[int]:
    """The lines of a module that belong to a function, its decorators included."""
    inside: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            inside.update(range(first, (node.end_lineno or node.lineno) + 1))
    return frozenset(inside)
