"""What the runner does to a closed store: exact changes to the bytes of a file, or SQL.

A ``damage`` step is a list of actions, each an object:

    {file: PATTERN, cut: N}              keep the first N bytes; below 0, take that many from the end
    {file: PATTERN, append: HEX}         bytes behind the end; append_text the same as text
    {file: PATTERN, at: N, bytes: HEX}   other bytes from N on; below 0, counted from the end
    {file: PATTERN, replace: [OLD, NEW]} another text for one that stands there exactly once
    {file: PATTERN, remove: true}        the file goes
    {file: NAME, write_text: TEXT}       a file anew, with its folders
    {file: PATTERN, sql: TEXT}           statements on a SQLite database

PATTERN is a path below the folder of the store, in which ``*`` and ``**`` stand for what a backend
names itself. It has to match exactly one file.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


class DamageError(Exception):
    """The store is not as the step expects it, so the step cannot be done."""


def apply(root: Path, actions: list[dict[str, Any]]) -> None:
    """Do the actions one after the other. Raises DamageError where one cannot be done."""
    for action in actions:
        try:
            _apply(root, action)
        except (OSError, sqlite3.Error) as error:
            raise DamageError(f"damage to {action['file']} failed: {error}") from None


def _apply(root: Path, action: dict[str, Any]) -> None:
    if "write_text" in action:
        path = root / action["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(action["write_text"].encode())
        return
    path = only_file(root, action["file"])
    if "sql" in action:
        with closing(sqlite3.connect(path)) as database:
            database.executescript(action["sql"])
            database.commit()
    elif "remove" in action:
        path.unlink()
    else:
        path.write_bytes(changed(path.read_bytes(), action))


def changed(content: bytes, action: dict[str, Any]) -> bytes:
    """The bytes of a file after one action. Raises DamageError where the file has no such place."""
    if "cut" in action:
        return content[: place_in(content, action["cut"])]
    if "append" in action:
        return content + bytes.fromhex(action["append"])
    if "append_text" in action:
        return content + str(action["append_text"]).encode()
    if "bytes" in action:
        start, new = place_in(content, action["at"]), bytes.fromhex(action["bytes"])
        return content[:start] + new + content[start + len(new) :]
    old, new = (text.encode() for text in action["replace"])
    if content.count(old) != 1:
        told = f"{content.count(old)} times, not once"
        raise DamageError(f"{action['file']} holds {action['replace'][0]!r} {told}")
    return content.replace(old, new)


def place_in(content: bytes, place: int) -> int:
    """A byte offset; below 0 it counts from the end. Raises DamageError if the file is too short."""
    if abs(place) > len(content):
        raise DamageError(f"the file has {len(content)} bytes, and no place {place}")
    return place if place >= 0 else len(content) + place


def only_file(root: Path, pattern: str) -> Path:
    """The one file below ``root`` that the pattern matches."""
    found = [path for path in sorted(root.glob(pattern)) if path.is_file()]
    if len(found) == 1:
        return found[0]
    there = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if path.is_file()]
    raise DamageError(
        f"{len(found)} files match {pattern}, not one; the store holds {', '.join(there) or 'no file'}."
        " A backend that declares a storage format keeps its files where that format has them"
    )
