"""A JSON text as a store holds it: read strictly, but without a limit on how deep it nests.

Pages: ``spec/jsonl.md``, ``spec/values.md``. No number is refused: an integer beyond 2^53-1 becomes
the double that it rounds to, and what lies beyond all doubles is infinite.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from .values import MAX_SAFE_INTEGER

LONGEST_SAFE = len("-9007199254740991")
FEW_BRACKETS = 400
"""A text with fewer cannot nest too deeply for Python's own reader, which gives up at a thousand levels."""

TOKEN = re.compile(
    r'[ \t\n\r]*([][{},:]|"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9][0-9.eE+-]*|true|false|null)[ \t\n\r]*', re.DOTALL
)


def refuse_word(name: str) -> NoReturn:
    """NaN and the infinities are no JSON, though Python reads them."""
    raise ValueError(name)


def read_integer(digits: str) -> int | float:
    """VAL-3: a whole number as an integer if it is safe, else as a double; -0 keeps its sign."""
    if len(digits) > LONGEST_SAFE or digits == "-0":
        return float(digits)
    number = int(digits)
    return number if abs(number) <= MAX_SAFE_INTEGER else float(digits)


DECODER = json.JSONDecoder(parse_int=read_integer, parse_constant=refuse_word)


def read_json(text: str) -> object:
    """JSNL-10: the value of one JSON text with blanks around it. Raises ValueError if it is none."""
    if text.count("[") + text.count("{") < FEW_BRACKETS:
        return DECODER.decode(text)
    return read_nested(text)


def read_nested(text: str) -> object:
    """The same for a text that nests deeply: what is open is kept in a list, not on the stack.

    ``wants`` is what may come next: a value, a name, the colon behind it, or what follows a value. In
    front of the first element or member the closing bracket may stand as well.
    """
    root: list[object] = []
    open_ones: list[list[object] | dict[str, object]] = [root]
    name = ""
    wants, at_first = "value", False
    position = 0
    while position < len(text):
        found = TOKEN.match(text, position)
        if found is None:
            raise ValueError
        piece, position = found[1], found.end()
        inside = open_ones[-1]
        if piece in ("]", "}"):
            if inside is root or (piece == "}") != isinstance(inside, dict):
                raise ValueError
            if wants != "next" and not at_first:
                raise ValueError
            open_ones.pop()
            wants, at_first = "next", False
        elif piece == ",":
            if wants != "next" or inside is root:
                raise ValueError
            wants = "name" if isinstance(inside, dict) else "value"
        elif piece == ":":
            if wants != "colon":
                raise ValueError
            wants = "value"
        elif wants == "name":
            if not piece.startswith('"'):
                raise ValueError
            name = str(DECODER.decode(piece))
            wants, at_first = "colon", False
        elif wants == "value":
            value: object = [] if piece == "[" else {} if piece == "{" else DECODER.decode(piece)
            if isinstance(inside, dict):
                inside[name] = value
            else:
                inside.append(value)
            wants, at_first = "next", False
            if isinstance(value, list | dict):
                open_ones.append(value)
                wants, at_first = "name" if isinstance(value, dict) else "value", True
        else:
            raise ValueError
    if open_ones[-1] is not root or wants != "next":
        raise ValueError
    return root[0]
