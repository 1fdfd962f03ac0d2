"""From a saved difference to a case of the corpus, with what its expectation rests on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from conformance import strict_yaml
from conformance.corpus import FORMAT, load_corpus, load_file
from conformance.errors import UsageError, VectorError
from conformance.files import write_whole
from conformance.fuzzing.comparing import compare, conditions, steps_of
from conformance.fuzzing.findings import Document, Finding, answer_in
from conformance.fuzzing.readable import lines_of, on_one_line
from conformance.fuzzing.replaying import Tables, body_in
from conformance.fuzzing.spelling import EDITION
from conformance.json_text import dump_ascii, not_plain
from conformance.ledger import Ledger
from conformance.operations import OPERATIONS
from conformance.protocol import Answer
from conformance.resources import vectors_dir

PUBLISHED = "@deepseek-ai/dsh-session"
TOPIC = re.compile(r"[a-z0-9-]+")
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Promotion:
    """What a person says of a new case: its permanent id, the mistake that it catches, what it rests on.

    ``right`` names the adapter that is right, ``rules`` what it shows where no refusal tells.
    """

    id: str
    why: str
    facts: str | None = None
    rules: tuple[str, ...] = ()
    right: str = "reference"


def case_of(finding: Finding, promotion: Promotion, tables: Tables, ledger: Ledger) -> Entry:
    """The entry of a vector file. Raises UsageError where something is missing that only a person knows."""
    document = finding.document
    if finding.is_law:
        raise UsageError(
            "a broken law is several questions; write a case for the answer that is wrong among them"
        )
    answer = tables.ask(promotion.right, body_in(document))
    if answer.kind not in ("result", "rejected"):
        raise UsageError(f"{promotion.right} answers {answer.kind}, which no case can expect: {answer.value}")
    return {
        "id": promotion.id,
        "rules": list(promotion.rules or rules_shown(answer, ledger)),
        "why": promotion.why,
        "evidence": evidence_for(document, answer, promotion, ledger),
        "request": document["request"],
        "expect": expectation_of(document["capability"], answer),
    }


def rules_shown(answer: Answer, ledger: Ledger) -> list[str]:
    """The rule whose condition is answered."""
    refusals = [answer] if answer.kind == "rejected" else []
    if answer.kind == "result":
        refusals = [step for step in steps_of(answer) if step.kind == "rejected"]
    found = {
        ledger.conditions[name].id
        for each in refusals
        for name in conditions(each, ledger)
        if name in ledger.conditions
    }
    if not found:
        raise UsageError("no refusal tells which rule the case is about; name it with --rule")
    return sorted(found)


def evidence_for(document: Document, answer: Answer, promotion: Promotion, ledger: Ledger) -> Entry:
    """The published package, where it gives the same answer; else what the person says it rests on."""
    op = document["capability"].partition("@")[0]
    for entry in document["answers"]:
        if (
            entry["implementation"]["name"] == PUBLISHED
            and compare(op, answer, answer_in(entry), ledger) is None
        ):
            return {"dsh": entry["implementation"]["version"]}
    if promotion.facts is None:
        raise UsageError(
            "no second source gives this answer: the published package was not asked, or differs;"
            " say what the expectation rests on with --facts"
        )
    return {"facts": promotion.facts}


def expectation_of(capability: str, answer: Answer) -> Entry:
    """An answer as what a case expects."""
    operation = OPERATIONS[capability.partition("@")[0]]
    if operation.stepwise and answer.kind == "result":
        return {"steps": [expected(step, tokens=operation.tokens) for step in steps_of(answer)]}
    return expected(answer, tokens=False)


def expected(answer: Answer, *, tokens: bool) -> Entry:
    """One answer, without the text of a refusal, and with a token for each time of the clock."""
    if answer.kind == "rejected":
        return {
            "rejected": {name: answer.value[name] for name in ("condition", "at") if name in answer.value}
        }
    if answer.kind != "result":
        raise UsageError(f"a step is answered {answer.kind}, which no case can expect: {answer.value}")
    return {"result": plainly({**answer.value, **timeless(answer.value)} if tokens else answer.value)}


def timeless(result: Entry) -> Entry:
    """The observed events with a token for their times."""
    if not isinstance(result.get("events"), list):
        return {}
    return {"events": [{**event, "time": {"$any": "time"}} for event in result["events"]]}


def plainly(result: Entry) -> Entry:
    """A result whose members that are not plain are written as text."""
    return {
        (name if not_plain(value) is None else f"{name}_text"): (
            value if not_plain(value) is None else dump_ascii(value)
        )
        for name, value in result.items()
    }


def as_yaml(entry: Entry) -> str:
    """The entry as one item of ``cases``, each event and each step on a line of its own."""
    lines = []
    for name, value in entry.items():
        if name in ("request", "expect"):
            lines.append(f"{name}:")
            lines += [f"  {line}" for line in lines_of(value)]
        else:
            lines.append(f"{name}: {on_one_line(value)}")
    return "".join(f"{'  - ' if place == 0 else '    '}{line}\n" for place, line in enumerate(lines))


def put_into(file: Path, entry: Entry, capability: str, ledger: Ledger) -> None:
    """Put the case at the end of a vector file, or into a new one. If it is not sound, all stays as it was.

    Raises UsageError or VectorError.
    """
    before = read(file) if file.exists() else None
    own = [] if before is None else load_file(file, ledger=ledger)
    for case in [*own, *load_corpus(ledger=ledger)]:
        if case.id == entry["id"]:
            raise UsageError(
                f"case {case.id} is defined already at {case.file}:{case.line}; ids are permanent and unique"
            )
    text = head_of(file, entry, capability) if before is None else before.rstrip("\n") + "\n"
    document = yaml.safe_load(text)
    if document["op"] != capability:
        raise UsageError(
            f"{file} holds cases of {document['op']}, and this is one of {capability}; a file has one"
            " operation, so name another --into: one that is not there yet is written with its head"
        )
    shared = document["evidence"] == entry["evidence"]
    written = {name: value for name, value in entry.items() if name != "evidence" or not shared}
    write_whole(file, text + as_yaml(written))
    try:
        load_file(file, ledger=ledger)
    except BaseException:
        if before is None:
            file.unlink()
        else:
            write_whole(file, before)
        raise


def read(file: Path) -> str:
    """A vector file as it is. Raises VectorError where it is no YAML, UsageError where it has no case."""
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise VectorError(f"cannot be read: {error.strerror or error}", file=file) from None
    document, _ = strict_yaml.load(file)
    if isinstance(document, dict) and "cases" in document and not document["cases"]:
        raise UsageError(f"{file} has no case yet; remove it, and it is written anew, with its head")
    return text


def head_of(file: Path, entry: Entry, capability: str) -> str:
    """What a new vector file begins with. What the case rests on is the evidence of the file."""
    head = {
        "format": FORMAT,
        "topic": topic_of(file, capability),
        "about": f"Differences that fuzz found in {capability}.",
        "edition": EDITION,
        "op": capability,
        "evidence": entry["evidence"],
    }
    return "".join(f"{name}: {on_one_line(value)}\n" for name, value in head.items()) + "cases:\n"


def topic_of(file: Path, capability: str) -> str:
    """In the corpus of this package the place of the file; elsewhere its name, or the operation's."""
    place = file.resolve().with_suffix("")
    if place.is_relative_to(vectors_dir().resolve()):
        return place.relative_to(vectors_dir().resolve()).as_posix()
    return place.name if TOPIC.fullmatch(place.name) else re.sub(r"[^a-z0-9]+", "-", capability)
