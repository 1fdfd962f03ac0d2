"""Where logs lie: ids and working directories for their names, places near it, files of a store."""

from __future__ import annotations

from conformance.checking.places import project_of, segment_of
from conformance.fuzzing.draw import Draw
from conformance.fuzzing.spelling import Members, Spelled, odd

NO_PROJECT = "_no-cwd"
LOGS = {"none": "session.jsonl", "zstd": "session.jsonl.zstd"}
LONGEST_NAME = 255
"""Bytes of a name that a file system takes."""
PIECES = (
    "s", "session-1", "A", "a.b", "0", "_", "-", "--", ".", "..", "...", "~", "~002F", " ", "%41", "con",
    "root", ",", "@", "[", "`", "{", "\0", "\n", "\x7f", "é", "e\u0301", "会", "٣", "²", "\u2028", "😀",
    "\ud83d", "\ude00", "\uffff",
)  # fmt: skip
"""What ids and folders are made of: plain characters and their neighbours, points, dashes, what looks like an
escape, letters and digits of other scripts, characters of two units and halves of them."""
SEPARATORS = ("/", "\\", ":", "//", ":\\", "/./", "/-/")
FILLERS = (("x", 1), ("-", 1), ("é", 5), ("😀", 10))
"""What makes a name long, and how many characters of the name each has."""


def text_of(draw: Draw, between: tuple[str, ...]) -> str:
    """A few pieces, now and then with so many of one kind that the name is cut, or is not."""
    text = draw.choice(PIECES)
    for _ in draw.repeat(1):
        text += (draw.choice(between) if draw.chance(60) else "") + draw.choice(PIECES)
    if draw.chance(10):
        filler, size = draw.choice(FILLERS)
        text += filler * (draw.integer(235, 265) // size) + draw.choice(PIECES)
    return text


def session_of(draw: Draw) -> str:
    """An id; seldom an empty one, which has no name."""
    return text_of(draw, SEPARATORS) if not draw.chance(10) else ""


def cwd_of(draw: Draw) -> str | None:
    """A working directory, absolute or not, of any host; seldom an empty one, or none."""
    if draw.chance(20):
        return None if draw.chance(50) else ""
    front = draw.choice(("/", "/", "", "C:\\", "//", "-", "/-"))
    return front + text_of(draw, SEPARATORS) + (draw.choice(SEPARATORS) if draw.chance(20) else "")


def members_of(draw: Draw, session: str, cwd: str | None) -> Members:
    """What every request says."""
    members: Members = {"session": spelled(session)}
    if cwd is not None:
        members["cwd"] = spelled(cwd)
    members["compression"] = draw.choice(tuple(LOGS))
    return members


def spelled(text: str) -> Spelled | str:
    """A text as a member of a request, which may hold halves of characters."""
    return Spelled(odd(text)) if not is_whole(text) else text


def is_whole(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def is_name(text: str) -> bool:
    """Whether a folder can have this name."""
    if not is_whole(text) or text in ("", ".", "..") or "/" in text or "\0" in text:
        return False
    return len(text.encode()) <= LONGEST_NAME


def path_request(draw: Draw) -> Members:
    """A session and a folder, whose file has a name of its own."""
    return members_of(draw, session_of(draw), cwd_of(draw))


# -- a log that was found somewhere --------------------------------------------------


def found_request(draw: Draw) -> Members:
    """A log that lies in its place, or in one that is nearly its own."""
    session, cwd = session_of(draw), cwd_of(draw)
    members = members_of(draw, session, cwd)
    project, segment = project_for(cwd), segment_of(session)
    if not is_name(segment):
        return members
    if draw.chance(40):
        project = name_near(draw, project, cwd or "", project_for(cwd_of(draw)))
    if draw.chance(30):
        segment = name_near(draw, segment, session, segment_of(session_of(draw)))
    return {**members, "found": {"project": project, "segment": segment}}


def project_for(cwd: str | None) -> str:
    return NO_PROJECT if cwd is None else project_of(cwd)


def name_near(draw: Draw, name: str, written: str, other: str) -> str:
    """Another name: a neighbour, what it was made of, or that of something else."""
    near = draw.choice(
        (other, NO_PROJECT, "--root--", name.swapcase(), name[:-1], f"{name}-", name.strip("-"), written)
    )
    return near if is_name(near) else name


# -- the files of a store ------------------------------------------------------------


def files_request(draw: Draw) -> Members:
    """A store with some logs: of the session and of others, in one project or in several.

    It breaks at most one of the two rules of which either may be told.
    """
    session, cwd = session_of(draw), cwd_of(draw)
    members = members_of(draw, session, cwd)
    segment = segment_of(session)
    if not is_name(f"{segment}.jsonl.zstd"):
        return members
    log = LOGS[members["compression"]]
    other = LOGS["zstd" if members["compression"] == "none" else "none"]
    projects = (project_for(cwd), NO_PROJECT, "--p--", "--root--")
    segments = (segment, segment, "t", "~0020", *(name for name in (session, f"{segment}-") if is_name(name)))
    files = [f"{draw.choice(projects)}/{draw.choice(segments)}/{log}"]
    for _ in draw.repeat(1):
        files.append(f"{draw.choice(projects)}/{draw.choice(segments)}/{log}")
    for _ in draw.repeat(1):
        files.append(other_file(draw, draw.choice(projects), draw.choice(segments), other))
    if draw.chance(40):
        flat = f"{draw.choice((*segments, 'session', ''))}{draw.choice(('.jsonl', '.jsonl.zstd'))}"
        wrong = flat if draw.chance(50) else f"{draw.choice(segments)}/{other}"
        files.insert(draw.integer(0, len(files)), f"{draw.choice(projects)}/{wrong}")
    return {**members, "files": without_clashes(files)}


def other_file(draw: Draw, project: str, segment: str, other: str) -> str:
    """A file that is nobody's business, wherever it lies and whatever it is called."""
    return draw.choice(
        (
            f"{segment}.jsonl",
            other,
            "notes.txt",
            f"{project}/notes.txt",
            f"{project}/{segment}.jsonl.bak",
            f"{project}/{segment}/{draw.choice(('x', 'session.v1'))}{other.removeprefix('session')}",
            f"{project}/{segment}/{other}.tmp",
            f"{project}/{segment}/{segment}/{other}",
        )
    )


def without_clashes(files: list[str]) -> list[str]:
    """Each file once, and none where another has a folder."""
    kept: list[str] = []
    for path in files:
        if not any(
            path == each or path.startswith(f"{each}/") or each.startswith(f"{path}/") for each in kept
        ):
            kept.append(path)
    return kept
