"""Shorthand for rows of SQLite: what an author writes in cases of ``rows.*``, expanded.

A row has seven columns, of which a case is about one or two. The forms are listed in
``vectors/README.md``; a row without the member ``row`` or ``session`` stays exactly as written.
"""

from __future__ import annotations

from typing import Any

from conformance.shorthand import TIME_STEP, ShorthandError, expand_events, in_each_answer

Value = dict[str, Any]

ROW_OPERATIONS = frozenset(("rows.encode", "rows.decode", "rows.scan", "rows.session"))
COLUMNS = {"row": "type", "seq": "seq", "time": "time", "data": "data", "sources": "source_event_seqs",
           "op": "surface_op"}  # fmt: skip
"""The members of a row in shorthand, each with its column; the last column depends on the schema."""
CELLS = frozenset(("int", "real", "text", "blob"))
LONGEST_REPEAT = 1 << 24
SESSION: Value = {
    "version": 0,
    "created_at": 1,
    "cwd": None,
    "parent_session": None,
    "seed_length": None,
    "origin": None,
    "delegation_depth": None,
    "agent_preset": None,
    "incarnation": "11111111-2222-4333-8444-555555555555",
    "revision": 1,
}
"""The usual row of a session, beside its id."""


def expand_rows(schema: int, request: Value) -> Value:
    """A request of ``rows.*`` with whole rows; its events are whole already. Raises ShorthandError."""
    expanded: Value = with_repeats(request)
    base = request.get("base", 0)
    if "row" in request:
        expanded["row"] = expand_row(schema, expanded["row"], 0)
    if isinstance(request.get("rows"), list):
        expanded["rows"] = [expand_row(schema, row, base + at) for at, row in enumerate(expanded["rows"])]
    return expanded


def expand_rows_expected(schema: int, request: Value, expect: Value) -> Value:
    """The expectation of such a case with whole rows and events; ``request`` is expanded already."""
    return in_each_answer(with_repeats(expect), lambda answer: _expand_result(schema, request, answer))


def _expand_result(schema: int, request: Value, alternative: Value) -> Value:
    result = alternative.get("result")
    if not isinstance(result, dict):
        return alternative
    result = dict(result)
    if isinstance(result.get("events"), list):
        result["events"] = expand_events(result["events"], first_seq(request))
    if isinstance(result.get("rows"), list):
        result["rows"] = [expand_row(schema, row, index) for index, row in enumerate(result["rows"])]
    return {**alternative, "result": result}


def first_seq(request: Value) -> int:
    """The seq of the first event that a request of rows holds: its base, or that of its row."""
    row = request.get("row")
    if isinstance(row, dict) and isinstance(row.get("seq"), dict) and "int" in row["seq"]:
        return int(row["seq"]["int"])
    return int(request.get("base", 0))


def expand_row(schema: int, row: Any, seq: int) -> Any:
    """One row. ``seq`` is that of its place, which it has unless the author says otherwise."""
    if not isinstance(row, dict) or not row.keys() & {"row", "session"}:
        return row
    if "session" in row:
        return session_row(schema, row)
    values = {"seq": seq, "data": "{}", "sources": None, "op": None, **row}
    flag = "is_packed" if schema == 19 else "ignorable"
    last = values.pop(flag, 0 if schema == 19 else None)
    if "packed" in values:
        if values.pop("packed") is not True or flag in row:
            raise ShorthandError(f"packed takes true, and no {flag} beside it")
        last = 1 if schema == 19 else 0
    if "time" not in values:
        values["time"] = values["seq"] * TIME_STEP if type(values["seq"]) is int else 0
    if unknown := sorted(values.keys() - COLUMNS.keys()):
        raise ShorthandError(f"a row of schema {schema} knows no {', '.join(unknown)}")
    cells = {column: cell(values[name]) for name, column in COLUMNS.items()}
    return {**cells, flag: cell(last)}


def session_row(schema: int, row: Value) -> Value:
    """``{session: CELLS}``: the usual row of a session with some cells set."""
    changed = row["session"]
    if len(row) > 1 or not isinstance(changed, dict):
        raise ShorthandError("session takes the cells to set, and nothing stands beside it")
    key = "id" if schema == 17 else "session_key"
    values = {key: "s", **SESSION}
    if unknown := sorted(changed.keys() - values.keys()):
        raise ShorthandError(f"the row of a session of schema {schema} knows no {', '.join(unknown)}")
    return {column: cell(value) for column, value in (values | changed).items()}


def cell(value: Any) -> Value | None:
    """A whole number, a text or null as a cell; a cell stays as it is. Raises ShorthandError."""
    if value is None or (isinstance(value, dict) and len(value) == 1 and value.keys() <= CELLS):
        return value
    if type(value) is int:
        return {"int": str(value)}
    if isinstance(value, str):
        return {"text": value}
    raise ShorthandError(f"a cell is a whole number, a text, null, or one of {', '.join(sorted(CELLS))}")


def with_repeats(value: Any) -> Any:
    """``{$join: [[TEXT, N], …]}``, anywhere, is each TEXT N times, joined. Raises ShorthandError."""
    if isinstance(value, list):
        return [with_repeats(element) for element in value]
    if not isinstance(value, dict):
        return value
    if "$join" not in value:
        return {name: with_repeats(member) for name, member in value.items()}
    pieces = value["$join"]
    if len(value) > 1 or not isinstance(pieces, list) or not all(map(is_piece, pieces)):
        raise ShorthandError("$join takes a list of [TEXT, TIMES]")
    return "".join(text * times for text, times in pieces)


def is_piece(piece: Any) -> bool:
    """Whether this is a text and how often it stands there."""
    match piece:
        case [str(text), int(times)] if type(times) is int:
            return times >= 0 and len(text) * times <= LONGEST_REPEAT
    return False
