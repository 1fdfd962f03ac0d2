"""How examples of the pages are written, put to the reference, and compared with what it says.

A ``jsonc`` block holds one or more examples. Each begins with a comment

    // OPERATION [at BASE] → ANSWER

and the lines below it hold one event each. In a stepwise operation the lines hold one step each, followed
by `` // → ANSWER`` of that step, and the heading has no answer. For the sequence codec
the one line is a list, or the hex of a cell whose row's seq is BASE. Of chunk rows a packed batch is told
as its rows, and the seqs of events between them; an expanded row as seq, time and text of each event. For
``admit`` and ``fork`` a line without a ``type`` holds other members of the request, and the first line of
``session.live`` may hold the seed. For a scan the lines are the lines of the file, or its frames in the
shorthand of the cases; its answer is the seqs of the events, and where the file is torn. ``expectation``
reads the answers.
"""

from __future__ import annotations

import json
import re
import tempfile
from dataclasses import dataclass
from typing import Any

import page_rows

from conformance.adapters.reference import answer
from conformance.compare import first_difference
from conformance.file_contents import expand_file
from conformance.json_text import parse_exact

STORES = tempfile.TemporaryDirectory(prefix="session-conformance-")
"""Goes with the process: a folder for the stores of examples."""

BLOCK = re.compile(r"^```jsonc\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"// (?P<op>[a-z][a-z.-]*(?:@[a-z0-9]+)?)(?: at (?P<base>\d+))?(?: → (?P<says>.+))?")
REFUSED = re.compile(r"refused: (?P<condition>[a-z0-9-]+)(?:, at (?P<at>\d+))?")
SURFACE = re.compile(
    r"nodes (?P<nodes>\[.*?\]), generation (?P<generation>\d+)(?:, shadowed (?P<shadowed>.+))?"
)
SESSION = re.compile(r"(?P<events>\d+) events?, first live (?P<first>\d+)(?:, header (?P<header>\{.*\}))?")
TORN_LINE = re.compile(r"torn from line (\d+)")
NO_LINE_FEED = " // no line feed"
TRANSCRIPT = re.compile(r"seqs (?P<seqs>\[.*?\]), messages (?P<messages>\[.*\])")
ONE_EVENT = {"project", "classify"}
SEED = '{"seed":'
STEPWISE = {"surface.live", "session.live", "backend"}
MAKE_SESSIONS = ("admit@", "fork")
READ_LOGS = ("normalise", "jsonl.load")
QUESTIONS = ("eligible", "surface", "append", "replacement")
LISTS_OF_MESSAGES = {"messages", "messages.linear-fallback", "tutorial"}


@dataclass(frozen=True)
class Example:
    """One example: where it stands, its operation, what its heading says, and its lines."""

    place: str
    op: str
    base: int | None
    says: str | None
    lines: tuple[str, ...]


def examples_of(text: str, name: str) -> list[Example]:
    """All examples of a page. Fails on a block that does not keep to the convention."""
    found: list[Example] = []
    for block in BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        lines = block.group(1).splitlines()
        starts = [index for index, line in enumerate(lines) if line.startswith("//")]
        assert starts[:1] == [0], f"{name}:{first}: a block of examples begins with its heading"
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            place = f"{name}:{first + start}"
            heading = HEADING.fullmatch(lines[start])
            assert heading, f"{place}: no heading of an example: {lines[start]}"
            body = tuple(line for line in lines[start + 1 : end] if line.strip())
            base = heading["base"]
            found.append(Example(place, heading["op"], int(base) if base else None, heading["says"], body))
    return found


def request_of(example: Example) -> dict[str, Any]:
    """The request that the lines of an example stand for; members go as text, so -0 and the like survive."""
    if example.op.startswith("seqs."):
        return seqs_request_of(example)
    if example.op.startswith("chunks."):
        op, store = example.op.split("@")
        member = f"[{','.join(example.lines)}]" if op == "chunks.pack" else "".join(example.lines)
        name = "events_text" if op == "chunks.pack" else "record_text"
        return {"op": op, "edition": "v0", "store": store, name: member}
    if example.op.startswith(MAKE_SESSIONS):
        return session_request_of(example)
    if example.op in READ_LOGS:
        return stored_request_of(example)
    if example.op.startswith("jsonl."):
        return jsonl_request_of(example)
    if example.op.startswith("rows."):
        return page_rows.request(example.op, example.base, example.lines)
    request: dict[str, Any] = {"op": example.op, "edition": "v0"}
    if example.base is not None:
        request["baseSeq"] = example.base
    if example.op == "backend":
        request["root"] = tempfile.mkdtemp(dir=STORES.name)
    if example.op in STEPWISE:
        request["steps_text"] = f"[{','.join(step for step, _ in steps_of(example))}]"
        if example.lines[0].startswith(SEED):
            request |= json.loads(example.lines[0])
    elif example.op in ONE_EVENT:
        assert len(example.lines) == 1, f"{example.place}: one event belongs here"
        request["event_text"] = example.lines[0]
    elif example.op == "request-header.equal":
        request["left_text"], request["right_text"] = example.lines
    elif example.op == "tutorial":
        request["events"] = [json.loads(line) for line in example.lines]
    else:
        request["events_text"] = f"[{','.join(example.lines)}]"
    return request


def seqs_request_of(example: Example) -> dict[str, Any]:
    """A list to encode, or the hex of a cell to decode; the base of such an example is the row's seq."""
    assert len(example.lines) == 1, f"{example.place}: one list or one cell belongs here"
    op, schema = example.op.split("@")
    request: dict[str, Any] = {"op": op, "edition": "v0", "schema": int(schema)}
    if op == "seqs.encode":
        return {**request, "values_text": example.lines[0]}
    return {**request, "hex": json.loads(example.lines[0]), "rowSeq": example.base}


def session_request_of(example: Example) -> dict[str, Any]:
    """Lines with a type are the log; others hold members of the request, which is about a session s."""
    op, _, source = example.op.partition("@")
    values = [parse_exact(line) for line in example.lines]
    members = {name: value for each in values if "type" not in each for name, value in each.items()}
    events = [each for each in values if "type" in each]
    if events:
        members["events"] = events
    request: dict[str, Any] = {"op": op, "edition": "v0"}
    if op == "admit":
        request |= {"source": source, "sessionId": "s"}
        if source == "restored":
            members.setdefault("header", {"version": 0, "id": "s", "createdAt": 5})
    for name, value in members.items():
        spelled_as_text = name in ("header", "events", "boundary")
        request[f"{name}_text" if spelled_as_text else name] = json.dumps(value) if spelled_as_text else value
    return request


def stored_request_of(example: Example) -> dict[str, Any]:
    """The events of a session s as they are stored, or the lines of its file."""
    request: dict[str, Any] = {"op": example.op, "edition": "v0", "sessionId": "s"}
    if example.op == "normalise":
        return {**request, "events_text": f"[{','.join(example.lines)}]"}
    content = "".join(f"{line}\n" for line in example.lines)
    return {**request, "compression": "none", "hex": content.encode().hex()}


def jsonl_request_of(example: Example) -> dict[str, Any]:
    """The lines of a file, the last perhaps without its line feed; its frames; or a question about a path."""
    if example.op == "jsonl.path":
        return {"op": example.op, "edition": "v0", **json.loads("".join(example.lines))}
    if example.op == "jsonl.scan@zstd":
        file: dict[str, Any] = {"frames": [json.loads(line) for line in example.lines]}
    else:
        text = "".join(f"{line}\n" for line in example.lines)
        file = {"text": text.removesuffix(f"{NO_LINE_FEED}\n")}
    compression = "zstd" if example.op.endswith("@zstd") else "none"
    return {"op": "jsonl.scan", "edition": "v0", **expand_file({"compression": compression, **file})}


def steps_of(example: Example) -> list[tuple[str, str]]:
    """Each step with what its comment says."""
    pairs = []
    for line in example.lines[example.lines[0].startswith(SEED) :]:
        step, arrow, says = line.rpartition(" // → ")
        assert arrow, f"{example.place}: a step without its answer: {line}"
        pairs.append((step, says.strip()))
    return pairs


def expectation(op: str, says: str) -> dict[str, Any]:
    """What the words of a heading, or of a step's comment, mean as an answer."""
    if refused := REFUSED.fullmatch(says):
        told: dict[str, Any] = {"condition": refused["condition"]}
        return {"rejected": told if refused["at"] is None else {**told, "at": int(refused["at"])}}
    if surface := SURFACE.fullmatch(says):
        told = {"nodes": json.loads(surface["nodes"]), "replaceGeneration": int(surface["generation"])}
        if surface["shadowed"]:
            told["shadowed"] = [json.loads(each) for each in re.findall(r"\[.*?\]", surface["shadowed"])]
        return {"result": told}
    if op.startswith(MAKE_SESSIONS) and (made := SESSION.fullmatch(says)):
        told = {"events": int(made["events"]), "firstLiveSeq": int(made["first"])}
        return {"result": told | ({"header": json.loads(made["header"])} if made["header"] else {})}
    if op == "classify":
        words = set() if says == "none" else set(says.split(", "))
        assert words <= set(QUESTIONS), f"no such question: {says}"
        return {"result": {question: question in words for question in QUESTIONS}}
    if op == "transcript" and (shown := TRANSCRIPT.fullmatch(says)):
        return {"result": {"seqs": json.loads(shown["seqs"]), "messages": json.loads(shown["messages"])}}
    if op in STEPWISE and says == "done":
        return {"result": {}}
    if op.startswith("seqs.encode"):
        return {"result": {"hex": says}}
    if op.startswith("jsonl."):
        return {"result": {"told": says}}
    if op.startswith("rows."):
        return page_rows.expectation(op, says)
    if op.startswith("sqlite.open") and says == "opened":
        return {"result": {"opened": True}}
    value = parse_exact(says)
    if op == "normalise":
        return {"result": {"events": value}}
    if op.startswith("seqs.decode"):
        return {"result": {"values": value}}
    if op in ("request-header", "request-header.equal"):
        return {"result": {op.replace("request-", "").rpartition(".")[2]: value}}
    if op == "closers":
        return {"result": {"closers": value}}
    if op.startswith("chunks."):
        return {"result": {"told": value}}
    if op == "project":
        return {"result": {"message": value}}
    return {"result": {"messages": value} if op in LISTS_OF_MESSAGES else value}


def as_told(op: str, found: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """An answer, reduced to what a heading tells of it: no wording, and of replaces what they shadowed."""
    if "rejected" in found:
        kept = ("condition",) if op in STEPWISE else ("condition", "at")
        return {"rejected": {name: found["rejected"][name] for name in kept if name in found["rejected"]}}
    if op == "fold" and "result" in found:
        result = {name: found["result"][name] for name in ("nodes", "replaceGeneration")}
        if "shadowed" in expected.get("result", {}):
            result["shadowed"] = [each["shadowedSeqs"] for each in found["result"]["replacements"]]
        return {"result": result}
    if op.startswith("chunks.") and "result" in found:
        return {"result": {"told": chunks_as_told(**found["result"])}}
    if op.startswith(MAKE_SESSIONS) and "result" in found:
        told = {**found["result"], "events": len(found["result"]["events"])}
        for name in told.keys() - expected.get("result", {}).keys():
            del told[name]
        if "header" in told and "createdAt" not in expected["result"]["header"]:
            assert isinstance(told["header"].pop("createdAt"), int)
        return {"result": told}
    if op == "jsonl.load" and "result" in found:
        return {"result": {"told": load_as_told(**found["result"])}}
    if op == "jsonl.path" and "result" in found:
        return {"result": {"told": "/".join(found["result"].values())}}
    if op.startswith("jsonl.scan") and "result" in found:
        return {"result": {"told": scan_as_told(**found["result"])}}
    if op.startswith("rows.") and "result" in found:
        return {"result": page_rows.as_told(op, found["result"])}
    return found


def load_as_told(header: Any, events: list[Any], closers: list[Any], tornFrom: int | None) -> str:  # noqa: N803
    """The seqs of the events and of the closers, and whether the file is whole."""
    seqs, closing = ([event["seq"] for event in each] for each in (events, closers))
    return f"seqs {seqs}, closers {closing}, {'whole' if tornFrom is None else 'torn'}"


def scan_as_told(header: Any, events: list[Any], tornFrom: int | None) -> str:  # noqa: N803
    """Seqs, and the byte from which the file is torn; ``faults_of`` puts it into lines for a plain one."""
    torn = "whole" if tornFrom is None else f"torn from byte {tornFrom}"
    return f"seqs {[event['seq'] for event in events]}, {torn}"


def in_bytes(example: Example) -> str:
    """What a heading says, with the byte at which a line begins in place of the number of the line."""
    says = example.says or ""
    if found := TORN_LINE.search(says):
        before = "".join(f"{line}\n" for line in example.lines[: int(found[1])])
        return TORN_LINE.sub(f"torn from byte {len(before.encode())}", says)
    return says


def chunks_as_told(records: Any = None, events: Any = None) -> list[Any]:
    """Rows whole and other events as their seqs; or seq, time and text of each event."""
    if records is not None:
        return [record.get("seq", record) for record in records]
    chunks = [(event, event["data"]["chunk"]) for event in events]
    return [
        [event["seq"], event["time"], chunk.get("text", chunk.get("argumentsDelta"))]
        for event, chunk in chunks
    ]


def faults_of(example: Example) -> list[str]:
    """Everything in which the reference does not answer as the example says."""
    if example.op.startswith("sqlite.open"):
        found = page_rows.opened(example.op, example.lines)
    else:  # as it would arrive: plain lists and objects
        found = json.loads(json.dumps(answer(request_of(example))))
    if example.op not in STEPWISE:
        assert example.says, f"{example.place}: the heading gives no answer"
        pairs = [(in_bytes(example), found)]
    elif "result" in found:
        told = [says for _, says in steps_of(example)]
        pairs = list(zip(told, found["result"]["steps"], strict=True))
    else:
        return [f"{example.place}: {found}"]
    faults = []
    for says, each in pairs:
        expected = expectation(example.op, says)
        difference = first_difference(expected, as_told(example.op, each, expected))
        if difference is not None:
            faults.append(f"{example.place}: the page says {says!r}; the reference answers {each}")
    return faults
