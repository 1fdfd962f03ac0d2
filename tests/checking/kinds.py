"""The kinds of fault that people have met, each as the smallest log that has it, and what is to be found."""

from __future__ import annotations

import json
from dataclasses import dataclass

from logs import (
    HEADER,
    assistant,
    at,
    call,
    chunk,
    log,
    replace,
    result,
    row,
    step,
    step_end,
    turn,
    turn_end,
    user,
    whole_turn,
)


@dataclass(frozen=True)
class Kind:
    """A kind of fault. ``finds`` are the condition, severity and story of the finding that tells it."""

    name: str
    data: bytes
    verdict: str
    finds: tuple[str, str, str | None] | None
    torn_from: int | None = None
    events: int | None = None


def _without_line_feed(data: bytes) -> bytes:
    assert data.endswith(b"\n")
    return data[:-1]


def _length(*events: dict[str, object]) -> int:
    return len(log(*events))


LATE_END = at(3, {"type": "session/end-seed", "data": {}})
REMAPPED = [user(name="u0"), user(name="u1"), user(name="u2"), user(name="u3")]
SPLIT_EMOJI = [turn(), user(), step(), chunk("\ud83d"), chunk("\ude00"), assistant(sourceEventSeqs=[3, 4])]

KINDS = [
    Kind(
        "two writers on one session",
        log(turn(), user(), turn_end(), LATE_END, at(3, turn(2)), at(4, user(name="v")), at(5, turn_end(2))),
        "refused",
        ("jsonl-gap", "error", "two-writers"),
    ),
    Kind(
        "a gap, nothing committed behind it",
        log(turn(), user(), at(3, step())),
        "accepted",
        ("jsonl-gap", "loss", "lost-events"),
        torn_from=_length(turn(), user()),
        events=2,
    ),
    Kind(
        "the same gap, a turn/end later",
        log(turn(), user(), at(3, step()), at(4, step_end()), at(5, turn_end())),
        "refused",
        ("jsonl-gap", "error", "lost-events"),
    ),
    Kind(
        "ranges in a v0 log",
        log(turn(), user(), step(), chunk("a"), chunk("b"), assistant(sourceEventSeqs=[[3, 4]])),
        "refused",
        ("source-not-seq", "error", "foreign-edition"),
    ),
    Kind(
        "remapped log: one shadowed node uncited",
        log(*REMAPPED, user(name="u4", **replace(1, 1, 1)), user(name="u5", **replace(0, 3, 0, 2, 3))),
        "refused",
        ("sources-incomplete", "error", "remapped-seqs"),
    ),
    Kind(
        "start larger than end",
        log(*REMAPPED, user(name="u4", **replace(1, 1, 1)), user(name="u5", **replace(4, 2, 4, 2))),
        "accepted",
        None,
        events=6,
    ),
    Kind(
        "tool rewrite hits another call's result",
        log(
            turn(), user(), step(), assistant("c1", "c2"), call("c1"), result("c1", 4), call("c2"),
            result("c2", 6), result("c2", 5, text="cut", surfaceOp={"op": "replace", "start": 5, "end": 5}),
        ),
        "refused",
        ("tool-result-changed", "error", "remapped-seqs"),
    ),
    Kind(
        "call never answered, turn closed",
        log(turn(), user(), step(), assistant("c1"), call("c1"), step_end(), turn_end()),
        "accepted",
        ("call-unanswered", "advice", "crash-in-tool"),
        events=7,
    ),
    Kind(
        "an emoji split over two chunks",
        log(*SPLIT_EMOJI, step_end(), turn_end()),
        "accepted",
        ("lone-surrogate", "advice", "wrong-encoding"),
        events=8,
    ),
    Kind(
        "a packed row overlaps stored seqs",
        log(turn(), user(), step(), chunk("a"), chunk("b"), row(4, "x", "y", "z")),
        "accepted",
        ("jsonl-gap", "loss", "two-writers"),
        torn_from=_length(turn(), user(), step(), chunk("a"), chunk("b")),
        events=5,
    ),
    Kind(
        "a packed row overlaps stored seqs, a turn/end later",
        log(turn(), user(), step(), chunk("a"), chunk("b"), row(4, "x", "y", "z"), at(7, turn_end())),
        "refused",
        ("jsonl-gap", "error", "two-writers"),
    ),
    Kind(
        "a Windows working directory",
        log(turn(), turn_end(), header={**HEADER, "cwd": "G:\\proj"}),
        "refused",
        ("header-cwd-relative", "error", "other-platform"),
    ),
    Kind(
        "the last line is complete but for its line feed",
        _without_line_feed(log(*whole_turn())),
        "accepted",
        ("torn-line", "loss", "torn-tail"),
        torn_from=_length(*whole_turn()[:-1]),
        events=8,
    ),
    Kind(
        "an empty user message left by a rewind tool",
        log(turn(), user(), turn_end(), user(None, name="v", **replace(1, 1, 1))),
        "accepted",
        ("user-message-empty", "advice", "rewind-tool"),
        events=4,
    ),
    Kind(
        "many events in few rows",
        log(turn(), user(), step(), *[row(3 + 50 * n, *["t"] * 50) for n in range(200)]),
        "accepted",
        None,
        events=3 + 200 * 50,
    ),
    Kind(
        "another version",
        log(header={**HEADER, "version": 3}),
        "refused",
        ("format-newer", "error", "foreign-edition"),
    ),
    Kind(
        "a type that nobody knows",
        log(turn(), {"type": "developer/message"}),
        "refused",
        ("event-type-unknown", "error", "foreign-edition"),
    ),
    Kind(
        "a byte order mark",
        b"\xef\xbb\xbf" + log(*whole_turn()),
        "refused",
        ("jsonl-header-json", "error", "wrong-encoding"),
    ),
    Kind(
        "UTF-16",
        log(*whole_turn()).decode().encode("utf-16"),
        "refused",
        ("jsonl-header-json", "error", "wrong-encoding"),
    ),
    Kind(
        "text that is no UTF-8",
        log(turn(), user("caf"), turn_end()).replace(b"caf", "café".encode("latin-1")),
        "accepted",
        ("invalid-utf8", "advice", "wrong-encoding"),
        events=3,
    ),
    Kind(
        "a crash in a tool",
        log(turn(), user(), step(), assistant("c1"), call("c1")),
        "accepted",
        ("turn-interrupted", "advice", "crash-in-tool"),
        events=5,
    ),
    Kind(
        "a line cut in the middle",
        log(turn(), user()) + b'{"type":"step/st',
        "accepted",
        ("torn-line", "loss", "torn-tail"),
        torn_from=_length(turn(), user()),
        events=2,
    ),
    Kind(
        "NUL bytes after a power cut",
        log(turn(), user()) + b"\x00" * 40 + b"\n",
        "accepted",
        ("jsonl-line", "loss", "torn-tail"),
        torn_from=_length(turn(), user()),
        events=2,
    ),
    Kind(
        "two records on one line",
        log(turn()) + json.dumps({"a": 1}).encode() + log(turn_end())[len(log()) :],
        "accepted",
        ("jsonl-line", "loss", "two-writers"),
        torn_from=_length(turn()),
        events=1,
    ),
]  # fmt: skip
