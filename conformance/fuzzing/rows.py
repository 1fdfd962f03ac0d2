"""Batches for the rows of a SQLite store, and rows as its tables hold them, sound or with one fault.

Of several faults in the columns of a row, or in what its cells hold, any may be told. So a row has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.fuzzing import cells, chunks, logs
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import LAST_SEQ, Event, LogDraft
from conformance.fuzzing.messages import TEXTS
from conformance.fuzzing.spelling import Members, Spelled, encode, raw, unmarked
from conformance.fuzzing.values import NOT_SEQS
from conformance.fuzzing.values import TEXTS as ODD_TEXTS
from conformance.zstd_frames import STORED, frame_of, frame_of_blocks

Row = dict[str, Any]

LEAST_COMPRESSED = 4096
"""Bytes of data from which schema 17 compresses it."""
TYPES = ("turn/start", "user/message", "turn/end", "goal/change", "text-chunks", "tool-call-chunks", " ")
SEQS = (0, 1, 3, 200, 2**32, LAST_SEQ)
TIMES = (0, 10, -5, 1_755_072_000_000, LAST_SEQ, -LAST_SEQ)
DATA = (
    "{}", '{"turn":1}', "null", "[1]", ' {"turn" : 1}\n', '{"turn":2,"turn":1}', '"\\ud83d"', '"é😀"', "0.5",
    '{"a":-0}', "1e400", "9007199254740993", '"turn/end"', "false", '{"time":7,"seq":9}', '""',
)  # fmt: skip
NO_JSON = ("", "{", "nul", "{}x", "[1,]", "NaN", "Infinity", "'a'", "\ufeff{}", "01", '"\t"', "{a:1}")
OPS = (
    '"append"', '{"op":"replace","start":0,"end":1}', "null", '{"op":"zap"}', ' "append" ', '""', "7", "[]",
)  # fmt: skip
NO_OPS = ("append", "", "{", "'append'", "undefined", "NaN")
NO_INTEGERS = ({"int": "9007199254740992"}, {"int": "-9007199254740992"}, {"text": "1"}, {"blob": "01"})
"""Cells that hold no whole number of at most 2^53-1, where one belongs."""
NO_TEXTS = ({"int": "1"}, {"blob": "61"})
NO_ROWS: tuple[Any, ...] = (None, [], "row", 0, True)
PADDING = 1 << 17


def cell_of(value: Any) -> Any:
    """A cell as the protocol has it."""
    if value is None:
        return None
    if isinstance(value, bytes):
        return {"blob": value.hex()}
    return {"text": value} if isinstance(value, str) else {"int": str(value)}


def flag_of(schema: int) -> str:
    return "is_packed" if schema == 19 else "ignorable"


# -- what is written -----------------------------------------------------------------


def add_run(draw: Draw, log: LogDraft, *, typed: bool) -> None:
    """Chunks of one stream, as many as make a row, or fewer."""
    kind = draw.choice(chunks.KINDS)
    for _ in draw.repeat(3):
        data = chunks.chunk_event(draw, 0, 0, kind)["data"] if not typed else plain_chunk(draw, kind)
        log.add("assistant/chunk", data)
        log.events[-1]["time"] += draw.choice((0, 0, 5, -20))


def plain_chunk(draw: Draw, kind: str) -> Event:
    """The data of a chunk without a text that gets lost."""
    chunk: Event = {"type": kind, "index": 0}
    text = draw.choice(TEXTS)
    chunk |= {"id": "c1", "argumentsDelta": text} if kind == "tool-call-delta" else {"text": text}
    return {"turn": 1, "step": 1, "chunk": chunk}


def add_long(draw: Draw, log: LogDraft) -> None:
    """An event whose data have about as many bytes as are worth a compression."""
    letter, size = draw.choice((("a", 1), ("é", 2), ("😀", 4), ("\n", 2)))
    rest = LEAST_COMPRESSED - len('{"":""}') + draw.integer(-3, 3)
    log.add("todo/write", {"x" * (rest % size): letter * (rest // size)})


def batch(draw: Draw, *, typed: bool = True, marks: bool = True) -> list[Event]:
    """The events of one append. ``marks``: some are marked as ignorable."""
    log = LogDraft(draw.choice(logs.BASES) if draw.chance(20) else 0)
    for _ in draw.repeat(3):
        way = draw.integer(0, 9)
        if way < 4:
            draw.choice(logs.DENSE)(draw, log)
        elif way < 7:
            add_run(draw, log, typed=typed)
        elif way == 7 and marks:
            log.add("goal/change", {})
            log.events[-1]["ignorable"] = True
        elif way == 8 and draw.chance(20):
            add_long(draw, log)
        else:
            log.add(draw.choice(TYPES), draw.choice((None, [], {"a": [1, 0.5]}, "é", [[]], 2**40, 1e-7)))
    return log.events


def odd_batch(draw: Draw) -> list[Event]:
    """The same, with texts, markers and sources that no writer of today makes."""
    events = batch(draw, typed=False)
    for event in events:
        if draw.chance(15):
            number = draw.choice((raw("1.0"), raw("1e21"), 1e-7))
            event["data"] = {"text": draw.choice(ODD_TEXTS), "number": number}
        if draw.chance(10):
            event["surfaceOp"] = draw.choice((None, "", {}, [], 0, False))
        if draw.chance(10):
            event["sourceEventSeqs"] = draw.choice(([], [0, 0], [LAST_SEQ, 0], [raw("1.0")], [raw("-0")]))
    if events and draw.chance(20):
        draw.choice(events)["sourceEventSeqs"] = [0, draw.choice(NOT_SEQS)]
    return events


def encode_request(draw: Draw) -> Members:
    """A batch that a store is given."""
    return {"events": batch(draw)}


def odd_encode_request(draw: Draw) -> Members:
    """One that a store seldom is given. Its numbers are seqs, or refused by every schema but 15."""
    return {"events": Spelled(odd_batch(draw))}


def encode_15_request(draw: Draw) -> Members:
    """The same for the schema that writes down any sources: here such that a text can hold."""
    events = odd_batch(draw)
    for event in events:
        if "sourceEventSeqs" in event:
            event["sourceEventSeqs"] = draw.choice(([], [0, 1], [1, 1], [-1], ["a"], [None, 0.5], [[0]]))
    return {"events": Spelled(events)}


# -- what is read --------------------------------------------------------------------


def sources_cell(draw: Draw, schema: int, seq: int) -> Any:
    """A cell of sources, most often a sound one."""
    if schema == 15:
        return draw.choice(cells.LISTS_15) if draw.chance(40) else draw.choice(("[]", "[0,1]", "[2]"))
    if draw.chance(30):
        return cells.cell(draw, tagged=schema != 17)
    return bytes.fromhex(
        draw.choice(("", "0002", "00") if schema == 17 else ("", "000002", "010003", "0000"))
    )


def plain_row(draw: Draw, schema: int, seq: int, kind: str) -> Row:
    """A row of one event that can be read."""
    text = '{"turn":1}' if draw.chance(60) else draw.choice(DATA)
    flag = 0 if schema == 19 else draw.choice((None, None, 1) if schema != 15 else (None, 1, 0, 2))
    return {
        "seq": cell_of(seq),
        "type": cell_of(kind),
        "time": cell_of(draw.choice(TIMES)),
        "data": cell_of(text),
        "source_event_seqs": None,
        "surface_op": cell_of(draw.choice(OPS)) if draw.chance(30) else None,
        flag_of(schema): cell_of(flag),
    }


def packed_row(draw: Draw, schema: int, seq: int, *, spoilt: bool) -> Row:
    """A row of several chunks, whose data may have a fault."""
    found = chunks.row(draw)
    if spoilt:
        changed = chunks.spoil_row(draw, found)
        found = {**found, "data": changed.get("data", {})}
    return {
        "seq": cell_of(seq),
        "type": cell_of(found["type"]),
        "time": cell_of(found["time0"]),
        "data": cell_of(unmarked(encode(found["data"]))),
        "source_event_seqs": None,
        "surface_op": None,
        flag_of(schema): cell_of(1 if schema == 19 else 0),
    }


def with_hole(draw: Draw, schema: int, row: Row) -> Row:
    """The row with something in it that cannot be read."""
    way = draw.integer(0, 4)
    if way == 0:
        return {**row, "data": cell_of(draw.choice(NO_JSON))}
    if way == 1:
        return {**row, "surface_op": cell_of(draw.choice(NO_OPS))}
    if way == 2:
        bad = "[1," if schema == 15 else b"\x80"
        return {**row, "source_event_seqs": cell_of(bad)}
    if way == 3 and schema > 15:
        blob = draw.choice((b"", b"{}", b"\x28\xb5", frame_of(b'"\xff"'), frame_of(b"{"), frame_of(b"")))
        return {**row, "data": cell_of(blob)}
    return {**row, "data": cell_of("{")}


def with_wrong_column(draw: Draw, schema: int, row: Row) -> Row:
    """The row with a cell that no table of its schema holds. Schema 15 does not look."""
    numbers: Sequence[Any] = (*NO_INTEGERS, {"real": "0.5"}, None)
    flag = flag_of(schema)
    wrong = (
        ("seq", (*numbers, {"int": "-1"})),
        ("type", (*NO_TEXTS, None, {"text": ""})),
        ("time", numbers),
        ("data", (None, {"int": "1"}, {"real": "0.5"})),
        ("source_event_seqs", ({"text": "[0,1]"}, {"int": "0"}, {"text": ""})),
        ("surface_op", NO_TEXTS),
        (flag, ({"int": "2"}, {"int": "-1"}, *((*NO_INTEGERS, {"text": ""}) if schema != 19 else ()))),
    )
    column, faults = draw.choice(wrong)
    return {**row, column: draw.choice(faults)}


def any_row(draw: Draw, schema: int) -> Any:
    """A row that can be read, or one with one fault."""
    seq = draw.choice(SEQS)
    way = draw.integer(0, 10)
    if 3 <= way < 6 and schema > 15:
        row = packed_row(draw, schema, seq, spoilt=draw.chance(50))
        if draw.chance(25):
            column = draw.choice(("type", "source_event_seqs", "surface_op"))
            odd = {"type": "turn/start", "source_event_seqs": b"", "surface_op": '"append"'}
            row[column] = cell_of(odd[column])
        return row
    if way in (1, 2, 4):
        seq = draw.choice(cells.ROWS)  # a run may be as long as this says
    row = plain_row(draw, schema, seq, draw.choice(TYPES))
    if way in (1, 2, 4):
        row["source_event_seqs"] = cell_of(sources_cell(draw, schema, seq))
    elif 6 <= way < 8:
        row = with_hole(draw, schema, row)
    elif way >= 8 and schema > 15:
        return with_wrong_column(draw, schema, row) if not draw.chance(6) else draw.choice(NO_ROWS)
    elif schema == 15 and draw.chance(30):
        row |= {"seq": {"int": "-1"}, "type": {"text": ""}}
    return row


def decode_request(draw: Draw, schema: int) -> Members:
    return {"row": any_row(draw, schema)}


# -- compressed cells ----------------------------------------------------------------


def frame_request(draw: Draw, schema: int) -> Members:
    """A row whose data are in a frame: sound, of no use, too long, or one that another dictionary made."""
    packed = not draw.chance(60)
    seq = draw.choice(SEQS)
    row = (
        packed_row(draw, schema, seq, spoilt=False) if packed else plain_row(draw, schema, seq, "turn/start")
    )
    text = row["data"]["text"].encode()
    way = draw.integer(0, 9)
    if way == 0:
        text = draw.choice(NO_JSON).encode()
    elif way == 1:
        text = text[:-1] + bytes([draw.integer(128, 255)]) + text[-1:]
    elif way < 4 and draw.chance(30):
        return {"row": {**row, "data": cell_of(padded(text, chunks.MOST_BYTES + draw.integer(-1, 1)))}}
    frame = frame_of(text, draw.choice(("right", "absent", "wrong")) if draw.chance(30) else "right")
    if way == 4:  # names a dictionary that nobody has
        frame = frame[:4] + bytes([frame[4] | 1]) + b"\x07" + frame[5:]
    elif way == 5:
        frame = bytes([draw.integer(0, 255)]) + frame[1:]
    return {"row": {**row, "data": cell_of(frame)}}


def padded(text: bytes, length: int) -> bytes:
    """A short frame of a text with so many blanks behind it that it has this length."""
    blanks = length - len(text)
    rest = [(b" ", min(PADDING, blanks - start)) for start in range(0, blanks, PADDING)]
    return frame_of_blocks([(text, STORED), *rest], length)


# -- logs ----------------------------------------------------------------------------


def log_of_rows(draw: Draw, schema: int, base: int, *, holes: int = 8, gaps: int = 6) -> list[Any]:
    """Rows one behind the other; ``holes`` and ``gaps`` in a hundred. Ends of turns are among them."""
    rows: list[Any] = []
    seq = base
    for _ in draw.repeat(4):
        if draw.chance(gaps):
            seq = max(0, seq + draw.choice((1, 5, -1)))
        if draw.chance(25) and schema > 15:
            row = packed_row(draw, schema, seq, spoilt=draw.chance(holes))
            length = 1 + row["data"]["text"].count('","')
        else:
            kind = "turn/end" if draw.chance(25) else draw.choice(TYPES)
            row, length = plain_row(draw, schema, seq, kind), 1
        rows.append(with_hole(draw, schema, row) if draw.chance(holes) else row)
        seq = min(seq + length, LAST_SEQ)
    return rows


def scan_request(draw: Draw, schema: int) -> Members:
    """The rows of a log, or of a part of one, perhaps with damage, and seldom with a wrong column."""
    base = draw.choice((0, 0, 3, 2**32))
    rows = log_of_rows(draw, schema, base)
    if rows and schema > 15 and draw.chance(12):
        place = draw.integer(0, len(rows) - 1)
        wrong = draw.choice(NO_ROWS) if draw.chance(15) else with_wrong_column(draw, schema, rows[place])
        rows = [*rows[:place], wrong, *rows[place + 1 :]]
    return {"rows": rows, "base": base if not draw.chance(10) else draw.choice((0, 1, 3))}


# -- the row of a session ------------------------------------------------------------

UUID = "11111111-2222-4333-8444-555555555555"
SESSION: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "version": ((0, 99, -1), NO_INTEGERS),
    "created_at": ((1, 0, LAST_SEQ), ({"int": "-1"}, *NO_INTEGERS, None)),
    "cwd": (
        (None, "/work", "/", "/a b"),
        ({"text": ""}, {"text": "work"}, {"text": " /x"}, {"text": "./x"}, *NO_TEXTS),
    ),
    "parent_session": ((None, "p", ""), NO_TEXTS),
    "seed_length": ((None, 0, 5), ({"int": "-1"}, *NO_INTEGERS)),
    "origin": ((None, "subagent"), ({"text": ""}, {"text": "user"}, {"text": "Subagent"}, *NO_TEXTS)),
    "delegation_depth": ((None, 0, 2), ({"int": "-1"}, *NO_INTEGERS)),
    "agent_preset": ((None, "plan", ""), NO_TEXTS),
    "incarnation": (
        (UUID, "ABCDEFAB-2222-4333-8444-555555555555"),
        (
            *({"text": text} for text in ("", UUID[:-1], f"{UUID}0", f" {UUID}", f"{UUID}\n")),
            {"text": UUID.replace("-", "")}, {"text": UUID.replace("1", "g")}, None, *NO_TEXTS,
        ),
    ),
    "revision": ((1, 0), ({"int": "-1"}, *NO_INTEGERS, None)),
}  # fmt: skip
"""The columns behind the id: what they may hold, and cells that refuse the row."""


def session_request(draw: Draw, schema: int) -> Members:
    """The row of a session, of which at most one cell is wrong."""
    key = "id" if schema == 17 else "session_key"
    row: Row = {key: cell_of(draw.choice(("s", "a/b c", "会", "0")))}
    for column, (values, _) in SESSION.items():
        row[column] = cell_of(values[0] if not draw.chance(35) else draw.choice(values))
    if draw.chance(45):
        column = draw.choice(tuple(SESSION))
        row[column] = draw.choice(SESSION[column][1])
    elif draw.chance(10):
        row[key] = draw.choice((None, {"text": ""}, *NO_TEXTS))
    return {"row": draw.choice(NO_ROWS) if draw.chance(4) else row}
