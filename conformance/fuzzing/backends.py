"""Stories of a storage backend: sessions that are created, appended to, read, broken off, and read again.

A story has two sessions, whose logs are drawn in advance and appended in pieces. What the specification
leaves open is not drawn: headers always have a ``delegationDepth``, no id is created over a log of another
version, and a log with an event that nobody knows is read from its beginning.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.fuzzing import interrupted, logs, messages, sessions
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.loading import KNOWN, in_order
from conformance.fuzzing.logs import Event, LogDraft
from conformance.fuzzing.spelling import Members, Spelled, encode, raw

Step = dict[str, Any]

IDS = (("s", "t"), ("s", "S"), ("s", "../s"), ("%41", "A"), ("a b", "a_b"), ("会", "s"))
"""Ids that a store which names files by them must keep apart."""
HEADERS: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("cwd", ("/work", "/")),
    ("parentSession", ("p", "")),
    ("seedLength", (0, 3)),
    ("origin", ("subagent",)),
    ("delegationDepth", (2,)),
    ("agentPreset", ("plan", "")),
    ("createdAt", (0, 5, 1_755_072_000_000)),
)
NOT_TIMES: tuple[Any, ...] = (-1, 0.5, "1", None, True)
NOT_PLACES: tuple[Any, ...] = (-1, "0", True, None, 0.5, [])
RETIRED = ("mode/set", "request/header-delta")
TOO_LARGE_OR_LESS = (raw("-0"), raw("1e400"), raw("-1e400"))
"""Numbers that JSON text holds and no lossless value."""


@dataclass
class Session:
    """One session of a story, and what of its log the store should have by now."""

    id: str
    log: list[Any]
    version: int = 0
    stored: int = 0
    whole_only: bool = False
    """Whether it is read from its beginning only: an event of it is known to nobody."""


@dataclass
class Story:
    """The steps so far."""

    draw: Draw
    sessions: list[Session]
    needs: frozenset[str] = frozenset()
    steps: list[Step] = field(default_factory=list)


def header(draw: Draw, session_id: str) -> dict[str, Any]:
    """A header that every backend keeps."""
    found: dict[str, Any] = {"version": 0, "id": session_id, "createdAt": 1, "delegationDepth": 0}
    for name, values in HEADERS:
        if draw.chance(15):
            found[name] = draw.choice(values)
    if draw.chance(5):
        found["version"] = draw.choice((99, -1, 1))
    return found


def log_of(draw: Draw) -> tuple[list[Any], bool]:
    """A log to append, and whether an event of it is known to nobody."""
    way = draw.integer(0, 9)
    if way < 4:
        return list(interrupted.cut_session(draw)), False
    if way < 6:
        return list(logs.valid_draft(draw, average=4).events), False
    if way == 6:
        return in_order(numbered(interrupted.lifecycle_log(draw))), False
    if way == 7:
        return old_log(draw), False
    log = LogDraft()
    log.add("turn/start", messages.boundary("turn/start", 1, 0))
    for _ in draw.repeat(1):
        logs.add_user(draw, log)
    unknown = draw.chance(60)
    log.add("zzz/x" if unknown else draw.choice(KNOWN), draw.choice(({}, None, {"a": [1, 0.5]})))
    if draw.chance(60):
        log.events[-1]["ignorable"] = True if draw.chance(70) else draw.choice((False, 1, None))
    if draw.chance(50):
        log.add("turn/end", messages.boundary("turn/end", 1, 0))
    return list(log.events), unknown


def numbered(events: list[Event]) -> list[Event]:
    """The events without a turn that has no number: how its repair fails is left open."""
    return [event for event in events if event["type"] != "turn/start" or event["data"].get("turn")]


def old_log(draw: Draw) -> list[Any]:
    """A log that a reader brings up to date, or refuses: the store keeps it as it is."""
    log = sessions.seed_log(draw)
    content = [{"type": "text", "text": "old"}]
    old: tuple[tuple[str, Any], ...] = (
        ("user/message", {"content": content, "source": {"kind": "user"}}),
        ("user/message", {"junk": 1}),
        ("turn/start", {"turn": 1, "trigger": {"kind": "message"}}),
        ("turn/end", {"turn": 1}),
    )
    kind, data = draw.choice(old)
    if kind == "user/message":
        log.join(kind, data)
    else:
        log.add(kind, data)
    return list(log.events)


# -- steps ---------------------------------------------------------------------------


def create(story: Story, one: Session) -> None:
    """A header, seldom one that is refused; then a sound one may follow."""
    draw = story.draw
    if one.version != 0:  # what a create of its id is told is left open
        return look(story, one)
    given = header(draw, one.id)
    if draw.chance(10):
        story.steps.append({"create": {**given, "createdAt": draw.choice(NOT_TIMES)}})
        if draw.chance(50):
            return None
    story.steps.append({"create": given})
    one.version = given["version"]
    return None


def append(story: Story, one: Session) -> None:
    """The next piece of the log; seldom with a wrong seq, a retired shape, or nothing in it."""
    draw = story.draw
    end = min(len(one.log), one.stored + draw.integer(1, 6))
    events = one.log[one.stored : end]
    if draw.chance(25) and events:
        bad = list(events)
        place = draw.integer(0, len(bad) - 1)
        way = draw.integer(0, 3)
        if way == 0:
            bad[place] = {**bad[place], "seq": draw.choice((bad[place]["seq"] + 1, 0, -1, "0", None, 0.5))}
        elif way == 1:
            bad[place] = {**bad[place], "type": draw.choice(RETIRED)}
        elif way == 2:
            bad = [*bad, bad[-1]]
        else:
            bad = []
        story.steps.append({"append": {"id": one.id, "events": bad}})
        return
    step: Step = {"append": {"id": one.id, "events": events}}
    if "backend.borrowed" in story.needs and draw.chance(50):
        step["spoil"] = True
    story.steps.append(step)
    one.stored = end


def go_on(story: Story, one: Session) -> None:
    """A load, and a message behind the closers that it may have stored: how many, is a guess."""
    draw = story.draw
    story.steps.append({"load": one.id})
    for closers in range(draw.integer(0, 3), 4):
        seq = one.stored + closers
        data = messages.user(seq, ("b",))
        event = {"type": "user/message", "seq": seq, "time": 9, "data": data, "surfaceOp": "append"}
        story.steps.append({"append": {"id": one.id, "events": [event]}})
    one.log = one.log[: one.stored]


def look(story: Story, one: Session) -> None:
    """A question that changes nothing; a load may repair."""
    draw = story.draw
    way = draw.integer(0, 9)
    if way < 3:
        step: Step = {"load": one.id}
    elif way < 5:
        step = {"inspect": one.id}
    elif way < 7:
        first: Any = 0 if one.whole_only else draw.integer(0, one.stored + 2)
        if draw.chance(15):
            first = draw.choice(NOT_PLACES)
        step = {"readFrom": {"id": one.id, "from": first}}
    elif way < 9:
        step = {"revision": one.id}
    else:
        step = {"list": True}
    if "backend.signal" in story.needs and "load" not in step and draw.chance(30):
        if "readFrom" in step:
            step["readFrom"]["from"] = 0
        step["aborted"] = True
    story.steps.append(step)


def reopen(story: Story) -> None:
    """The store is closed and opened again, by another process as it were."""
    story.steps.append({"reopen": True if not story.draw.chance(10) else "other"})


def tell(draw: Draw, needs: frozenset[str] = frozenset()) -> list[Step]:
    """The steps of a story."""
    pair = draw.choice(IDS)
    drawn = [log_of(draw) for _ in pair]
    story = Story(
        draw,
        [Session(name, log, whole_only=odd) for name, (log, odd) in zip(pair, drawn, strict=True)],
        needs,
    )
    create(story, story.sessions[0])
    append(story, story.sessions[0])
    for _ in draw.repeat(6):
        one = story.sessions[0] if not draw.chance(30) else story.sessions[1]
        way = draw.integer(0, 19)
        if way < 8:
            look(story, one)
        elif way < 12:
            append(story, one)
        elif way < 14:
            create(story, one)
        elif way < 16:
            reopen(story)
        elif way < 18:
            go_on(story, one)
        else:
            story.steps += [{"revision": one.id}, {"inspect": one.id}, {"revision": one.id}]
    story.steps += [{"list": True}, {"load": story.sessions[0].id}, {"revision": story.sessions[0].id}]
    return story.steps


def valid(draw: Draw) -> list[Any]:
    """A log that a live session may have; its turn may be open."""
    return list(
        interrupted.cut_session(draw) if draw.chance(60) else logs.valid_draft(draw, average=3).events
    )


def request(draw: Draw) -> Members:
    """A story for any backend."""
    return {"steps": tell(draw)}


def borrowed_request(draw: Draw) -> Members:
    """One whose batches are spoilt once they were given, and whose reads are called off."""
    return {"steps": tell(draw, frozenset(("backend.borrowed", "backend.signal")))}


def live_request(draw: Draw) -> Members:
    """A live session, of which the store may hold the beginning, or something else."""
    log = valid(draw)
    if draw.chance(15):
        log.append({"type": "session/end-seed", "seq": len(log), "time": 0, "data": {}})
    story = Story(draw, [Session("s", log)])
    given = header(draw, "s") | {"version": 0}
    kept = draw.integer(0, len(log))
    if kept and draw.chance(70):
        story.steps += [{"create": given}, {"append": {"id": "s", "events": log[:kept]}}, {"reopen": True}]
    way = draw.integer(0, 9)
    if way == 8:
        given = {**given, "cwd": "/elsewhere"}
    elif way == 9:
        log = list(logs.valid_draft(draw, average=2).events)
    story.steps += [{"live": {"header": given, "events": log}}]
    asked = ("load", "prepare", "inspect", "revision")
    if way < 8:
        for _ in draw.repeat(2):
            story.steps.append({draw.choice(asked): "s"})
        if draw.chance(20):
            story.steps.append({"create": {**given, "createdAt": 2}})
    story.steps += [
        {"reopen": True},
        {"revision": "s"},
        {draw.choice(asked): "s"},
        {"load": "s"},
        {"list": True},
    ]
    return {"steps": story.steps}


def lossy_request(draw: Draw) -> Members:
    """One with a header and a batch in which a number may be none that JSON brings back."""
    given = header(draw, "s") | {"version": 0}
    if draw.chance(50):
        given[draw.choice(("createdAt", "note", "seedLength"))] = draw.choice(TOO_LARGE_OR_LESS)
    event = {"type": "todo/write", "seq": 0, "time": 0, "data": {"a": [0.5]}}
    if draw.chance(60):
        event[draw.choice(("data", "time", "seq"))] = draw.choice(TOO_LARGE_OR_LESS)
    plain = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
    steps = [
        {"create": given},
        {"create": plain},
        {"append": {"id": "s", "events": [event]}},
        {"inspect": "s"},
    ]
    return {"steps": Spelled(steps)}


DAMAGED = "**/*.jsonl"
SHORTEST_LINE = 40
"""Bytes that no last line has fewer of: what is damaged is the log, and not its header."""


def damaged_request(draw: Draw) -> Members:
    """A store of JSON lines whose file is cut, continued, or changed in one place while it is closed."""
    one = Session("s", list(interrupted.cut_session(draw)))
    story = Story(draw, [one])
    story.steps.append({"create": header(draw, "s") | {"version": 0}})
    log = one.log or list(logs.valid_draft(draw, average=3).events)
    if not log:
        log = [{"type": "todo/write", "seq": 0, "time": 0, "data": {}}]
    story.steps.append({"append": {"id": "s", "events": log}})
    one.stored = len(log)
    way = draw.integer(0, 3)
    action: Step = {"file": DAMAGED}
    if way == 0:
        action["cut"] = -draw.integer(1, SHORTEST_LINE)
    elif way == 1:
        action["append_text"] = draw.choice(
            ("{", "x", "\n", "{}\n", '{"type":"turn/end"}\n', "null", '{"seq":')
        )
    elif way == 2:
        action |= {
            "at": -draw.integer(1, SHORTEST_LINE),
            "bytes": draw.choice(("00", "ff", "0a", "7b", "22")),
        }
    else:
        last = {"type": "todo/write", "seq": one.stored + draw.integer(0, 1), "time": 0, "data": {}}
        action["append_text"] = encode(last) + draw.choice(("", "\n"))
    story.steps.append({"damage": [action]})
    for _ in draw.repeat(2):
        story.steps.append(
            draw.choice(({"inspect": "s"}, {"readFrom": {"id": "s", "from": 0}}, {"load": "s"}))
        )
    go_on(story, one)
    story.steps += [{"reopen": True}, {"readFrom": {"id": "s", "from": 0}}]
    return {"steps": story.steps}
