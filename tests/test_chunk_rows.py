"""The chunk rows of the reference, held against an independent oracle, and packing against unpacking.

Batches at random are full of near misses: two turns, two ids, seqs that skip, members that are wrong.
Texts near the bound of SQLite are long, so these have tests of their own with few examples.
"""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import chunk_rows_oracle as oracle

from conformance.compare import first_difference
from conformance.corpus import load_corpus
from conformance.json_text import parse_exact
from reference_impl import chunk_rows
from reference_impl.rejection import Rejection

M = 2**53 - 1
ROOM = 1_048_576
PACK = {"jsonl": chunk_rows.pack_jsonl, "sqlite": chunk_rows.pack_sqlite}
UNPACK = {"jsonl": chunk_rows.unpack_jsonl, "sqlite": chunk_rows.unpack_sqlite}
STORES = sorted(PACK)


def unpacked(store, record):
    """What the reference reads, as the oracle puts it."""
    try:
        return ("events", UNPACK[store](record))
    except Rejection as refusal:
        return ("rejected", refusal.condition) if refusal.at is None else ("with a position", refusal.at)


def chunk(seq=0, text="a", time=0, **members):
    delta = {"type": "text-delta", "index": 0, "text": text}
    return {
        "type": "assistant/chunk", "seq": seq, "time": time,
        "data": {"turn": 1, "step": 1, "chunk": delta, **members},
    }  # fmt: skip


def texts_of(*texts, first=0):
    return [chunk(first + place, text) for place, text in enumerate(texts)]


def layout(store, events):
    """How many events each record holds."""
    return [len(UNPACK[store](record)) for record in PACK[store](events)]


SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.5, M + 1, "", "a"])
TEXTS = st.text(st.characters(exclude_categories=[]), max_size=3)
WRONG = st.sampled_from(
    ["type", "seq", "time", "data", "turn", "step", "chunk", "index", "text", "id", "name"]
)


@st.composite
def batches(draw):
    """Events whose members seldom change from one to the next, now and then with one thing wrong."""
    events, seq, time = [], draw(st.integers(0, 5) | st.integers(M - 12, M - 10)), draw(st.integers(-5, 5))
    kind, turn, name = "text-delta", 1, None
    for _ in range(draw(st.integers(0, 12))):
        change = draw(
            st.sampled_from(["", "", "", "", "kind", "turn", "name", "seq", "time", "wrong", "other"])
        )
        if change == "kind":
            kind = draw(st.sampled_from(sorted(oracle.NAMES)))
        elif change == "turn":
            turn = draw(st.sampled_from([1, 2, 1.0, 0.5]))
        elif change == "name":
            name = draw(st.sampled_from([None, "", "read"]))
        elif change == "seq":
            seq = max(0, seq + draw(st.integers(-2, 2)))
        elif change == "time":
            time = draw(st.sampled_from([-M, -1, 0, 1, M - 1, M]))
        own = (
            {"id": "c", "argumentsDelta": draw(TEXTS)} if kind == "tool-call-delta" else {"text": draw(TEXTS)}
        )
        if name is not None and kind == "tool-call-delta":
            own["name"] = name
        event = chunk(min(seq, M), time=time, turn=turn, chunk={"type": kind, "index": 0, **own})
        if change == "wrong":
            damage(draw, event)
        events.append({"type": "turn/end", "seq": seq, "time": time} if change == "other" else event)
        seq += 1
    return events


def damage(draw, event):
    """Change, add or take away one member, in the event, its data or its chunk."""
    holders = [event, event["data"], event["data"]["chunk"]]
    holder, name = draw(st.sampled_from(holders)), draw(WRONG)
    if draw(st.booleans()):
        holder.pop(name, None)
    else:
        holder[name] = draw(SCALARS)


@pytest.mark.parametrize("store", STORES)
@settings(max_examples=400, deadline=None)
@given(events=batches())
def test_batches_at_random(store, events):
    before = copy.deepcopy(events)
    records = PACK[store](events)
    assert first_difference(oracle.pack(store, events), records) is None
    assert first_difference(events, [event for record in records for event in UNPACK[store](record)]) is None
    assert events == before


LISTS = st.lists(TEXTS | SCALARS, max_size=5) | st.lists(TEXTS, min_size=3, max_size=3) | SCALARS
GAPS = st.lists(st.integers(-3, 3) | SCALARS | st.sampled_from([M, -M]), max_size=5) | SCALARS
RIGHT_GAPS = st.lists(st.integers(-3, 3) | st.sampled_from([M, -M, 1 - M]), min_size=2, max_size=2)


@st.composite
def rows(draw):
    """Rows that are right but for up to three members of any value, name or absence."""
    tool = draw(st.booleans())
    data = {"turn": 1, "step": 0.5, "index": 0, "dt": draw(RIGHT_GAPS)}
    data |= {"id": "c", "args": ["a", "", "b"]} if tool else {"texts": ["a", "", "b"]}
    kind = (
        "tool-call-chunks" if tool else draw(st.sampled_from(["text-chunks", "reasoning-chunks", "chunks"]))
    )
    seq0, time0 = draw(st.integers(0, 3) | st.integers(M - 4, M)), draw(st.integers(-3, 3) | st.just(M))
    row = {"type": kind, "seq0": seq0, "time0": time0, "data": data}
    for _ in range(draw(st.integers(0, 3))):
        holder = draw(st.sampled_from([row, data]))
        name = draw(st.sampled_from([*row, *data, "name", "more"]))
        if name == "type" or draw(st.integers(0, 3)) == 0:
            holder.pop(name, None) if name != "type" else None
        else:
            holder[name] = draw({"texts": LISTS, "args": LISTS, "dt": GAPS}.get(name, SCALARS))
    return row


@pytest.mark.parametrize("store", STORES)
@settings(max_examples=500, deadline=None)
@given(record=rows())
def test_rows_at_random(store, record):
    assert unpacked(store, record) == oracle.unpack(store, record)


@pytest.mark.parametrize("store", STORES)
@settings(max_examples=200, deadline=None)
@given(
    record=st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=4)
)
def test_what_is_no_row_is_one_event(store, record):
    assert unpacked(store, record) == ("events", [record]) == oracle.unpack(store, record)


COUNTS = [1, 2, 3, 4, *range(1022, 1029), 2050, 2051]


@pytest.mark.parametrize("count", COUNTS)
def test_members_near_the_bound(count):
    events = texts_of(*["a"] * count)
    full, rest = divmod(count, 1024)
    assert layout("sqlite", events) == [1024] * full + ([rest] if rest >= 3 else [1] * rest)
    assert layout("jsonl", events) == ([count] if count >= 3 else [1] * count)
    assert chunk_rows.pack_sqlite(events) == oracle.pack("sqlite", events)


PIECES = ("a", "é", "你", "😀", '"', "\\", "\n", "\x01", "\x7f", "/", "\u2028", "\ud83d")


def padded(events, size):
    """The same events with the last text made longer, so that the data of their row has ``size`` bytes."""
    lacking = size - len(oracle.written(oracle.row(events)["data"]))
    assert lacking >= 0
    return [
        *events[:-1],
        chunk(events[-1]["seq"], events[-1]["data"]["chunk"]["text"] + "a" * lacking, events[-1]["time"]),
    ]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("count", [3, 4, 1023])
def test_bytes_at_the_bound(piece, count):
    """Text of every kind, right up to the bound and one byte beyond it, in packing and in reading."""
    events = texts_of(*[piece * (170_000 // count)] * count)
    for place, event in enumerate(events):
        event["time"] = 7 * place * (-1) ** place
    exact, beyond = padded(events, ROOM), padded(events, ROOM + 1)
    assert layout("sqlite", exact) == [count]
    assert layout("sqlite", beyond) == ([1, 1, 1] if count == 3 else [count - 1, 1])
    assert chunk_rows.pack_sqlite(beyond) == oracle.pack("sqlite", beyond)
    assert unpacked("sqlite", chunk_rows.row_of(exact)) == ("events", exact)
    assert unpacked("sqlite", chunk_rows.row_of(beyond)) == ("rejected", "chunk-size")
    assert unpacked("jsonl", chunk_rows.row_of(beyond)) == ("events", beyond)


SIZES = st.sampled_from([0, 1, 30_000, 260_000, 349_505, 349_506, 400_000, 524_000, 1_048_500, 1_100_000])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("aé😀"), SIZES | st.integers(0, 500_000)), min_size=2, max_size=9))
def test_long_texts_at_random(pieces):
    events = texts_of(*[letter * (size // len(letter.encode())) for letter, size in pieces])
    records = chunk_rows.pack_sqlite(events)
    assert records == oracle.pack("sqlite", events)
    assert [event for record in records for event in chunk_rows.unpack_sqlite(record)] == events


@pytest.mark.parametrize(
    ("fault", "value"), [("MOST_BYTES", ROOM + 1), ("MOST_BYTES", ROOM - 1), ("MOST_MEMBERS", 1023)]
)
def test_a_faulty_bound_is_found(monkeypatch, fault, value):
    exact = padded(texts_of("", "", ""), ROOM)
    batches_near = [exact, padded(texts_of("", "", ""), ROOM + 1), texts_of(*["a"] * 1024)]

    def differences():
        return [
            batch for batch in batches_near if chunk_rows.pack_sqlite(batch) != oracle.pack("sqlite", batch)
        ]

    assert differences() == []
    monkeypatch.setattr(chunk_rows, fault, value)
    assert len(differences()) == 1


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"), (-0.0, "0"), (1.0, "1"), (-1.5, "-1.5"), (100, "100"), (M, "9007199254740991"),
        (2**53 + 1, "9007199254740992"), (2**60, "1152921504606847000"), (1e20, "100000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"), (1e21, "1e+21"), (-1e21, "-1e+21"),
        (1.5e300, "1.5e+300"), (0.000001, "0.000001"), (0.0000012, "0.0000012"), (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"), (5e-324, "5e-324"), (123.456, "123.456"), (0.1, "0.1"), (10**400, "null"),
    ],
)  # fmt: skip
def test_numbers_are_spelled_as_javascript_spells_them(number, text):
    assert chunk_rows.number_text(number) == text


CASES = [
    case for case in load_corpus() if case.topic.startswith("codec/chunks-") and "level" not in case.request
]


def test_the_oracle_answers_every_case():
    assert len(CASES) > 380
    for case in CASES:
        store = case.capability.split("@")[1]
        name = "events" if case.op == "chunks.pack" else "record"
        text = case.request.get(f"{name}_text")
        asked = case.request[name] if text is None else parse_exact(text)
        first = case.expect.alternatives[0]
        answer = ("records", oracle.pack(store, asked)) if name == "events" else oracle.unpack(store, asked)
        if first.kind == "rejected":
            assert answer == ("rejected", first.value["condition"]), case.id
        else:
            ((member, wanted),) = first.value.items()
            wanted = parse_exact(wanted) if member.endswith("_text") else wanted
            assert answer[0] == member.removesuffix("_text"), case.id
            assert first_difference(wanted, answer[1]) is None, case.id


LAYOUTS = [case for case in load_corpus() if case.request.get("level") == "layout"]


def made_long(case):
    """The events or the row of a request, with texts made long here by hand and not by the adapter."""
    asked = copy.deepcopy(case.request["events" if case.op == "chunks.pack" else "record"])
    for place, times in enumerate(case.request.get("repeats", ())):
        if case.op == "chunks.pack":
            holder = asked[place]["data"]["chunk"]
            name = "text" if "text" in holder else "argumentsDelta"
        else:
            holder, name = oracle.members(asked), place
        holder[name] = "".join([holder[name] for _ in range(times)])
    return asked


def test_the_oracle_knows_every_layout():
    assert len(LAYOUTS) > 60
    for case in LAYOUTS:
        store, asked, expected = case.capability.split("@")[1], made_long(case), case.expect.alternatives[0]
        if case.op == "chunks.pack":
            records = oracle.pack(store, asked)
            told = [
                [record["seq0"], len(oracle.members(record))] if "seq0" in record else [record["seq"], 0]
                for record in records
            ]
            assert told == expected.value["layout"], case.id
            continue
        kind, answer = oracle.unpack(store, asked)
        assert kind in ("events", "rejected")
        told = len(answer) if kind == "events" else answer
        wanted = expected.value["layout" if kind == "events" else "condition"]
        assert told == wanted, case.id


TEXTS_OF = {
    store: [case for case in load_corpus() if case.topic.startswith(f"codec/chunks-text-{store}")]
    for store in STORES
}


def test_the_text_of_data_is_that_within_the_line():
    """What the published package writes as a line of JSONL says what SQLite has in its cell."""
    assert len(TEXTS_OF["jsonl"]) == len(TEXTS_OF["sqlite"]) > 15
    for line, cell in zip(TEXTS_OF["jsonl"], TEXTS_OF["sqlite"], strict=True):
        assert line.id == cell.id.replace("sqlite", "jsonl")
        assert line.request == cell.request
        rows, data = line.expect.alternatives[0].value["lines"], cell.expect.alternatives[0].value["lines"]
        assert [row.partition(',"data":')[2] for row in rows] == [f"{text}}}" for text in data], cell.id
