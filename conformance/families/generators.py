"""The members of a family: request members, in a fixed order that depends on the parameters alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

Members = Iterator[dict[str, Any]]
SAFE = 2**53 - 1


def blobs(parameters: dict[str, Any]) -> Members:
    """Cells for a decoder: ``prefix``, then every body of each of the ``sizes``, counted up as a number.

    With a ``stride`` every stride-th body is taken, from the body ``first`` on. Each cell is asked once per
    row seq of ``rowSeqs``.
    """
    prefixes = [bytes.fromhex(prefix) for prefix in parameters.get("prefixes", [""])]
    for prefix, size in product(prefixes, parameters["sizes"]):
        for number in range(parameters.get("first", 0), 256**size, parameters.get("stride", 1)):
            cell = (prefix + number.to_bytes(size, "big")).hex()
            for row_seq in parameters["rowSeqs"]:
                yield {"hex": cell, "rowSeq": row_seq}


def damaged(parameters: dict[str, Any]) -> Members:
    """Each of ``cells`` cut after every byte, and with every bit turned, for each row seq."""
    for text in parameters["cells"]:
        cell = bytes.fromhex(text)
        cut = [cell[:length] for length in range(len(cell) + 1)]
        turned = [
            cell[:place] + bytes([cell[place] ^ 1 << bit]) + cell[place + 1 :]
            for place in range(len(cell))
            for bit in range(8)
        ]
        for blob in (*cut, *turned):
            for row_seq in parameters["rowSeqs"]:
                yield {"hex": blob.hex(), "rowSeq": row_seq}


def lists(parameters: dict[str, Any]) -> Members:
    """Every list of these ``lengths`` over ``values``, the last place changing fastest."""
    for length in parameters["lengths"]:
        for values in product(parameters["values"], repeat=length):
            yield {"values": list(values)}


def edges(parameters: dict[str, Any]) -> Members:
    """Lists of one and of two values about every power of two, which is where varints grow.

    Around 2^k for k from 0 to 53, each value within ``around`` that is a seq, alone, after 0 and before 0.
    """
    around = parameters["around"]
    values = sorted(
        {2**k + d for k in range(54) for d in range(-around, around + 1) if 0 <= 2**k + d <= SAFE}
    )
    for value in values:
        yield {"values": [value]}
        yield {"values": [0, value]}
        yield {"values": [value, 0]}


def runs(parameters: dict[str, Any]) -> Members:
    """Lists of two runs: each start, length, gap and length.

    They show where runs become shorter than deltas, and where the two tie.
    """
    for start, first, gap, second in product(
        parameters["starts"], parameters["lengths"], parameters["gaps"], parameters["lengths"]
    ):
        head = range(start, start + first)
        tail = range(head.stop + gap, head.stop + gap + second)
        yield {"values": [*head, *tail]}


GENERATORS: dict[str, Callable[[dict[str, Any]], Members]] = {
    "blobs": blobs,
    "damaged": damaged,
    "lists": lists,
    "edges": edges,
    "runs": runs,
}


def members(generator: str, parameters: dict[str, Any]) -> Members:
    """The members of a family. The generator is one of GENERATORS; the schema checks its parameters."""
    return GENERATORS[generator](parameters)
