"""Where the JSONL store keeps the log of a session: a folder for its project, one for itself, and the file.

Page: ``spec/jsonl-path.md``. Names are made of letters, digits, point, underscore and dash; anything else is
escaped, so that no id and no working directory leads out of the store.
"""

from __future__ import annotations

from dataclasses import dataclass

from .rejection import Rejection

PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
SEPARATORS = "/\\:"
LONGEST_PROJECT = 251
NO_PROJECT = "_no-cwd"
ROOT = "root"
FILES = {"none": "session.jsonl", "zstd": "session.jsonl.zstd"}


@dataclass(frozen=True)
class Place:
    """The three names below the folder of the store."""

    project: str
    segment: str
    file: str


def place_of(session: str, cwd: str | None, compression: str) -> Place:
    """PATH-1: where a log lies follows from its id, its working directory and the store's compression."""
    project = NO_PROJECT if cwd is None else project_of(cwd)
    return Place(project, segment_of(session), FILES[compression])


def check_place(found: Place, session: str, cwd: str | None, compression: str) -> None:
    """PATH-7: a log that lies in another place than its header says is refused."""
    if found != place_of(session, cwd, compression):
        raise Rejection("jsonl-path", f'header id "{session}" and cwd identify another place')


def check_store(files: list[str], session: str, compression: str) -> None:
    """Whether the log of a session can be looked for in a store that holds these files.

    ``files`` are paths below the folder of the store, with ``/``. The whole store is asked first.
    """
    log = FILES[compression]
    other = FILES["none" if compression == "zstd" else "zstd"]
    for path in files:
        names = path.split("/")
        if len(names) == 2 and names[1].endswith((".jsonl", ".jsonl.zstd")):  # PATH-8
            raise Rejection("root-flat-layout", f'"{path}" uses the unsupported flat-file layout')
        if len(names) == 3 and names[2] == other:  # PATH-9
            raise Rejection("root-encoding", f'"{path}" does not fit the compression "{compression}"')
    segment = segment_of(session)
    places = [path for path in files if path.split("/")[1:] == [segment, log]]
    if len(places) > 1:  # PATH-10
        raise Rejection("jsonl-duplicate-id", f'session id "{session}" appears in multiple projects')


def units_of(text: str) -> list[int]:
    """The UTF-16 code units of a text, lone surrogates included."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [int.from_bytes(data[index : index + 2], "little") for index in range(0, len(data), 2)]


def escaped(unit: int) -> str:
    """PATH-2: a plain character stands for itself, any other unit is a tilde and four hex digits."""
    return chr(unit) if chr(unit) in PLAIN else f"~{unit:04X}"


def segment_of(session: str) -> str:
    """PATH-3: the name of a session's folder. PATH-4: one or two points alone would lead elsewhere."""
    if session == "":
        raise Rejection("path-id-empty", "cannot encode an empty path segment")
    if session in (".", ".."):
        return "~002E" * len(session)
    return "".join(escaped(unit) for unit in units_of(session))


def project_of(cwd: str) -> str:
    """PATH-5: the name of a project's folder. PATH-6: it is cut, and so two projects may share one."""
    if cwd == "":
        raise Rejection("path-project-empty", "cannot encode an empty project path")
    name = ""
    behind_separator = False
    for unit in units_of(cwd):
        is_separator = chr(unit) in SEPARATORS
        if not is_separator:
            name += escaped(unit)
        elif not behind_separator:
            name += "-"
        behind_separator = is_separator
    return f"--{(name.lstrip('-') or ROOT)[:LONGEST_PROJECT]}--"
