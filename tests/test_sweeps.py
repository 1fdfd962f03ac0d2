"""Sweeps: the reference keeps all their laws, and whoever breaks one is found, with the offset."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from conformance.adapters import reference
from conformance.adapters.inprocess import InProcess
from conformance.adapters.registry import resolve
from conformance.cli import main
from conformance.errors import AdapterError, UsageError
from conformance.sweeps.damages import KINDS, Damage, damages
from conformance.sweeps.good_log import build
from conformance.sweeps.laws import expected
from conformance.sweeps.run import sweep
from conformance.sweeps.saved import repeat, save

COUNT = 28
PLAIN, COMPRESSED = build(COUNT, "none"), build(COUNT, "zstd")


def connection_of(change=None):
    """The reference, whose answers to jsonl.scan go through ``change(bytes, answer)``."""

    def answer(request):
        told = reference.answer(request)
        if change is not None and request["op"] == "jsonl.scan":
            return change(bytes.fromhex(request["hex"]), told)
        return told

    return InProcess(answer)


@pytest.mark.parametrize("log", [PLAIN, COMPRESSED], ids=["plain", "zstd"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_reference_keeps_the_laws(kind, log):
    verdict = sweep(connection_of(), log, kind, stride=1 if kind in ("cut", "tear") else 23)
    assert (verdict.failures, verdict.first) == (0, None)
    assert verdict.checks == len(list(damages(kind, log, 1 if kind in ("cut", "tear") else 23)))
    assert verdict.checks >= 5


def test_the_good_log_is_whole_and_open_at_its_end():
    assert len(PLAIN.events) == COUNT
    assert [event["seq"] for event in PLAIN.events] == list(range(COUNT))
    assert PLAIN.events[-1]["type"] != "turn/end"
    assert len(PLAIN.rows) == 1
    assert PLAIN.data[PLAIN.last_write - 1 : PLAIN.last_write] == b"\n"
    assert PLAIN.events == COMPRESSED.events
    found = reference.answer(
        {"op": "jsonl.scan", "edition": "v0", "compression": "none", "hex": PLAIN.data.hex()}
    )
    assert found["result"]["events"] == PLAIN.events


def test_every_byte_is_cut_and_every_bit_flipped():
    assert [damage.offset for damage in damages("cut", PLAIN)] == list(range(len(PLAIN.data)))
    flips = list(damages("flip-open", PLAIN))
    assert len(flips) == 8 * (len(PLAIN.data) - PLAIN.last_write)
    assert len({damage.apply(PLAIN.data) for damage in flips}) == len(flips)


def test_a_stride_keeps_every_boundary():
    offsets = {damage.offset for damage in damages("cut", PLAIN, 1000)}
    assert {part.end for part in PLAIN.parts[:-1]} <= offsets
    assert len(offsets) < len(PLAIN.data) / 10


# -- implementations with a fault --------------------------------------------------


def takes_a_line_without_end(data, told):
    """The last line counts as soon as it is whole JSON."""
    if "result" in told and not data.endswith(b"\n"):
        try:
            event = json.loads(data.rpartition(b"\n")[2])
        except ValueError:
            return told
        told["result"]["events"].append(event)
        told["result"]["tornFrom"] = None
    return told


def loses_the_last_event(_data, told):
    if "result" in told and told["result"]["events"] and told["result"]["tornFrom"] is not None:
        told["result"]["events"].pop()
    return told


def papers_over(data, told):
    """Committed damage is a torn tail, too."""
    if told.get("rejected", {}).get("condition") in ("jsonl-line", "jsonl-gap"):
        line = told["rejected"]["at"]
        kept = b"".join(piece + b"\n" for piece in data.split(b"\n")[:line])
        request = {"op": "jsonl.scan", "edition": "v0", "compression": "none", "hex": kept.hex()}
        events = reference.answer(request)["result"]["events"]
        return {"result": {"header": {}, "events": events, "tornFrom": len(kept)}}
    return told


def refuses_what_is_torn(_data, told):
    if "result" in told and told["result"]["tornFrom"] is not None:
        return {"rejected": {"condition": "jsonl-line"}}
    return told


def cuts_one_byte_early(_data, told):
    if "result" in told and told["result"]["tornFrom"] is not None:
        told["result"]["tornFrom"] -= 1
    return told


def cuts_nothing(_data, told):
    if "result" in told:
        told["result"]["tornFrom"] = None
    return told


def breaks(data, told):
    return {"crashed": "TypeError"} if b"\x00" in data else told


FAULTS = [
    (takes_a_line_without_end, "cut", PLAIN.parts[1].end - 1),
    (loses_the_last_event, "cut", PLAIN.parts[1].end + 1),
    (papers_over, "flip-committed", PLAIN.parts[0].end),
    (papers_over, "repeat", PLAIN.parts[1].start),
    (refuses_what_is_torn, "cut", PLAIN.parts[0].end + 1),
    (cuts_one_byte_early, "cut", PLAIN.parts[0].end + 1),
    (cuts_nothing, "cut", PLAIN.parts[0].end + 1),
    (breaks, "tear", PLAIN.last_write),
]


@pytest.mark.parametrize(("fault", "kind", "first"), FAULTS, ids=[f"{f[0].__name__}-{f[1]}" for f in FAULTS])
def test_a_fault_is_found_at_its_first_offset(fault, kind, first, tmp_path):
    verdict = sweep(connection_of(fault), PLAIN, kind)
    assert verdict.first is not None
    assert verdict.first.damage.offset == first
    _, saved = save(tmp_path, PLAIN, verdict, COUNT)
    again = repeat(connection_of(fault), saved)
    assert (again.checks, again.failures, again.first) == (1, 1, verdict.first)
    assert repeat(connection_of(), saved).failures == 0
    assert len(list(tmp_path.iterdir())) == 2


def takes_what_has_no_header(_data, told):
    """A log without a whole first line is empty, and not refused."""
    if told.get("rejected", {}).get("condition") in ("jsonl-empty", "jsonl-header-json", "zstd-empty"):
        return {"result": {"header": {}, "events": [], "tornFrom": 0}}
    return told


@pytest.mark.parametrize(
    ("fault", "log", "kind", "why"),
    [
        (takes_what_has_no_header, PLAIN, "cut", "its first line has no line feed yet"),
        (takes_what_has_no_header, PLAIN, "flip-committed", "its first line is no object of JSON"),
        (papers_over, PLAIN, "repeat", "line 27 is at fault, and a turn/end follows"),
        (takes_what_has_no_header, COMPRESSED, "cut", "its first frame is not whole"),
    ],
)
def test_why_a_log_is_to_be_refused_is_told(fault, log, kind, why):
    verdict = sweep(connection_of(fault), log, kind, stride=500)
    assert verdict.first is not None
    assert verdict.first.told.endswith(f" events of a log that is to be refused: {why}")


def test_a_compressed_log_whose_torn_frame_loses_what_came_before_is_found():
    def forgets(_data, told):
        if "result" in told and told["result"]["tornFrom"] is not None:
            told["result"]["events"] = []
        return told

    verdict = sweep(connection_of(forgets), COMPRESSED, "cut")
    assert verdict.first is not None
    assert verdict.first.damage.offset == COMPRESSED.parts[1].end + 1


def test_what_the_compressed_format_cannot_tell_is_counted():
    flips = sweep(connection_of(), COMPRESSED, "flip-committed", stride=9)
    assert flips.failures == 0
    assert flips.unseen > 0
    tears = sweep(connection_of(), COMPRESSED, "tear")
    assert tears.unloadable > 0
    assert sweep(connection_of(), PLAIN, "tear").unloadable == 0


MALFORMED = [
    {},
    {"events": 5, "tornFrom": None},
    {"events": [], "tornFrom": "x"},
    {"events": [], "tornFrom": -1},
    {"events_text": "[", "tornFrom": None},
    {"events_text": 5, "tornFrom": None},
]


@pytest.mark.parametrize("log", [PLAIN, COMPRESSED], ids=["plain", "zstd"])
@pytest.mark.parametrize("result", MALFORMED)
def test_what_is_no_answer_is_a_failure_with_its_offset(result, log):
    verdict = sweep(connection_of(lambda _data, _told: {"result": result}), log, "cut", stride=500)
    assert verdict.first is not None
    assert verdict.failures == verdict.checks == verdict.outcomes["malformed"]
    assert verdict.first.damage.offset == 0
    assert verdict.first.told.startswith("answered with malformed: ")


@pytest.mark.parametrize("result", [*MALFORMED, {"events": [], "tornFrom": None, "closers": 5}])
def test_nor_does_one_about_a_repair_end_the_sweep(result):
    def answer(request):
        return {"result": result} if request["op"] == "jsonl.load" else reference.answer(request)

    verdict = sweep(InProcess(answer), PLAIN, "cut", stride=500)
    assert verdict.first is not None
    assert "does not load whole: malformed" in verdict.first.told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda found: found["closers"].append({"type": "x"}), "a second repair finds something to do"),
        (lambda found: found.update(tornFrom=1), "does not load whole"),
    ],
)
def test_a_repair_that_does_not_hold_is_found(change, told):
    def answer(request):
        found = reference.answer(request)
        if request["op"] == "jsonl.load":
            change(found["result"])
        return found

    verdict = sweep(InProcess(answer), PLAIN, "tear", stride=50)
    assert verdict.first is not None
    assert told in verdict.first.told


def test_a_fold_that_is_not_stable_is_found():
    counter = iter(range(10**6))

    def answer(request):
        found = reference.answer(request)
        if request["op"] == "fold":
            found["result"]["nodes"] = [next(counter)]
        return found

    verdict = sweep(InProcess(answer), PLAIN, "tear", stride=50)
    assert verdict.first is not None
    assert "fold of the repaired log is not stable" in verdict.first.told


def test_the_oracle_reads_the_good_log_itself():
    cut = Damage("cut", PLAIN.parts[-1].end)
    found = expected(PLAIN, cut, PLAIN.data)
    assert found is not None
    assert (found.events, found.torn_from) == (PLAIN.events, None)


@pytest.mark.parametrize("told", [{"error": "no"}, {"unsupported": "no"}, {"result": 7}, {"neither": 1}])
def test_an_adapter_that_cannot_answer_is_given_up(told):
    asked = []

    def answer(request):
        if request["op"] == "hello":
            return reference.answer(request)
        asked.append(request)
        return told

    with pytest.raises(AdapterError, match="cut, plain: 3 logs in a row were answered with"):
        sweep(InProcess(answer), PLAIN, "cut")
    assert len(asked) == 3


def test_an_adapter_that_sometimes_fails_is_not_given_up():
    turn = itertools.count()

    def answer(request):
        if request["op"] == "hello" or next(turn) % 3 == 0:
            return reference.answer(request)
        return {"error": "now and then"}

    verdict = sweep(InProcess(answer), PLAIN, "cut", stride=500)
    assert 3 < verdict.outcomes["error"] < verdict.checks


def test_an_adapter_without_a_scan_is_told_so():
    def answer(request):
        found = reference.answer(request)
        found["result"]["capabilities"] = ["fold"]
        return found

    with pytest.raises(AdapterError, match=r"asks jsonl\.scan"):
        sweep(InProcess(answer), PLAIN, "cut")


def test_nothing_is_said_of_loads_to_one_that_cannot_load():
    def answer(request):
        found = reference.answer(request)
        if request["op"] == "hello":
            found["result"]["capabilities"] = ["jsonl.scan"]
        return found

    assert sweep(connection_of(), PLAIN, "cut", stride=500).repaired > 0
    assert sweep(InProcess(answer), PLAIN, "cut", stride=500).repaired == 0


def test_a_sweep_without_a_check_has_not_passed():
    """As that of torn last writes, where the log says of none that it is the last."""
    log = replace(PLAIN, last_write=len(PLAIN.data))
    with pytest.raises(UsageError, match="tear, plain: there is no such damage"):
        sweep(connection_of(), log, "tear")


SAVED = {"kind": "cut", "offset": 1, "bit": None, "events": 5, "compression": "none", "files": False}
WRONG = [
    {"kind": "x"},
    {"kind": []},
    {"compression": "lz4"},
    {"compression": []},
    {"compression": "sqlite"},
    {"offset": "1"},
    {"offset": -1},
    {"offset": True},
    {"kind": "flip-open", "bit": "x"},
    {"kind": "flip-open", "bit": None},
    {"kind": "flip-open", "bit": 8},
    {"bit": 1},
    {"events": -5},
    {"events": 0},
    {"events": 10**9},
    {"files": 1},
]


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", "[" * 99_999, *(json.dumps({**SAVED, **wrong}) for wrong in WRONG)]
)
def test_what_is_no_saved_check_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(UsageError, match="is no saved check"):
        repeat(connection_of(), tmp_path / "x.json")


@pytest.mark.parametrize("files", [False, True])
@pytest.mark.parametrize("kind", ["cut", "flip-open"])
def test_nor_is_a_damage_behind_the_end_of_the_log(tmp_path, kind, files):
    saved = {
        **SAVED,
        "kind": kind,
        "bit": 0 if kind == "flip-open" else None,
        "offset": 10**6,
        "files": files,
    }
    (tmp_path / "x.json").write_text(json.dumps(saved))
    connection = resolve("store:jsonl").connect() if files else connection_of()
    with pytest.raises(UsageError, match=r"byte 1000000.*lies behind the end of the log"):
        repeat(connection, tmp_path / "x.json")


def test_both_files_that_are_kept_are_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "early.py").write_text(
        "from conformance.adapters import reference\n\n"
        "def create():\n"
        "    def answer(request):\n"
        "        told = reference.answer(request)\n"
        "        if told.get('result', {}).get('tornFrom'):\n"
        "            told['result']['tornFrom'] -= 1\n"
        "        return told\n\n"
        "    return answer\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["sweep", "python:early:create", "--events", "5", "--stride", "500", "--kind", "cut"]
    assert main([*words, "--save", str(tmp_path / "kept")]) == 1
    told = capsys.readouterr().out
    kept = list((tmp_path / "kept").iterdir())
    assert len(kept) == 2
    assert all(str(path) in told.split() or f"{path}," in told.split() for path in kept)


def test_the_command(capsys):
    assert main(["sweep", "--events", "12", "--kind", "cut", "--kind", "tear"]) == 0
    told = capsys.readouterr().out
    assert "pass cut, plain: " in told
    assert "pass tear, plain: " in told
