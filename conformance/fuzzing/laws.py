"""Laws: what must hold between the answers of one implementation, whatever another one says.

A law makes an input, a plain JSON value that can be kept in a file, and asks several questions about it.
Each check is a generator: it yields a question, is sent the answer, and returns what is wrong, or None.
Where the input is refused, and the law is about accepted ones, nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from conformance.compare import first_difference
from conformance.fuzzing import cells, faults, interrupted, logs
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.messages import LOG_ONLY
from conformance.fuzzing.spelling import Members, Spelled
from conformance.judge import plain_members
from conformance.protocol import Answer

Question = tuple[str, Members]
"""A capability and the members of a request."""
Check = Generator[Question, Answer, str | None]
Input = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Law:
    """One law. ``rules`` are those that it follows from, ``needs`` the capabilities that it asks."""

    name: str
    says: str
    rules: tuple[str, ...]
    needs: frozenset[str]
    make: Callable[[Draw], Input]
    check: Callable[[Input], Check]


def result_of(answer: Answer) -> dict[str, Any] | None:
    """The members of a result, or None for any other answer."""
    return plain_members(answer.value) if answer.kind == "result" else None


def differs(what: str, one: Any, other: Any) -> str | None:
    """What is wrong where two values should be the same."""
    difference = first_difference({what: one}, {what: other})
    if difference is None:
        return None
    return f"{difference.path}: {difference.expected!r} and {difference.found!r}"


def events(value: list[Any]) -> Members:
    return {"events": Spelled(value)}


def step_of(answer: Answer, place: int) -> dict[str, Any]:
    """The answer to one step of a script, as it was given; ``{}`` where there is none."""
    found = result_of(answer)
    steps = found.get("steps") if found is not None else None
    if not isinstance(steps, list) or not -len(steps) <= place < len(steps):
        return {}
    return steps[place] if isinstance(steps[place], dict) else {}


def last_step(answer: Answer) -> dict[str, Any]:
    """The answer to the last step of a script."""
    return step_of(answer, -1)


# -- the view ------------------------------------------------------------------------


def any_log(draw: Draw) -> Input:
    log = logs.valid_log(draw) if draw.chance(60) else faults.nearly_valid_log(draw)
    return {"events": log, "reads": [draw.integer(0, len(log)) for _ in draw.repeat(2)]}


def pushes(log: list[Any], reads: list[int]) -> Members:
    """A script that pushes a log, reads before those places, and at the end."""
    steps: list[Any] = []
    for place, event in enumerate(log):
        if place in reads:
            steps.append({"observe": True})
        steps.append({"push": event})
    return {"baseSeq": 0, "steps": Spelled([*steps, {"observe": True}])}


def check_incremental(given: Input) -> Check:
    whole = yield "fold", events(given["events"])
    read = last_step((yield "surface.live", pushes(given["events"], given["reads"])))
    folded = result_of(whole)
    if folded is None:
        refused = whole.kind == "rejected" and "rejected" not in read
        return "the whole fold refuses, the view does not" if refused else None
    if "result" not in read:
        return f"the whole fold accepts, the view answers {read}"
    found = plain_members(read["result"])
    return differs("nodes", folded.get("nodes"), found.get("nodes")) or differs(
        "replaceGeneration", folded.get("replaceGeneration"), found.get("replaceGeneration")
    )


def check_chunked(given: Input) -> Check:
    every = list(range(len(given["events"]) + 1))
    once = last_step((yield "surface.live", pushes(given["events"], [])))
    often = last_step((yield "surface.live", pushes(given["events"], every)))
    if "rejected" in once and "rejected" in often:
        return None
    return differs("observed", once, often)


def check_refused_place(given: Input) -> Check:
    """A refusal at a place: what is before it is accepted, and what is behind it does not matter."""
    whole = yield "fold", events(given["events"])
    at = whole.value.get("at") if whole.kind == "rejected" else None
    if at is None:
        return None
    before = yield "fold", events(given["events"][:at])
    if before.kind != "result":
        return f"refused at {at}, yet the events before it are not accepted"
    upto = yield "fold", events(given["events"][: at + 1])
    if upto.kind != "rejected":
        return f"refused at {at}, yet accepted without what follows"
    return differs("condition", whole.value.get("condition"), upto.value.get("condition"))


# -- sessions and messages -----------------------------------------------------------


def valid(draw: Draw) -> Input:
    return {"events": logs.valid_log(draw)}


def check_replay(given: Input) -> Check:
    members = ("type", "data", "surfaceOp", "sourceEventSeqs")
    steps: list[Any] = [
        {"append": {name: event[name] for name in members if name in event}} for event in given["events"]
    ]
    steps.append({"observe": ["nodes", "messages", "events"]})
    read = last_step((yield "session.live", {"steps": Spelled(steps)}))
    if "result" not in read:
        return f"the session cannot be read: {read}"
    found = plain_members(read["result"])
    derived = result_of((yield "messages", events(found["events"])))
    if derived is None:
        return "the log of the session is refused"
    return differs("messages", found["messages"], derived.get("messages"))


def check_messages(given: Input) -> Check:
    folded = result_of((yield "fold", events(given["events"])))
    derived = result_of((yield "messages", events(given["events"])))
    if folded is None or derived is None:
        return None if folded is derived else "one of fold and messages refuses a valid log"
    wanted = []
    for seq in folded["nodes"][:12]:
        projected = result_of((yield "project", {"event": Spelled(given["events"][int(seq)])}))
        if projected is not None and projected["message"] is not None:
            wanted.append(projected["message"])
    return differs("messages", wanted, derived["messages"][: len(wanted)])


def noisy(draw: Draw) -> Input:
    log = logs.valid_log(draw)
    noise = [draw.integer(0, len(log)) for _ in draw.repeat(3)]
    return {"events": log, "noise": noise, "kind": draw.integer(0, len(LOG_ONLY) - 1)}


def with_noise(log: list[Any], places: list[int], kind: int) -> list[Any]:
    """The same log with log-only events before those places, and all seqs moved on as that needs."""
    moved: list[int] = []
    found: list[Any] = []
    for place in range(len(log) + 1):
        for _ in range(places.count(place)):
            name, data = LOG_ONLY[kind]
            found.append({"type": name, "seq": len(found), "time": 0, "data": data})
        if place < len(log):
            event = dict(log[place])
            event["seq"] = len(found)
            moved.append(len(found))
            if isinstance(event.get("surfaceOp"), dict):
                marker = event["surfaceOp"]
                event["surfaceOp"] = {
                    **marker, "start": moved[marker["start"]], "end": moved[marker["end"]],
                }  # fmt: skip
            if "sourceEventSeqs" in event:
                event["sourceEventSeqs"] = [moved[seq] for seq in event["sourceEventSeqs"]]
            found.append(event)
    return found


def check_noise(given: Input) -> Check:
    plain = result_of((yield "messages", events(given["events"])))
    noise = with_noise(given["events"], given["noise"], given["kind"])
    noised = result_of((yield "messages", events(noise)))
    if plain is None or noised is None:
        return (
            None if plain is noised else "the log is accepted with or without log-only events, not both ways"
        )
    return differs("messages", plain["messages"], noised["messages"])


# -- replace and window --------------------------------------------------------------


def check_order(given: Input) -> Check:
    """The nodes that an event does not touch stay, in their order."""
    log = given["events"]
    if not log:
        return None
    before = result_of((yield "fold", events(log[:-1])))
    after = result_of((yield "fold", events(log)))
    if before is None or after is None:
        return None
    left = set(after["nodes"])
    stayed = [node for node in before["nodes"] if node in left]
    known = set(before["nodes"])
    wrong = differs("nodes", stayed, [node for node in after["nodes"] if node in known])
    gone = len(before["nodes"]) - len(stayed)
    replaced = after["replaceGeneration"] - before["replaceGeneration"]
    if wrong is None and gone and replaced != 1:
        return f"{gone} nodes are gone, and {replaced} replaces are counted"
    return wrong


def two_parts(draw: Draw) -> Input:
    first = logs.valid_draft(draw, average=4).events
    second = logs.valid_draft(draw, len(first), average=5).events
    return {"events": first, "suffix": second}


def check_window(given: Input) -> Check:
    first, second = given["events"], given["suffix"]
    before = result_of((yield "fold", events(first)))
    whole = result_of((yield "fold", events(first + second)))
    window = result_of((yield "window", {"baseSeq": len(first), **events(second)}))
    if before is None or whole is None or window is None:
        return "a valid log or window is refused"
    return differs("nodes", whole["nodes"], before["nodes"] + window["nodes"]) or differs(
        "replaceGeneration",
        whole["replaceGeneration"],
        before["replaceGeneration"] + window["replaceGeneration"],
    )


# -- repair and storage --------------------------------------------------------------


def broken_off(draw: Draw) -> Input:
    whole = not draw.chance(50)
    return {"events": interrupted.cut_session(draw) if whole else interrupted.lifecycle_log(draw)}


def check_repair(given: Input) -> Check:
    log = given["events"]
    found = result_of((yield "closers", events(log)))
    if found is None:
        return None
    repaired = log + found["closers"]
    again = result_of((yield "closers", events(repaired)))
    if again is None or again["closers"]:
        return f"the repaired log has closers: {again}"
    before = yield "fold", events(log)
    after = yield "fold", events(repaired)
    if before.kind == "result" and after.kind != "result":
        return f"the log folds, and with its closers it does not: {after.value}"
    return None


def seqs(draw: Draw) -> Input:
    return {"values": cells.seq_list(draw)}


def round_trip(schema: int) -> Callable[[Input], Check]:
    """A list that was written is read again."""

    def check(given: Input) -> Check:
        written = result_of((yield f"seqs.encode@{schema}", {"values": given["values"]}))
        if written is None:
            return "a list of seqs is refused"
        row = {} if schema == 15 else {"rowSeq": len(given["values"])}
        read = yield f"seqs.decode@{schema}", {**written, **row}
        found = result_of(read)
        return (
            f"refused: {read.value}" if found is None else differs("values", given["values"], found["values"])
        )

    return check


def law(
    name: str,
    says: str,
    rules: str,
    needs: str,
    make: Callable[[Draw], Input],
    check: Callable[[Input], Check],
) -> Law:
    return Law(name, says, tuple(rules.split()), frozenset(needs.split()), make, check)


SURFACE_LAWS: tuple[Law, ...] = (
    law(
        "incremental", "a view that catches up equals the whole fold", "VIEW-1 VIEW-2",
        "fold surface.live", any_log, check_incremental,
    ),
    law(
        "chunked", "how often a view is read changes nothing", "VIEW-2",
        "surface.live", any_log, check_chunked,
    ),
    law(
        "refused-place", "the events before a refusal are accepted", "FOLD-1 FOLD-4",
        "fold", any_log, check_refused_place,
    ),
    law(
        "replay", "the log of a session gives its messages again", "SESS-5 SESS-6",
        "session.live messages", valid, check_replay,
    ),
    law(
        "projected", "messages are the projections of the nodes", "PROJ-8",
        "fold messages project", valid, check_messages,
    ),
    law(
        "noise", "log-only events change no message", "FOLD-3 PROJ-5",
        "messages", noisy, check_noise,
    ),
    law(
        "order", "nodes that are not replaced stay in order", "REPL-4 REPL-8",
        "fold", valid, check_order,
    ),
    law(
        "window", "a window that names nothing before it is the end of the whole", "WIN-1",
        "fold window", two_parts, check_window,
    ),
    law(
        "repaired", "a repaired log has no closers, and folds if it did before", "CLOS-14",
        "closers fold", broken_off, check_repair,
    ),
    *(
        law(
            f"round-trip-{schema}", "what was written is read again", "SEQS-3",
            f"seqs.encode@{schema} seqs.decode@{schema}", seqs, round_trip(schema),
        )
        for schema in (15, 17, 19)
    ),
)  # fmt: skip
