"""The sequence codec of the reference, held against an independent oracle.

Compared are result, condition and byte offset. Exhaustive are all blobs of up to two bytes and all lists of
up to four values over the edges; blobs of three bytes are taken at a stride, and longer ones at random.
"""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import seqs_codec_oracle as oracle

from conformance.corpus import load_corpus
from conformance.json_text import parse_exact
from reference_impl import seqs_codec
from reference_impl.rejection import Rejection

M = 2**53 - 1
ROW_SEQS = (0, 1, 2, 9)
STRIDE = 499
"""Of the blobs of three bytes every 499th is taken: a prime, so that every value of each byte comes up."""
BODY_STRIDE = 7
"""Of those that begin with one of the two tags, every 7th."""
EDGES = (0, 1, 2, 3, 127, 128, 129, M - 1, M)

ENCODERS = {17: seqs_codec.encode_17, 19: seqs_codec.encode_19}


def encoded(schema, values):
    """What the reference writes, as the oracle puts it."""
    try:
        return ("hex", ENCODERS[schema](values).hex())
    except Rejection as refusal:
        return ("rejected", refusal.condition, refusal.at)


def decoded(schema, blob, row_seq=0):
    """What the reference reads, as the oracle puts it."""
    try:
        values = seqs_codec.decode_17(blob) if schema == 17 else seqs_codec.decode_19(blob, row_seq)
    except Rejection as refusal:
        return ("rejected", refusal.condition, refusal.at)
    return ("values", values)


def differences(blobs):
    """Blobs that the two read differently, each with schema and row seq. Schema 17 knows no row seq."""
    return [
        (schema, blob.hex(), row_seq)
        for blob in blobs
        for schema, row_seq in [(17, 0), *((19, row_seq) for row_seq in ROW_SEQS)]
        if decoded(schema, blob, row_seq) != oracle.decode(schema, blob, row_seq)
    ]


def blobs_of(size, stride=1, first=0):
    return (number.to_bytes(size, "big") for number in range(first, 256**size, stride))


@pytest.mark.parametrize("size", [0, 1, 2])
def test_every_short_blob(size):
    assert differences(blobs_of(size)) == []


def test_blobs_of_three_bytes_at_a_stride():
    assert differences(blobs_of(3, STRIDE)) == []
    assert differences(bytes([tag]) + body for tag in (0, 1) for body in blobs_of(2, BODY_STRIDE, tag)) == []


@pytest.mark.parametrize("schema", [17, 19])
@pytest.mark.parametrize("size", range(5))
def test_every_short_list_over_the_edges(schema, size):
    for values in product(EDGES, repeat=size):
        written = encoded(schema, list(values))
        assert written == oracle.encode(schema, list(values))
        assert decoded(schema, bytes.fromhex(written[1]), size) == ("values", list(values))


@pytest.mark.parametrize(
    ("fault", "value"), [("MAX_SAFE_INTEGER", M - 1), ("LONGEST_VARINT", 8), ("RUNS", 2), ("DELTAS", 3)]
)
def test_a_faulty_codec_is_found(monkeypatch, fault, value):
    texts = ("000502", "010003", "00" + "ff" * 7 + "0f", "00" + "80" * 8 + "00")
    blobs = [bytes.fromhex(text) for text in texts]
    assert differences(blobs) == []
    monkeypatch.setattr(seqs_codec, fault, value)
    assert differences(blobs)


NUMBERS = st.integers(0, M) | st.integers(0, 300) | st.integers(M - 300, M) | st.sampled_from(EDGES)
LISTS = st.lists(NUMBERS, max_size=20)
RUNS = st.lists(st.tuples(NUMBERS, st.integers(1, 40)), max_size=6)


@st.composite
def growing(draw):
    """Lists with runs in them, some growing throughout and some not."""
    values = [start + step for start, count in draw(RUNS) for step in range(count) if start + step <= M]
    return sorted(set(values)) if draw(st.booleans()) else values


@settings(max_examples=400, deadline=None)
@given(LISTS | growing(), st.sampled_from([17, 19]))
def test_lists_at_random(values, schema):
    written = encoded(schema, values)
    assert written == oracle.encode(schema, values)
    assert decoded(schema, bytes.fromhex(written[1]), len(values)) == ("values", values)


@settings(max_examples=200, deadline=None)
@given(st.lists(NUMBERS | st.floats() | st.none() | st.booleans() | st.text() | st.integers(), max_size=6))
def test_lists_of_anything(values):
    for schema in ENCODERS:
        assert encoded(schema, values) == oracle.encode(schema, values)


@st.composite
def damaged(draw):
    """A valid cell with up to three bytes changed, added or taken away."""
    schema = draw(st.sampled_from([17, 19]))
    blob = bytearray.fromhex(encoded(schema, draw(LISTS | growing()))[1])
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(blob)))
        byte = draw(st.integers(0, 255) | st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]))
        blob[place : place + draw(st.integers(0, 2))] = bytes([byte] * draw(st.integers(0, 2)))
    return bytes(blob)


@settings(max_examples=600, deadline=None)
@given(damaged(), st.sampled_from([*ROW_SEQS, 50, 500]))
def test_damaged_cells(blob, row_seq):
    for schema in ENCODERS:
        assert decoded(schema, blob, row_seq) == oracle.decode(schema, blob, row_seq)


def test_a_million_values_are_five_bytes():
    values = list(range(1_000_001))
    assert encoded(19, values) == ("hex", "0100c1843d")
    assert decoded(19, bytes.fromhex("0100c1843d"), 1_000_001) == ("values", values)


def test_two_thousand_values_from_ten():
    values = list(range(10, 2010))
    assert encoded(17, values) == ("hex", "0a" + "02" * 1999) == oracle.encode(17, values)
    assert encoded(19, values) == ("hex", "010ad00f") == oracle.encode(19, values)


def told(case):
    """The expectation of a case as the oracle would put it; of a quirk, what the specification has."""
    first = case.expect.alternatives[0]
    if first.kind == "rejected":
        return ("rejected", first.value["condition"], first.value.get("at"))
    ((name, content),) = first.value.items()
    return (name, content)


CASES = [case for case in load_corpus() if re.fullmatch(r"codec/seqs-(en|de)code-1[79]", case.topic)]


def test_the_oracle_answers_every_case():
    assert len(CASES) > 300
    for case in CASES:
        schema = int(case.topic[-2:])
        if "hex" in case.request:
            answer = oracle.decode(schema, bytes.fromhex(case.request["hex"]), case.request["rowSeq"])
        else:
            text = case.request.get("values_text")
            answer = oracle.encode(schema, case.request["values"] if text is None else parse_exact(text))
        assert answer == told(case), case.id
