"""From vector files to cases: strict YAML, schema, shorthand expanded, everything checked once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import corpus_cache, json_text, schemas, strict_yaml
from conformance.cases import Case, Expectation, Family, case_digest, expectation
from conformance.errors import VectorError
from conformance.families.generators import members
from conformance.file_contents import FILE_OPERATIONS, expand_expected, expand_file
from conformance.ledger import Ledger, load_ledger
from conformance.operations import OPERATIONS, Operation
from conformance.phases import is_own
from conformance.resources import vectors_dir
from conformance.shorthand import ShorthandError, expand_request
from conformance.shorthand_backend import expand_batches, expand_logs
from conformance.shorthand_expect import expand_expect
from conformance.shorthand_rows import ROW_OPERATIONS, expand_rows, expand_rows_expected
from conformance.strict_yaml import Lines
from conformance.tokens import references

FORMAT = 1


def load_corpus(paths: Iterable[Path] = (), ledger: Ledger | None = None) -> list[Case]:
    """All cases of the given files and folders (default: the corpus of this package), in file order.

    The corpus of this package is read once for each state of it, and kept. What is named is always read.
    Raises VectorError, naming file and line, for the first thing that is wrong.
    """
    files = list(paths)
    if files or (ledger is not None and ledger is not load_ledger()):
        return _read(files or [vectors_dir()], ledger or load_ledger())
    key = corpus_cache.state()
    cases = corpus_cache.recall(key)
    if cases is None:
        cases = _read([vectors_dir()], load_ledger())
        corpus_cache.keep(key, cases)
    return cases


def _read(paths: list[Path], rules: Ledger) -> list[Case]:
    cases: list[Case] = []
    seen: dict[str, Case] = {}
    for file, name in find_files(paths):
        for case in load_file(file, name, rules):
            if case.id in seen:
                first = seen[case.id]
                raise VectorError(
                    f"case {case.id} is defined already at {first.file}:{first.line}; ids are unique",
                    file=file,
                    line=case.line,
                )
            seen[case.id] = case
            cases.append(case)
    return cases


def find_files(paths: list[Path]) -> Iterator[tuple[Path, str | None]]:
    """Vector files below the paths, with the topic that their place in a folder gives them.

    A file of a folder belongs to the corpus only if it begins with ``format:``; a file named
    by itself is always read, and may carry any topic.
    """
    for path in paths:
        if path.is_dir():
            files = [file for file in _yaml_files(path) if is_case_file(file)]
            if not files:
                raise VectorError("holds no vector file (a .yaml file that begins with format:)", file=path)
            for file in files:
                yield file, file.relative_to(path).with_suffix("").as_posix()
        elif path.exists():
            yield path, None
        else:
            raise VectorError("does not exist", file=path)


def _yaml_files(folder: Path) -> list[Path]:
    """YAML files below a folder, sorted; a folder that cannot be read is an error, never silence."""

    def refuse(error: OSError) -> None:
        raise VectorError(f"cannot be read: {error.strerror or error}", file=error.filename)

    found = []
    for here, folders, names in os.walk(folder, onerror=refuse):
        folders.sort()
        found += [Path(here, name) for name in names if name.endswith((".yaml", ".yml"))]
    return sorted(file for file in found if file.is_file())


def is_case_file(path: Path) -> bool:
    """Whether a YAML file is one of ours: its first line that says anything begins with ``format:``."""
    try:
        with path.open("rb") as stream:
            telling = (line for line in stream if line.strip() and not line.startswith(b"#"))
            first = next(telling, b"").removeprefix(b"\xef\xbb\xbf")
            return first.startswith((b"format:", b'"format":', b"'format':"))
    except OSError as error:
        raise VectorError(f"cannot be read: {error.strerror or error}", file=path) from None


def load_file(path: Path, topic: str | None = None, ledger: Ledger | None = None) -> list[Case]:
    """The cases of one file. ``topic``, where given, is what its place in the corpus demands."""
    document, lines = strict_yaml.load(path)
    wrong = schemas.fault("case-file", document)
    if wrong is not None:
        raise VectorError(str(wrong), file=path, line=lines.at(document, wrong.path))
    reader = _Reader(path, document, lines, ledger or load_ledger())
    if topic is not None and document["topic"] != topic:
        raise reader.error(f"topic is {document['topic']}, but the file's place says {topic}", document)
    return [reader.case(entry) for entry in document["cases"]]


@dataclass
class _Reader:
    """Turns the entries of one file into cases."""

    path: Path
    document: dict[str, Any]
    lines: Lines
    ledger: Ledger

    def error(self, message: str, value: Any) -> VectorError:
        return VectorError(message, file=self.path, line=self.lines.of(value))

    def case(self, entry: dict[str, Any]) -> Case:
        self.check_rules(entry)
        operation, capability, header = self.operation(entry)
        if "family" in entry:
            return self.family(operation, capability, header, entry)
        if operation.name == "backend":
            request = self.expand_backend(entry)
        else:
            request = self.expand(operation, header, entry)
        self.check_request(operation, request, entry)
        expect = self.expand_expect(operation, header, request, entry)
        self.check_expect(operation, request, expect, entry)
        line = {"op": operation.name, **header, "edition": self.document["edition"], **request}
        body = json_text.dump_ascii(line)[1:]
        if len(body) > json_text.MAX_LINE_BYTES - 32:
            raise self.fault_in(entry, "request is longer than 1 MiB")
        return self.made(operation, capability, entry, request, body, expect)

    def family(
        self, operation: Operation, capability: str, header: dict[str, Any], entry: dict[str, Any]
    ) -> Case:
        """A case of many requests. What is wrong with the first of them is wrong with all."""
        family = Family(**entry["family"], **entry["expect"])
        member = next(members(family.generator, family.parameters), None)
        if member is None:
            raise self.fault_in(entry, "family: makes no member", entry["family"])
        self.check_request(operation, member, {**entry, "request": entry["family"]})
        body = json_text.dump_ascii({"op": operation.name, **header, "edition": self.document["edition"]})[1:]
        request = {"family": entry["family"]}
        return self.made(operation, capability, entry, request, body, entry["expect"], family)

    def made(
        self,
        operation: Operation,
        capability: str,
        entry: dict[str, Any],
        request: dict[str, Any],
        body: str,
        written: dict[str, Any],
        family: Family | None = None,
    ) -> Case:
        return Case(
            id=entry["id"],
            topic=self.document["topic"],
            edition=self.document["edition"],
            op=operation.name,
            capability=capability,
            rules=tuple(entry["rules"]),
            why=entry.get("why"),
            seed=entry.get("seed"),
            evidence=entry.get("evidence", self.document["evidence"]),
            request=request,
            expect=expectation(written) if family is None else Expectation("family", ()),
            expect_written=written,
            body=body,
            file=str(self.path),
            line=self.lines.of(entry),
            digest=case_digest(self.document["edition"], capability, request, written),
            optional=self.document.get("optional", False),
            needs=tuple(self.document.get("needs", ())),
            family=family,
        )

    def fault_in(self, entry: dict[str, Any], message: str, value: Any = None) -> VectorError:
        return self.error(f"case {entry['id']}: {message}", entry if value is None else value)

    def check_rules(self, entry: dict[str, Any]) -> None:
        for rule in entry["rules"]:
            if rule not in self.ledger.rules:
                raise self.fault_in(
                    entry, f"unknown rule {rule}; spec/rules.yaml does not list it", entry["rules"]
                )

    def operation(self, entry: dict[str, Any]) -> tuple[Operation, str, dict[str, Any]]:
        name, _, variant = self.document["op"].partition("@")
        operation = OPERATIONS.get(name)
        if operation is None or bool(variant) != (operation.variant is not None):
            known = ", ".join(OPERATIONS)
            raise self.fault_in(entry, f"unknown operation {self.document['op']}; known are {known}")
        if operation.variant is None:
            return operation, name, {}
        value: Any = int(variant) if variant.isdigit() else variant
        return operation, f"{name}@{variant}", {operation.variant: value}

    def expand(self, operation: Operation, header: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
        try:
            if self.document["op"] in FILE_OPERATIONS:
                return expand_file(entry["request"])
            if operation.name in ROW_OPERATIONS:
                return expand_rows(header["schema"], expand_request(entry["request"]))
            return expand_request(entry["request"])
        except ShorthandError as error:
            raise self.fault_in(entry, f"request: {error}", entry["request"]) from None

    def expand_expect(
        self, operation: Operation, header: dict[str, Any], request: dict[str, Any], entry: dict[str, Any]
    ) -> dict[str, Any]:
        try:
            if operation.name in ROW_OPERATIONS:
                return expand_rows_expected(header["schema"], request, entry["expect"])
            expect = expand_expect(operation.name, request, entry["expect"])
            if operation.name in FILE_OPERATIONS:
                return expand_expected(entry["request"], expect)
            return expect
        except ShorthandError as error:
            raise self.fault_in(entry, f"expect: {error}", entry["expect"]) from None

    def expand_backend(self, entry: dict[str, Any]) -> dict[str, Any]:
        try:
            expand_logs(entry["expect"])
            request: dict[str, Any] = entry["request"]
            if not isinstance(request.get("steps"), list):
                return request
            return {**request, "steps": expand_batches(request["steps"])}
        except ShorthandError as error:
            raise self.fault_in(entry, str(error), entry["request"]) from None

    def check_request(self, operation: Operation, request: dict[str, Any], entry: dict[str, Any]) -> None:
        wrong = schemas.fault(f"op/{operation.name}#/$defs/request", request)
        if wrong is not None:
            raise self.fault_in(entry, f"request: {wrong}", entry["request"])
        reason = json_text.not_plain(request)
        if reason is not None:
            raise self.fault_in(entry, f"request: {reason}; write that member as NAME_text", entry["request"])
        self.check_texts(request, entry)

    def check_texts(self, holder: dict[str, Any], entry: dict[str, Any]) -> None:
        for name, value in holder.items():
            if name.endswith("_text"):
                try:
                    json_text.parse_exact(value)
                except json_text.NestingError:
                    pass  # deeper than we can look: such cases are about just that
                except json_text.JsonTextError as error:
                    raise self.fault_in(entry, f"{name} is not JSON: {error}") from None

    def check_expect(
        self, operation: Operation, request: dict[str, Any], written: dict[str, Any], entry: dict[str, Any]
    ) -> None:
        expect = expectation(written)
        if operation.stepwise != (expect.kind == "steps"):
            wanted = "steps" if operation.stepwise else "no steps"
            raise self.fault_in(entry, f"expect: {operation.name} takes {wanted}", entry["expect"])
        if expect.kind == "steps":
            self.check_steps(request, expect, entry)
            for step in expect.steps:
                self.check_alternatives(f"op/{operation.name}#/$defs/stepResult", step, entry)
        else:
            self.check_alternatives(f"op/{operation.name}#/$defs/result", expect, entry)
        reason = json_text.not_plain(written)
        if reason is not None:
            raise self.fault_in(entry, f"expect: {reason}; write that member as NAME_text", entry["expect"])

    def check_steps(self, request: dict[str, Any], expect: Expectation, entry: dict[str, Any]) -> None:
        steps = request["steps"] if "steps" in request else json_text.parse_exact(request["steps_text"])
        if not isinstance(steps, list) or len(steps) != len(expect.steps):
            asked = len(steps) if isinstance(steps, list) else "no"
            told = f"{asked} steps are asked and {len(expect.steps)} answers expected"
            raise self.fault_in(entry, f"expect: {told}", entry["expect"])
        if "steps_text" in request and any(isinstance(step, dict) and is_own(step) for step in steps):
            raise self.fault_in(entry, "steps_text holds a step of the suite's own", entry["request"])
        for index, step in enumerate(expect.steps):
            for alternative in step.alternatives:
                if any(type(named) is not int or named >= index for named in references(alternative.value)):
                    told = f"step {index} names a step that is not before it"
                    raise self.fault_in(entry, f"expect: {told}", entry["expect"])
        names = [next(iter(step), "") if isinstance(step, dict) else "" for step in steps]
        for late, early in (("amend", ("push", "pushValidated")), ("pushValidated", ("validate",))):
            if late in names and not any(name in early for name in names[: names.index(late)]):
                told = f"{late} needs a step {' or '.join(early)} before it"
                raise self.fault_in(entry, told, entry["request"])

    def check_alternatives(self, schema: str, expect: Expectation, entry: dict[str, Any]) -> None:
        for alternative in expect.alternatives:
            if alternative.kind == "result":
                wrong = schemas.fault(schema, alternative.value)
                if wrong is not None:
                    raise self.fault_in(entry, f"expect: {wrong}", entry["expect"])
                self.check_texts(alternative.value, entry)
            elif alternative.kind == "rejected":
                condition = alternative.value.get("condition")
                if condition is not None and condition not in self.ledger.conditions:
                    told = f"unknown condition {condition}; spec/rules.yaml does not list it"
                    raise self.fault_in(entry, told, entry["expect"])
