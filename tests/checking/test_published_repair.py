"""A repaired database holds the rows that the published SQLite backend writes when it loads the old one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from logs import assistant, call, chunk, result, step, step_end, turn, turn_end, user
from test_check_databases import write
from test_db_repair import revisions, rows_of

from conformance.adapters.dsh import hosting
from conformance.adapters.dsh.node import DshUnavailable
from conformance.cli import main

SCRIPT = Path(__file__).with_name("load_sqlite.mjs")
OPEN = [turn(), user(), step()]
CALLED = [*OPEN, chunk("a"), assistant("c1", "c2", sourceEventSeqs=[3]), call("c2")]
ENDLESS = {
    "columns": {"seq": 2, "type": "step/start", "time": 1, "data": '{"turn":1,"step":1e400}'},
}
GAP = {"type": "plan/mode", "seq": 40}


@pytest.fixture(scope="module")
def published():
    try:
        node, _, folder, *_ = hosting.published_command("sqlite14", [])
    except DshUnavailable as missing:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the published store cannot be run here: {missing}")
    return node, folder


@pytest.mark.parametrize(
    "events",
    [
        OPEN,
        CALLED,
        [*CALLED, GAP],
        [*CALLED, GAP, {**GAP, "seq": 41}],
        [*CALLED, result("c2", 5)],
        [*CALLED, result("c2", 5), result("c1"), step_end()],
        [*OPEN, step_end(), turn_end(), turn(2), GAP],
        [GAP],
        [turn(), user(), ENDLESS],
    ],
)
def test_the_rows_are_those_of_the_published_backend(tmp_path, published, events):
    node, folder = published
    old, theirs, ours = (tmp_path / f"{name}.db" for name in ("old", "theirs", "ours"))
    write(old, 14, events)
    shutil.copy(old, theirs)
    subprocess.run([node, str(SCRIPT), folder, str(theirs), "s"], check=True, capture_output=True, timeout=60)
    assert main(["repair", str(old), "--output", str(ours)]) == 0
    assert rows_of(ours) == rows_of(theirs)
    assert revisions(ours) == revisions(theirs) == [2]
