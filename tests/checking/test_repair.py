"""Repair does what a reader does, into a new file; explain tells how a surface came to be."""

from __future__ import annotations

import json

import pytest
import zstandard
from damage import damaged
from kinds import KINDS
from logs import HEADER, assistant, at, call, log, replace, step, turn, turn_end, user, whole_turn

import conformance
from conformance.adapters.reference import HANDLERS
from conformance.checking import repair
from conformance.checking.repair import NoRepairError, plan_repair, write_repair
from conformance.cli import main

CRASHED = [turn(), user(), step(), assistant("c1", "c2"), call("c2")]


def repaired(tmp_path, data):
    """The bytes that a repair writes; None where there is nothing to do, the exit code where it refuses."""
    source, target = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    target.unlink(missing_ok=True)
    source.write_bytes(data)
    code = main(["repair", str(source), "--output", str(target)])
    assert source.read_bytes() == data
    if code != 0:
        assert not target.exists()
        return code
    return target.read_bytes() if target.exists() else None


def load(data, compression="none"):
    return HANDLERS["jsonl.load"]({"hex": data.hex(), "compression": compression, "sessionId": "s"})


def test_a_crash_is_closed(tmp_path):
    data = log(*CRASHED)
    new = repaired(tmp_path, data + b'{"torn')
    assert new.startswith(data)
    assert load(new)["events"] == [*load(data)["events"], *load(data)["closers"]]
    (report,) = conformance.check(new).files
    assert (report.verdict, report.closers, report.torn_from) == ("accepted", 0, None)


@pytest.mark.parametrize(
    ("written", "again"), [("1e400", "null"), ("-1e400", "null"), ("-0", "0"), ("-0.0", "0"), ("1.50", "1.5")]
)
def test_a_closer_is_written_as_a_store_writes_it(tmp_path, written, again):
    """What JSON has no number for becomes null."""
    data = log(turn(), step()).replace(b'"step":1', f'"step":{written}'.encode())
    new = repaired(tmp_path, data)
    assert new.startswith(data)
    added = [json.loads(line, parse_constant=pytest.fail) for line in new[len(data) :].splitlines()]
    assert json.dumps(added[0]["data"]["step"]) == again
    assert conformance.check(new).files[0].verdict == "accepted"


def test_a_step_without_a_number_is_closed(tmp_path, capsys):
    """It is open all the same, and the closer that ends it has none either."""
    data = log(turn(), {"type": "step/start", "data": {"turn": 1}})
    new = repaired(tmp_path, data)
    assert json.loads(new[len(data) :].splitlines()[0])["data"] == {"turn": 1}
    assert "add seq 2: step/end of turn 1, no step" in capsys.readouterr().out


def test_a_repaired_log_is_what_the_reference_loads(tmp_path):
    done = 0
    for seed in range(700):
        data = damaged(seed)
        (report,) = conformance.check(data).files
        new = repaired(tmp_path, data)
        if report.verdict != "accepted":
            assert new == 1
            continue
        before = load(data)
        if new is None:
            assert (before["closers"], before["tornFrom"]) == ([], None)
            continue
        after = load(new)
        assert after["events"] == [*before["events"], *before["closers"]]
        assert (after["header"], after["closers"], after["tornFrom"]) == (before["header"], [], None)
        done += 1
    assert done > 50


@pytest.mark.parametrize("cut", range(1, 60, 3))
def test_a_torn_frame_is_written_again(tmp_path, cut):
    head, _, rest = log(*whole_turn()[:-1]).partition(b"\n")
    compress = zstandard.ZstdCompressor(write_checksum=True).compress
    data = b"".join(compress(each) for each in (head + b"\n", rest[:300], rest[300:]) if each)
    if not rest[:300].endswith(b"\n"):
        parts = rest.split(b"\n")
        first, second = b"\n".join(parts[:4]) + b"\n", b"\n".join(parts[4:])
        data = compress(head + b"\n") + compress(first) + compress(second)
    data = data[:-cut]
    before = load(data, "zstd")
    after = load(repaired(tmp_path, data), "zstd")
    assert after["events"] == [*before["events"], *before["closers"]]
    assert (after["closers"], after["tornFrom"]) == ([], None)


@pytest.mark.parametrize(
    "kind", [each for each in KINDS if each.verdict == "refused"], ids=lambda each: each.name
)
def test_nothing_is_invented(tmp_path, kind, capsys):
    assert repaired(tmp_path, kind.data) == 1
    assert "no tool should" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "cwd", "condition"),
    [("session.jsonl", "/work/y", "jsonl-path"), ("session.jsonl.zstd", "/work/x", "zstd-magic")],
)
def test_a_log_that_no_store_finds_is_refused_as_check_refuses_it(tmp_path, capsys, name, cwd, condition):
    folder = tmp_path / "--work-x--" / "s"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(log(*CRASHED, header={**HEADER, "cwd": cwd}))
    (report,) = conformance.check(folder / name).files
    assert report.refusal.condition == condition
    assert main(["repair", str(folder / name), "--dry-run"]) == 1
    assert condition in capsys.readouterr().err


def grown(path):
    """What the harness that still has the log writes in the meantime."""
    with path.open("ab") as file:
        file.write(log(*CRASHED, turn_end()).splitlines(keepends=True)[-1])


def test_a_log_that_grew_since_it_was_planned_is_not_written(tmp_path):
    source, target = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    source.write_bytes(log(*CRASHED))
    plan = plan_repair(source)
    grown(source)
    with pytest.raises(NoRepairError, match="changed"):
        write_repair(plan, source, target)
    assert not target.exists()


def test_a_log_that_grows_while_it_is_copied_is_not_written(tmp_path, monkeypatch):
    source, target = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    source.write_bytes(log(*CRASHED))
    plan = plan_repair(source)
    monkeypatch.setattr(repair, "line_of", lambda event: grown(source) or b"")
    with pytest.raises(NoRepairError, match="changed"):
        write_repair(plan, source, target)
    assert not target.exists()


def test_a_log_that_grows_while_it_is_judged_is_not_planned(tmp_path, monkeypatch):
    source = tmp_path / "old.jsonl"
    source.write_bytes(log(*CRASHED))
    monkeypatch.setattr(repair, "is_compressed", lambda *_: grown(source))
    with pytest.raises(NoRepairError, match="changed"):
        plan_repair(source)


def test_nothing_is_written_where_nothing_is_to_be_repaired(tmp_path, capsys):
    assert repaired(tmp_path, log(*whole_turn())) is None
    assert "nothing to repair" in capsys.readouterr().out


def test_a_dry_run_writes_nothing(tmp_path, capsys):
    source = tmp_path / "old.jsonl"
    source.write_bytes(log(*CRASHED) + b"{")
    assert main(["repair", str(source), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "would cut 1 bytes" in out
    assert "would add seq 5: tool/result of 'c1', TOOL_NOT_STARTED" in out
    assert "would add seq 6: tool/result of 'c2', TOOL_OUTCOME_UNKNOWN" in out
    assert [each.name for each in tmp_path.iterdir()] == ["old.jsonl"]


def test_a_repair_is_never_in_place(tmp_path):
    source = tmp_path / "old.jsonl"
    source.write_bytes(log(*CRASHED))
    assert main(["repair", str(source), "--output", str(source)]) == 2
    assert main(["repair", str(source)]) == 2
    assert source.read_bytes() == log(*CRASHED)


REPLACED = [*whole_turn(), user("the sum of it", name="v", **replace(1, 4, 1, 4))]


def explain(tmp_path, capsys, events, *words):
    path = tmp_path / "log.jsonl"
    path.write_bytes(log(*events))
    code = main(["explain", str(path), *words])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_explain_shows_nodes_replaces_and_transcript(tmp_path, capsys):
    code, out = explain(tmp_path, capsys, REPLACED)
    assert code == 0
    assert "10 events, 2 nodes, 2 messages" in out
    assert "seq 9 replaces 1 to 4: 1, 4" in out
    model, human = out.split("what the human saw")
    assert model.index("the sum of it") < model.index("[result of c1] done")
    assert "hello  (shadowed by 9)" in human
    assert "the sum of it" not in human


def test_explain_at_an_event(tmp_path, capsys):
    code, out = explain(tmp_path, capsys, REPLACED, "--at", "4")
    assert code == 0
    assert "5 events, 2 nodes" in out
    assert explain(tmp_path, capsys, REPLACED, "--at", "10")[0] == 2


def test_explain_what_changed(tmp_path, capsys):
    _, out = explain(tmp_path, capsys, REPLACED, "--diff", "6", "9")
    signs = {line[0]: line.split()[1] for line in out.splitlines()[1:] if line[0] in "+-"}
    assert signs == {"-": "4", "+": "9"}
    assert "- 1  user/message" in out


def test_explain_who_cites(tmp_path, capsys):
    _, out = explain(tmp_path, capsys, REPLACED, "--cites", "4")
    assert "seq 4 (assistant/message) cites 3" in out
    assert "cited by seq 9, user/message" in out
    assert "shadowed by seq 9" in out


def test_explain_tells_where_it_stops(tmp_path, capsys):
    code, out = explain(tmp_path, capsys, [turn(), user(), at(5, user()), at(6, turn_end())])
    assert code == 1
    assert "2 events, 1 node," in out
    assert "not followed further: 3 events are missing" in out


@pytest.mark.parametrize("damage", [False, True], ids=["cut", "cut and damaged"])
def test_explain_takes_of_a_torn_frame_what_a_reader_takes(tmp_path, capsys, damage):
    """The whole lines of it, or nothing where what there is of it does not expand."""
    compress = zstandard.ZstdCompressor(write_checksum=True).compress
    head, _, rest = log(*REPLACED).partition(b"\n")
    lines = rest.splitlines(keepends=True)
    torn = compress(b"".join(lines[3:]))
    torn = torn[:9] + b"\xff" * 4 + torn[13:-8] if damage else torn[:-2]
    path = tmp_path / "log.jsonl.zstd"
    path.write_bytes(compress(head + b"\n") + compress(b"".join(lines[:3])) + torn)
    (report,) = conformance.check(path).files
    assert main(["explain", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"{report.events} events, {report.nodes} node")
    assert report.events == (3 if damage else 10)
