"""Laws of stores: what was written is read again, and what was cut off takes nothing else with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.fuzzing import backends, chunks, interrupted, loading, log_lines, logs, rows
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.laws import Check, Input, differs, events, last_step, law, result_of, step_of
from conformance.fuzzing.spelling import Spelled, encode
from conformance.judge import plain_members
from conformance.protocol import Answer
from conformance.zstd_frames import frame_of

HEADER_LINE = encode(log_lines.HEADER)


def same_or_refused(what: str, one: Answer, other: Answer) -> str | None:
    """What is wrong where two answers should be the same result, or the same refusal."""
    found, again = result_of(one), result_of(other)
    if found is None or again is None:
        return differs(what, one.value.get("condition"), other.value.get("condition"))
    return differs(what, found, again)


# -- rows of SQLite ------------------------------------------------------------------


def row_batch(draw: Draw) -> Input:
    return {"events": rows.batch(draw, marks=False)}


def written_rows(schema: int) -> Callable[[Input], Check]:
    """The rows of a batch, read one by one and as a log, are its events."""

    def check(given: Input) -> Check:
        batch = given["events"]
        written = result_of((yield f"rows.encode@{schema}", events(batch)))
        if written is None:
            return "a batch is refused"
        read: list[Any] = []
        for row in written["rows"][:8]:
            found = result_of((yield f"rows.decode@{schema}", {"row": row}))
            if found is None or "events" not in found:
                return f"a row that was written is not read: {row}"
            read += found["events"]
        wrong = differs("events", batch[: len(read)], read)
        base = batch[0]["seq"] if batch else 0
        log = result_of((yield f"rows.scan@{schema}", {"rows": written["rows"], "base": base}))
        if log is None:
            return wrong or "the rows that were written are refused as a log"
        return wrong or differs("log", {"events": batch, "tornFrom": None}, log)

    return check


def part_of_rows(schema: int) -> Callable[[Draw], Input]:
    """Rows without damage before their end, and how many of them are kept."""

    def make(draw: Draw) -> Input:
        whole = rows.log_of_rows(draw, schema, 0, holes=4, gaps=0)
        return {"rows": whole, "kept": draw.integer(0, len(whole))}

    return make


def two_parts(schema: int) -> Callable[[Input], Check]:
    """A log that is read whole is read in two parts as well, the second from where the first ends."""

    def check(given: Input) -> Check:
        kept = given["kept"]
        whole = result_of((yield f"rows.scan@{schema}", {"rows": given["rows"], "base": 0}))
        if whole is None or whole.get("tornFrom") is not None or "events" not in whole:
            return None
        first = result_of((yield f"rows.scan@{schema}", {"rows": given["rows"][:kept], "base": 0}))
        if first is None:
            return "a log is read, and its first rows alone are refused"
        rest = {"rows": given["rows"][kept:], "base": len(first["events"])}
        second = result_of((yield f"rows.scan@{schema}", rest))
        if second is None:
            return "a log is read, and its last rows alone are refused"
        torn = differs("tornFrom", [None, None], [first["tornFrom"], second["tornFrom"]])
        return torn or differs("events", whole["events"], first["events"] + second["events"])

    return check


# -- chunks --------------------------------------------------------------------------


def chunk_batch(draw: Draw) -> Input:
    """A batch without an event that has the type of a row: nobody could tell it from one."""
    return {"events": [event for event in rows.batch(draw) if event["type"] not in chunks.ROWS]}


def packed(store: str) -> Callable[[Input], Check]:
    """The records of a batch, unpacked, are its events."""

    def check(given: Input) -> Check:
        found = result_of((yield f"chunks.pack@{store}", events(given["events"])))
        if found is None:
            return "a batch is refused"
        read: list[Any] = []
        for record in found["records"][:8]:
            members = result_of((yield f"chunks.unpack@{store}", {"record": Spelled(record)}))
            if members is None:
                return f"a record that was packed is not unpacked: {record}"
            read += members["events"]
        return differs("events", given["events"][: len(read)], read)

    return check


# -- files of JSON lines -------------------------------------------------------------


def whole_file(draw: Draw) -> Input:
    """A log that is read, and where its file is cut."""
    log = interrupted.cut_session(draw) if draw.chance(60) else logs.valid_log(draw)
    lines = [HEADER_LINE, *(encode(event) for event in log)]
    content = "".join(f"{line}\n" for line in lines).encode()
    return {"hex": content.hex(), "cut": draw.integer(len(HEADER_LINE) + 1, len(content))}


def check_cut_file(given: Input) -> Check:
    """A file that is cut behind its header gives the events of whole lines, and tells the rest as torn."""
    content = bytes.fromhex(given["hex"])
    part = content[: given["cut"]]
    whole = result_of((yield "jsonl.scan", {"hex": content.hex(), "compression": "none"}))
    read = result_of((yield "jsonl.scan", {"hex": part.hex(), "compression": "none"}))
    if whole is None or read is None:
        return "a log, or the beginning of one, is refused"
    kept = part.rfind(b"\n") + 1
    wrong = differs("events", whole["events"][: part.count(b"\n") - 1], read["events"])
    return wrong or differs("tornFrom", kept if kept < len(part) else None, read["tornFrom"])


def any_file(draw: Draw) -> Input:
    return {"lines": loading.lines_of(draw)}


def check_framed(given: Input) -> Check:
    """A log whose lines are all kept loads from one frame a line as it does from a plain file."""
    lines = [f"{line}\n".encode() for line in given["lines"]]
    frames = b"".join(frame_of(line) for line in lines)
    file = {"hex": b"".join(lines).hex(), "compression": "none"}
    scanned = result_of((yield "jsonl.scan", file))
    if scanned is not None and scanned["tornFrom"] is not None:
        return None  # complete frames hold no torn lines
    plain = yield "jsonl.load", {**file, "sessionId": "s"}
    framed = yield "jsonl.load", {"hex": frames.hex(), "compression": "zstd", "sessionId": "s"}
    return same_or_refused("loaded", plain, framed)


def check_loaded(given: Input) -> Check:
    """What is loaded is what was scanned, brought up to date, with the closers of that."""
    content = "".join(f"{line}\n" for line in given["lines"]).encode()
    file = {"hex": content.hex(), "compression": "none"}
    loaded = result_of((yield "jsonl.load", {**file, "sessionId": "s"}))
    if loaded is None:
        return None
    scanned = result_of((yield "jsonl.scan", file))
    if scanned is None:
        return "a log is loaded, and its scan is refused"
    current = result_of((yield "normalise", {"sessionId": "s", "events": Spelled(scanned["events"])}))
    if current is None:
        return "a log is loaded, and its shapes are refused"
    ending = result_of((yield "closers", events(loaded["events"])))
    return (
        differs("events", current["events"], loaded["events"])
        or differs("tornFrom", scanned["tornFrom"], loaded["tornFrom"])
        or differs("closers", None if ending is None else ending["closers"], loaded["closers"])
    )


# -- backends ------------------------------------------------------------------------


def kept_log(draw: Draw) -> Input:
    log, _ = backends.log_of(draw)
    return {"events": log, "places": [draw.integer(0, len(log)) for _ in draw.repeat(2)]}


def check_batches(given: Input) -> Check:
    """A log that is appended in pieces is the log that is appended at once, if that is taken."""
    log, places = given["events"], sorted(given["places"])
    start: list[Any] = [{"create": {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}}]
    read: list[Any] = [{"reopen": True}, {"readFrom": {"id": "s", "from": 0}}]
    pieces = [log[one:other] for one, other in zip([0, *places], [*places, len(log)], strict=True)]
    whole = yield "backend", {"steps": [*start, appended(log), *read]}
    if "rejected" in step_of(whole, 1):
        return None  # of a batch that is refused nothing is stored, of the pieces before it all
    once = last_step(whole)
    often = last_step((yield "backend", {"steps": [*start, *map(appended, pieces), *read]}))
    return differs("read", plain_step(once), plain_step(often))


def check_looked_at(given: Input) -> Check:
    """An inspection shows what the load behind it stores."""
    steps: list[Any] = [
        {"create": {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}},
        appended(given["events"]),
        {"reopen": True},
        {"inspect": "s"},
    ]
    seen = last_step((yield "backend", {"steps": steps}))
    loaded = last_step((yield "backend", {"steps": [*steps, {"load": "s"}]}))
    if "result" not in loaded:
        return differs("inspected", plain_step(loaded), plain_step(seen))
    stored_now = last_step(
        (yield "backend", {"steps": [*steps, {"load": "s"}, {"reopen": True}, {"inspect": "s"}]})
    )
    return differs("inspected", plain_step(loaded), plain_step(seen)) or differs(
        "stored", plain_step(loaded), plain_step(stored_now)
    )


def appended(log: list[Any]) -> dict[str, Any]:
    return {"append": {"id": "s", "events": log}}


def plain_step(step: dict[str, Any]) -> Any:
    """A step's result by its members, or the condition of its refusal."""
    if "result" in step:
        return plain_members(step["result"])
    return step.get("rejected", {}).get("condition", step)


STORAGE_LAWS = (
    *(
        law(
            f"rows-{schema}", "rows that were written are read again, alone and as a log", "ROWS-1 TAIL-1",
            f"rows.encode@{schema} rows.decode@{schema} rows.scan@{schema}", row_batch, written_rows(schema),
        )
        for schema in (15, 17, 19, 20)
    ),
    *(
        law(
            f"rows-in-parts-{schema}", "a log that is read in two parts is the log", "TAIL-1 TAIL-3",
            f"rows.scan@{schema}", part_of_rows(schema), two_parts(schema),
        )
        for schema in (15, 17, 19, 20)
    ),
    *(
        law(
            f"packed-{store}", "what was packed is unpacked again", "CHNK-12",
            f"chunks.pack@{store} chunks.unpack@{store}", chunk_batch, packed(store),
        )
        for store in ("jsonl", "sqlite")
    ),
    law(
        "cut-file", "a file that is cut loses the line at the cut, and what is behind it", "JSNL-11 JSNL-14",
        "jsonl.scan", whole_file, check_cut_file,
    ),
    law(
        "framed", "a log in frames loads as a plain one", "ZSTD-1",
        "jsonl.load jsonl.scan", any_file, check_framed,
    ),
    law(
        "loaded", "a load is a scan, brought up to date, with its closers", "LOAD-1 LOAD-6 LOAD-9",
        "jsonl.load jsonl.scan normalise closers", any_file, check_loaded,
    ),
    law(
        "batches", "how a log is cut into batches changes nothing", "BACK-1 BACK-8",
        "backend", kept_log, check_batches,
    ),
    law(
        "inspected", "an inspection shows what a load stores", "BACK-13 BACK-15 BACK-19",
        "backend", kept_log, check_looked_at,
    ),
)  # fmt: skip
