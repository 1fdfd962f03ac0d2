"""Lists of source seqs and the cells that stores write for them."""

from __future__ import annotations

from typing import Any

from conformance.fuzzing.draw import Draw
from conformance.fuzzing.logs import LAST_SEQ
from conformance.fuzzing.spelling import Members, Spelled, raw
from conformance.fuzzing.values import NOT_SEQS

BORDERS = (
    0,
    1,
    127,
    128,
    129,
    255,
    256,
    16383,
    16384,
    2**21 - 1,
    2**21,
    2**31 - 1,
    2**32,
    2**49,
    2**52,
    LAST_SEQ - 1,
    LAST_SEQ,
)
"""Around each length of a varint, and around what 31, 32 and 53 bits hold."""
ROWS = (0, 1, 2, 3, 9, 200, 3000)
LISTS_15 = (
    "[0,1]", " [ 1 , 2 ] ", "[1.0]", "[1e0]", "[-0]", "[]", "null", "{}", '"x"', "[1,", "", "[1] x", "[01]",
    "NaN", "[NaN]", "[Infinity]", "[9007199254740993]", "\ufeff[1]", "[1,]", "[\"\\ud800\"]", "true", "nul",
    "'a'", "[0x1]", "[+1]", "[.5]", "[1.]", "[1e]", '"\\x"', '"\t"', "\t[1]\n", "\u00a0[1]", '{"a":1,"a":2}',
    "-", "1 2", "[[1]]",
)  # fmt: skip


def seq_list(draw: Draw) -> list[int]:
    """A list of seqs: runs, steps up and down, borders, repetitions."""
    if draw.chance(25):
        return ascending_list(draw)
    values: list[int] = []
    for _ in draw.repeat(4):
        way = draw.integer(0, 6)
        last = values[-1] if values else draw.choice(BORDERS)
        if way == 0:
            values.append(draw.choice(BORDERS))
        elif way == 1:
            start = min(last + draw.integer(1, 3), LAST_SEQ)
            values.extend(range(start, min(start + draw.integer(1, 12), LAST_SEQ + 1)))
        elif way == 2:
            values.append(min(last + draw.choice(BORDERS), LAST_SEQ))
        elif way == 3:
            values.append(max(last - draw.choice(BORDERS), 0))
        elif way == 4:
            values.append(draw.integer(0, 300))
        elif way == 6:
            values.append(min(last + draw.integer(1, 200), LAST_SEQ))
        else:
            values.append(last)
    return values


def ascending_list(draw: Draw) -> list[int]:
    """Short runs with gaps between them, where both forms of a cell are about as long."""
    values: list[int] = []
    last = draw.choice((-1, 60, 120, 126, 16380))
    for _ in draw.repeat(3):
        start = last + draw.integer(1, 70)
        last = start + draw.integer(0, 3)
        values.extend(range(start, last + 1))
    return values


def varint(number: int) -> bytes:
    """Seven bits to a byte, the lowest first."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def odd_varint(draw: Draw) -> bytes:
    """A varint, or something like it: too long, not in its shortest form, too large, cut off."""
    number = draw.choice(BORDERS) if draw.chance(60) else draw.integer(0, 300)
    way = draw.integer(0, 12)
    if way < 7:
        return varint(number)
    if way == 12:
        large = varint(draw.choice((2**54, 2**55, 2**60)))
        return large[:-1] + bytes([large[-1] | 0x80, 0])
    if way == 7:
        return varint(number)[:-1] + bytes([varint(number)[-1] | 0x80, 0])
    if way == 8:
        return varint(draw.choice((2**53, 2**53 - 2, 2**54 - 2, 2**54 - 1, 2**54, 2**56, 2**62, 2**63 - 1)))
    if way == 9:
        return b"\xff" * draw.integer(1, 11) + bytes([draw.choice((0, 1, 0x7F))])
    if way == 10:
        return varint(number)[:-1] + b"\x80" * draw.integer(0, 9)
    return bytes([draw.integer(0, 255)])


def cell(draw: Draw, *, tagged: bool) -> bytes:
    """A cell: what a writer makes, or nearly that, or any bytes."""
    body = b""
    way = draw.integer(0, 5)
    tag = b""
    if draw.chance(2):
        return body
    if tagged:
        tag = bytes([draw.choice((0, 1, 1, 0, 1, 2, 0x80, 255))]) if not draw.chance(5) else b""
    if way < 2:
        for _ in draw.repeat(3):
            body += odd_varint(draw)
    elif way == 2:
        body = runs(draw)
    elif way == 3:
        body = deltas(draw)
    elif way == 4:
        body = bytes(draw.integer(0, 255) for _ in draw.repeat(3))
    else:
        body = runs(draw) if tag == b"\x01" else deltas(draw)
        if body:
            at = draw.integer(0, len(body) - 1)
            body = body[:at] + bytes([draw.integer(0, 255)]) + body[at + draw.integer(0, 1) :]
    return tag + body


def runs(draw: Draw) -> bytes:
    """Pairs of start and count, most of them in order."""
    body, last = b"", 0
    for _ in draw.repeat(2):
        start = draw.choice(BORDERS) if draw.chance(20) else min(max(last + draw.integer(-1, 3), 0), LAST_SEQ)
        room = LAST_SEQ - start
        count = draw.choice((1, 2, 3, 5, 1, 2))
        if draw.chance(30):
            count = draw.choice(
                (0, 130, LAST_SEQ, 2**32, room, min(room + 1, LAST_SEQ), min(room + 2, LAST_SEQ))
            )
        last = start + count
        body += varint(start) + varint(count)
    return body


def deltas(draw: Draw) -> bytes:
    """A first value and steps that now and then leave the range of seqs."""
    body, value = b"", 0
    for place in draw.repeat(3):
        if place == 0:
            value = draw.choice(BORDERS)
            body += varint(value)
        else:
            step = draw.choice(
                (0, 1, 2, 3, 4, 2 * value, 2 * value + 1, 2 * (LAST_SEQ - value), 2 * LAST_SEQ)
            )
            body += varint(max(step, 0))
            value = min(max(value + (step // 2 if step % 2 == 0 else -(step // 2) - 1), 0), LAST_SEQ)
    return body


def encode_request(draw: Draw) -> Members:
    """A list for an encoder, seldom with a member that is no seq."""
    values: list[Any] = list(seq_list(draw))
    if draw.chance(15):
        values.insert(draw.integer(0, len(values)), draw.choice(NOT_SEQS))
    if values and draw.chance(15):
        place = draw.integer(0, len(values) - 1)
        if type(values[place]) is int:
            values[place] = raw("-0") if values[place] == 0 else raw(f"{values[place]}.0")
    return {"values": Spelled(values)}


def encode_15_request(draw: Draw) -> Members:
    """A list for the encoder that checks nothing."""
    values: list[Any] = list(seq_list(draw))
    if draw.chance(25):
        unchecked: tuple[Any, ...] = (-1, 0.5, None, True, "x", [], {"a": 1}, raw("-0"), raw("5.0"))
        values.insert(draw.integer(0, len(values)), draw.choice(unchecked))
    return {"values": Spelled(values)}


def decode_15_request(draw: Draw) -> Members:
    """A text for the decoder of schema 15."""
    if draw.chance(50):
        return {"text": draw.choice(LISTS_15)}
    return {"text": "[" + draw.choice((",", ", ")).join(str(seq) for seq in seq_list(draw)) + "]"}


def decode_17_request(draw: Draw) -> Members:
    return {"hex": cell(draw, tagged=False).hex(), "rowSeq": draw.choice(ROWS)}


def decode_19_request(draw: Draw) -> Members:
    return {"hex": cell(draw, tagged=True).hex(), "rowSeq": draw.choice(ROWS)}
