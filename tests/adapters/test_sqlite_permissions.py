"""Files and folders that may not be written: no case can show this where the runner is an administrator.

Programs run as a user who is none. An administrator asks as ``NOBODY``.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from reference_impl.rejection import Rejection
from reference_impl.sqlite_open import open_database

hosting = pytest.importorskip("conformance.adapters.dsh.hosting")
NOBODY = 65534
READ_ONLY = "attempt to write a readonly database"


@pytest.fixture
def folder():
    """A folder that everybody can enter."""
    made = Path(tempfile.mkdtemp(prefix="session-conformance-"))
    made.chmod(0o755)
    yield made
    for path in (made, *made.rglob("*")):
        path.chmod(0o755)
    shutil.rmtree(made)


def database(folder, name, made, *, file, inside):
    """A copy of a database, with the rights of its file and of the folder that it is in."""
    place = folder / name
    place.mkdir()
    path = place / "store.sqlite"
    shutil.copyfile(made, path)
    path.chmod(file)
    place.chmod(inside)
    return path


def three(folder, made):
    """A database that everybody may write, one whose file is read-only, and one whose folder is."""
    return [
        database(folder, "open", made, file=0o666, inside=0o777),
        database(folder, "file", made, file=0o444, inside=0o777),
        database(folder, "folder", made, file=0o666, inside=0o555),
    ]


def ask_the_reference(paths, schema):
    """What the reference says, in a process of no administrator: "opened", or condition and text."""
    with multiprocessing.get_context("fork").Pool(1, initializer=be_nobody) as pool:
        return [pool.apply(answer, (str(path), schema)) for path in paths]


def be_nobody():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def answer(path, schema):
    try:
        open_database(path, schema)
    except Rejection as refusal:
        return refusal.condition, str(refusal)
    return "opened"


def ask_the_published(argv, paths):
    """What the published store says, run as somebody who is no administrator."""
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    lines = "".join(f"{json.dumps({'id': 1, 'op': 'sqlite.open', 'path': str(path)})}\n" for path in paths)
    told = subprocess.run(argv, input=lines, capture_output=True, text=True, timeout=60, check=True, **user)
    answers = [json.loads(line) for line in told.stdout.splitlines()]
    return ["opened" if "result" in told else told["rejected"]["message"] for told in answers]


@pytest.mark.parametrize("schema", [14, 15])
def test_the_reference_refuses_what_it_may_not_write(folder, schema):
    made = folder / "made.sqlite"
    open_database(str(made), schema)
    paths = three(folder, made)
    before = [path.read_bytes() for path in paths]
    told = ask_the_reference(paths, schema)
    assert told == ["opened", ("db-no-access", READ_ONLY), ("db-no-access", READ_ONLY)]
    assert [path.read_bytes() for path in paths][1:] == before[1:]


def test_the_published_store_refuses_what_it_may_not_write(folder):
    try:
        node, _, installed, *_ = hosting.published_command("sqlite14", [])
    except hosting.DshUnavailable as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the published store cannot be run here: {error}")
    program = folder / "program"
    shutil.copytree(installed, program)
    program.chmod(0o755)
    opening = shutil.copy(Path(__file__).with_name("sqlite14_open.mjs"), program)
    argv = [shutil.copy(node, program) if os.geteuid() == 0 else node, opening, str(program)]
    new = folder / "new"
    new.mkdir()
    new.chmod(0o777)
    made = new / "store.sqlite"
    assert ask_the_published(argv, [made]) == ["opened"]
    paths = three(folder, made)
    before = [path.read_bytes() for path in paths]
    assert ask_the_published(argv, paths) == ["opened", READ_ONLY, READ_ONLY]
    assert [path.read_bytes() for path in paths][1:] == before[1:]
