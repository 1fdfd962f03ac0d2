"""Logs in folders: the place and the name of a log, and two logs of one session."""

from __future__ import annotations

import pytest
import zstandard
from logs import HEADER, log, whole_turn

import conformance
from conformance.adapters.reference import HANDLERS
from conformance.checking.places import project_of, segment_of


def store(root, project, segment, name="session.jsonl", **header):
    folder = root / project / segment
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(log(*whole_turn(), header={**HEADER, **header}))


def found(root):
    return {each.path.removeprefix(str(root)): each for each in conformance.check(root).files}


def conditions(report):
    return [(each.condition, each.severity) for each in report.findings]


def test_a_log_in_its_place(tmp_path):
    store(tmp_path, "--work-x--", "s", cwd="/work/x")
    store(tmp_path, "_no-cwd", "t", id="t")
    assert [conditions(each) for each in found(tmp_path).values()] == [[], []]


def test_a_log_in_another_place(tmp_path):
    store(tmp_path, "--work-x--", "s", cwd="/work/y")
    (report,) = found(tmp_path).values()
    assert conditions(report) == [("jsonl-path", "error")]
    assert report.verdict == "refused"
    assert (report.refusal.found, report.refusal.expected) == ("--work-x--/s", "--work-y--/s")


def test_two_logs_of_one_session(tmp_path):
    store(tmp_path, "--a--", "s", cwd="/a")
    store(tmp_path, "--b--", "s", cwd="/b")
    reports = found(tmp_path)
    assert conditions(reports["/--a--/s/session.jsonl"]) == []
    assert conditions(reports["/--b--/s/session.jsonl"]) == [("jsonl-duplicate-id", "error")]


def test_two_stores_may_hold_one_session(tmp_path):
    store(tmp_path / "mine", "--a--", "s", cwd="/a")
    store(tmp_path / "backup", "--a--", "s", cwd="/a")
    assert [conditions(each) for each in found(tmp_path).values()] == [[], []]


def packed(path):
    """Compress a log where it lies: the header in a frame of its own."""
    head, _, rest = path.read_bytes().partition(b"\n")
    path.write_bytes(b"".join(zstandard.ZstdCompressor().compress(each) for each in (head + b"\n", rest)))


def test_a_store_with_plain_and_compressed_logs(tmp_path):
    """Whichever it is opened as, all its sessions are refused; that is told once it is known."""
    store(tmp_path, "--a--", "s", cwd="/a")
    store(tmp_path, "--a--", "t", id="t", name="session.jsonl.zstd", cwd="/a")
    packed(tmp_path / "--a--" / "t" / "session.jsonl.zstd")
    store(tmp_path / "other", "--a--", "u", id="u", name="session.jsonl.zstd", cwd="/a")
    packed(tmp_path / "other" / "--a--" / "u" / "session.jsonl.zstd")
    reports = found(tmp_path)
    assert conditions(reports["/--a--/s/session.jsonl"]) == []
    assert conditions(reports["/--a--/t/session.jsonl.zstd"]) == [("root-encoding", "error")]
    assert reports["/--a--/t/session.jsonl.zstd"].verdict == "refused"
    assert conditions(reports["/other/--a--/u/session.jsonl.zstd"]) == []


def test_stores_are_told_apart_however_their_logs_are_named(tmp_path):
    store(tmp_path, "--a--", "s", cwd="/a")
    store(tmp_path, "--b--", "s", cwd="/b")
    logs = sorted(tmp_path.glob("*/s/session.jsonl"))
    first, second = conformance.check(logs).files
    assert (conditions(first), conditions(second)) == ([], [("jsonl-duplicate-id", "error")])


@pytest.mark.parametrize("compressed", [True, False])
def test_bytes_that_are_not_what_the_name_says(tmp_path, compressed):
    """A store goes by the name. Elsewhere a name is a name, and the log is judged by its bytes."""
    name = "session.jsonl" if compressed else "session.jsonl.zstd"
    for project in ("--a--", "downloads"):
        store(tmp_path, project, "s", name=name, cwd="/a")
        if compressed:
            packed(tmp_path / project / "s" / name)
    reports = found(tmp_path)
    condition = "jsonl-header-json" if compressed else "zstd-magic"
    assert conditions(reports[f"/--a--/s/{name}"]) == [(condition, "error")]
    assert reports[f"/--a--/s/{name}"].verdict == "refused"
    assert conditions(reports[f"/downloads/s/{name}"]) == [("encoding-name", "advice")]
    assert reports[f"/downloads/s/{name}"].verdict == "accepted"


def test_a_flat_layout(tmp_path):
    store(tmp_path, "--a--", ".", name="s.jsonl", cwd="/a")
    (report,) = found(tmp_path).values()
    assert conditions(report) == [("root-flat-layout", "error")]


@pytest.mark.parametrize(("name", "expected"), [("session.v3.jsonl", True), ("session.v0.jsonl", False)])
def test_a_name_of_another_edition(tmp_path, name, expected):
    store(tmp_path, "x", "y", name=name)
    (report,) = found(tmp_path).values()
    assert report.verdict == "accepted"
    assert ("edition-name" in {each.condition for each in report.findings}) == expected


def test_elsewhere_a_log_may_have_any_name(tmp_path):
    store(tmp_path, "downloads", "mine", cwd="/somewhere")
    (report,) = found(tmp_path).values()
    assert report.findings == []


@pytest.mark.parametrize(
    ("session", "cwd"),
    [
        ("s", "/"), ("..", "/a//b"), ("a/b c", "C:\\x\\y"), ("ä\ud800😀", "/ü/~"), ("...", "relative"),
        ("x", "/" + "long/" * 80), ("~", "---"), ("x", "::"),
    ],
)  # fmt: skip
def test_places_are_those_of_the_reference(session, cwd):
    told = HANDLERS["jsonl.path"]({"session": session, "cwd": cwd, "compression": "none"})
    assert (told["project"], told["segment"]) == (project_of(cwd), segment_of(session))
