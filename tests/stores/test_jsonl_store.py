"""The JSONL store on real files: the contract, and what the contract cannot see from outside."""

from __future__ import annotations

import errno
import math
import os
from pathlib import Path

import pytest
import zstandard

from conformance.adapters.registry import resolve
from conformance.corpus import load_corpus
from conformance.engine import Options, run
from conformance.errors import UsageError
from conformance.ledger import load_ledger
from reference_impl.jsonl import scan
from reference_impl.jsonl_path import check_store
from reference_impl.rejection import Rejection
from reference_impl.stores import durable, jsonl_format, jsonl_store
from reference_impl.stores.durable import StoreBusy, UnsettledError, publish
from reference_impl.stores.jsonl_store import JsonlStore
from reference_impl.stores.store import ReadOnly

KINDS = ["none", "zstd"]
HEADER = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
START = {"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1}}
END = {"type": "turn/end", "seq": 1, "time": 6, "data": {"turn": 1, "reason": {"kind": "completed"}}}


def title(seq, text="t"):
    return {"type": "session/title", "seq": seq, "time": seq, "data": {"title": text}}


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    opened = JsonlStore(tmp_path, request.param)
    opened.create(HEADER)
    yield opened
    opened.close()


def file_of(store: JsonlStore) -> Path:
    (path,) = store.files()
    return path


@pytest.mark.parametrize("name", ["jsonl", "jsonl-zstd"])
def test_the_store_keeps_the_whole_contract(name):
    cases = [case for case in load_corpus() if case.op == "backend"]
    strict = Options(strict=frozenset(("condition", "position")))
    *records, end = run(cases, resolve(f"store:{name}"), load_ledger(), strict)
    assert end["exit"] == 0
    assert end["counts"]["pass"] >= 60
    undeclared = {record["case"] for record in records[1:] if record["status"] == "undeclared"}
    assert {case.split(".")[1] for case in undeclared} <= {
        "sqlite-damage", "zstd-damage", "jsonl-damage", "jsonl-live",
    }  # fmt: skip


def test_another_name_is_no_store():
    with pytest.raises(UsageError, match="known are jsonl, jsonl-zstd, sqlite15"):
        resolve("store:paper").connect()


def test_what_was_answered_for_was_flushed_before(store, monkeypatch):
    """At every flush of the log it holds all that the answer promises, and the answer comes behind it."""
    flushed: list[int] = []

    def fsync(descriptor: int) -> None:
        flushed.append(os.fstat(descriptor).st_size)

    monkeypatch.setattr(os, "fsync", fsync)
    store.append("s", [START])
    assert file_of(store).stat().st_size in flushed
    flushed.clear()
    store.append("s", [END])
    assert flushed[-1] == file_of(store).stat().st_size


def test_the_names_of_new_folders_and_files_are_flushed(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(durable, "sync_folder", lambda folder: flushed.append(folder.relative_to(tmp_path)))
    store = JsonlStore(tmp_path)
    store.create(HEADER)
    store.append("s", [START])
    assert flushed == [Path(), Path("_no-cwd"), Path("_no-cwd/s")]
    store.close()


def flushed_folders(monkeypatch, root):
    flushed = []
    monkeypatch.setattr(durable, "sync_folder", lambda folder: flushed.append(folder.relative_to(root)))
    return flushed


def test_a_name_whose_flush_failed_is_flushed_by_the_next_attempt(store, monkeypatch):
    """The folders are there by then, and it does not show that their names are not on the disk."""
    sync_folder = durable.sync_folder

    def broken(folder):
        if folder.name == "_no-cwd":
            raise OSError(errno.EIO, "the disk is gone")
        sync_folder(folder)

    monkeypatch.setattr(durable, "sync_folder", broken)
    with pytest.raises(OSError, match="the disk is gone"):
        store.append("s", [START])
    flushed = flushed_folders(monkeypatch, store.folder)
    store.append("s", [START])
    assert flushed == [Path(), Path("_no-cwd"), Path("_no-cwd/s")]


def test_a_file_of_a_killed_writer_is_flushed_with_its_names_before_it_is_answered_for(store, monkeypatch):
    """That one may have died between the link and the flush, and its other name is still there."""
    store.append("s", [START, END])
    fresh = file_of(store).with_name(f"{store.file}.fresh")
    os.link(file_of(store), fresh)
    store.close()
    again = JsonlStore(store.folder, store.compression)
    synced, fsync = [], os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.fstat(number).st_ino) or fsync(number))
    flushed = flushed_folders(monkeypatch, store.folder)
    again.load("s")
    assert flushed == [Path("_no-cwd/s"), Path("_no-cwd"), Path()]
    assert file_of(again).stat().st_ino in synced
    assert not fresh.exists()
    flushed.clear()
    again.load("s")
    assert flushed == []  # once for each opening
    again.close()


@pytest.mark.parametrize("taken", [0, 1, 30])
def test_an_append_that_fails_leaves_the_file_as_it_was(store, monkeypatch, taken):
    store.append("s", [START])
    before = file_of(store).read_bytes()
    pwrite, room = os.pwrite, [taken]

    def full(descriptor: int, content: bytes, offset: int) -> int:
        if room[0] == 0:
            raise OSError(errno.ENOSPC, "no space left")
        written = pwrite(descriptor, content[: room[0]], offset)
        room[0] -= written
        return written

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="no space left"):
        store.append("s", [END])
    monkeypatch.undo()
    assert file_of(store).read_bytes() == before
    store.append("s", [END])  # the turn goes on: nothing was closed
    assert store.load("s").events == [START, END]


@pytest.mark.parametrize("taken", [0, 1, 30])
def test_a_repair_that_fails_puts_the_torn_tail_back(store, monkeypatch, taken):
    """Byte by byte: what a crash has left is evidence until its repair is on the disk."""
    store.append("s", [START])
    store.close()
    with file_of(store).open("ab") as stream:
        stream.write({"none": b'{"type":"turn/e', "zstd": b"\x28\xb5\x2f\xfd\x24"}[store.compression])
    before = file_of(store).read_bytes()
    again = JsonlStore(store.folder, store.compression)
    pwrite, failing = os.pwrite, [True]

    def full(descriptor, content, offset):
        if not failing[0]:
            return pwrite(descriptor, content, offset)
        failing[0] = False
        pwrite(descriptor, content[:taken], offset)
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="no space left"):
        again.load("s")
    monkeypatch.undo()
    assert file_of(again).read_bytes() == before
    assert [event["type"] for event in again.load("s").events] == ["turn/start", "turn/end"]
    again.close()


def test_a_listing_passes_over_a_header_that_cannot_be_expanded(tmp_path):
    store = JsonlStore(tmp_path, "zstd")
    for name in ("s", "t"):
        store.create({**HEADER, "id": name})
        store.append(name, [START])
    path = tmp_path / "_no-cwd" / "t" / store.file
    content = bytearray(path.read_bytes())
    content[12] ^= 0xFF  # within the blocks of the first frame
    path.write_bytes(content)
    assert store.list_headers() == [HEADER]
    store.close()


def test_a_flush_that_fails_is_no_answer(store, monkeypatch):
    store.append("s", [START])
    before = file_of(store).read_bytes()

    def broken(_descriptor: int) -> None:
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="could not be rolled back"):
        store.append("s", [END])
    monkeypatch.undo()
    assert file_of(store).read_bytes() == before
    with pytest.raises(Rejection, match="expected 2"):  # the file was in doubt, so it was loaded again
        store.append("s", [END])


def test_a_first_batch_that_fails_leaves_no_file(store, monkeypatch):
    def broken(_descriptor: int) -> None:
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr(durable, "sync_folder", lambda _folder: None)
    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="the disk is gone"):
        store.append("s", [START])
    monkeypatch.undo()
    assert [path for path in store.folder.rglob("*") if path.is_file()] == []
    store.append("s", [START])
    assert len(store.inspect("s").events) == 2


def test_the_other_name_of_a_file_that_is_on_the_disk_may_stay(store, monkeypatch):
    unlink = Path.unlink

    def broken(path, missing_ok=False):
        if path.exists():
            raise OSError(errno.EIO, "the disk is gone")
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", broken)
    store.append("s", [START])
    store.append("s", [END])
    monkeypatch.undo()
    assert store.inspect("s").events == [START, END]


def test_a_first_batch_that_may_be_there_is_read_before_more_is_written(store, monkeypatch):
    """The flush of its name failed, and so did taking the name back."""
    sync_folder, unlink = durable.sync_folder, Path.unlink

    def broken(path, missing_ok=False):
        if path.name == store.file or path.name == "s":
            raise OSError(errno.EIO, "the disk is gone")
        if isinstance(missing_ok, bool):
            unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", broken)
    monkeypatch.setattr(
        durable, "sync_folder", lambda folder: broken(folder) if folder.name == "s" else sync_folder(folder)
    )
    with pytest.raises(OSError, match="the disk is gone"):
        store.append("s", [START])
    monkeypatch.undo()
    with pytest.raises(Rejection, match="expected 2"):
        store.append("s", [START])
    assert [event["type"] for event in store.inspect("s").events] == ["turn/start", "turn/end"]


def test_a_new_file_is_written_over_no_other(tmp_path):
    path = tmp_path / "a" / "b"
    publish(tmp_path, path, b"first")
    with pytest.raises(FileExistsError):
        publish(tmp_path, path, b"second")
    assert path.read_bytes() == b"first"
    assert [each.name for each in path.parent.iterdir()] == ["b"]


def test_what_a_killed_writer_left_beside_a_file_is_no_log(store):
    (store.folder / "_no-cwd" / "s").mkdir(parents=True)
    (store.folder / "_no-cwd" / "s" / f"{store.file}.fresh").write_bytes(b"half a hea")
    assert store.list_headers() == []
    store.append("s", [START])
    assert [path.name for path in file_of(store).parent.iterdir()] == [store.file]


def test_the_second_writer_is_refused_until_the_first_has_closed(store):
    with pytest.raises(StoreBusy, match="another writer has this store open"):
        JsonlStore(store.folder, store.compression)
    store.close()
    JsonlStore(store.folder, store.compression).close()


def test_an_inspection_takes_no_lock_and_writes_nothing(store):
    store.append("s", [START])
    content = file_of(store).read_bytes()[:-1] + b""
    file_of(store).write_bytes(content)
    reader = JsonlStore(store.folder, store.compression, read_only=True)
    assert reader.list_headers() == [HEADER]
    reader.inspect("s")
    for call in (lambda: reader.load("s"), lambda: reader.append("s", [END]), lambda: reader.create(HEADER)):
        with pytest.raises(ReadOnly, match="opened read-only"):
            call()
    assert file_of(store).read_bytes() == content


def test_a_repair_that_is_in_doubt_leaves_nothing_to_append_to(store, monkeypatch):
    """Nobody else wrote to it, so nobody is told so: the next append reads the log first."""
    store.append("s", [START])
    pwrite = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda number, content, offset: pwrite(number, content[:5], offset))

    def broken(_descriptor):
        raise OSError(errno.EIO, "the disk is gone")

    monkeypatch.setattr(os, "fsync", broken)
    monkeypatch.setattr(os, "ftruncate", lambda number, end: broken(number))
    with pytest.raises(UnsettledError):
        store.load("s")
    monkeypatch.undo()
    with pytest.raises(Rejection, match="expected 2"):
        store.append("s", [END])


@pytest.mark.parametrize("piece", [1 << 20, 7])
def test_a_reader_is_told_of_no_damage_while_a_writer_repairs(store, monkeypatch, piece):
    """The file is longer than when it was opened, or its tail is another, at some moment of the reading."""
    store.append("s", [START])
    store.close()
    with file_of(store).open("ab") as stream:
        stream.write({"none": b'{"type":"session/ti', "zstd": b"\x28\xb5\x2f\xfd\x24\x7f"}[store.compression])
    size = file_of(store).stat().st_size
    writer = JsonlStore(store.folder, store.compression)
    reader = JsonlStore(store.folder, store.compression, read_only=True)
    read, going_on = jsonl_format.OpenFile.read, [True]

    def interleaved(source, offset, count):
        found = read(source, offset, min(count, piece))
        if going_on[0] and offset + len(found) > size - 4:
            going_on[0] = False
            monkeypatch.setattr(jsonl_format.OpenFile, "read", read)
            writer.load("s")
            writer.append("s", [{**START, "seq": 2}, {**END, "seq": 3}])
            monkeypatch.setattr(jsonl_format.OpenFile, "read", interleaved)
        return found

    monkeypatch.setattr(jsonl_format.OpenFile, "read", interleaved)
    told = reader.inspect("s")
    assert going_on == [False]
    assert told == writer.inspect("s")
    assert len(told.events) == 4
    writer.close()


def test_bytes_that_somebody_else_wrote_are_not_cut_off(store):
    store.append("s", [START])
    with file_of(store).open("ab") as stream:
        stream.write(b"something")
    with pytest.raises(OSError, match="somebody else wrote to it"):
        store.append("s", [END])
    assert file_of(store).read_bytes().endswith(b"something")


def test_half_a_character_and_all_others_come_back(store):
    events = [title(0, '\ud83d x \u2028 \u0000 é \U0001f600 \\ "')]
    store.append("s", events)
    assert store.load("s").events == events


def test_a_repair_is_one_write_and_leaves_a_whole_log(tmp_path):
    store = JsonlStore(tmp_path)
    store.create(HEADER)
    store.append("s", [START])
    with file_of(store).open("ab") as stream:
        stream.write(b'{"type":"turn/e')
    store.close()
    again = JsonlStore(tmp_path)
    loaded = again.load("s")
    found = scan(file_of(again).read_bytes())
    assert (found.events, found.torn_from) == (loaded.events, None)
    again.close()


BEYOND = b'{"type":"step/start","seq":1,"time":6,"data":{"turn":1,"step":1e400}}\n'


def test_a_number_beyond_all_doubles_is_closed_with_null(tmp_path):
    """As the published backends have it. An inspection shows the number, for it writes nothing."""
    store = JsonlStore(tmp_path)
    store.create(HEADER)
    store.append("s", [START])
    store.close()
    with file_of(store).open("ab") as stream:
        stream.write(BEYOND)
    again = JsonlStore(tmp_path)
    inspected = again.inspect("s").events
    loaded = again.load("s").events
    assert [event["data"].get("step") for event in inspected] == [None, math.inf, math.inf, None]
    assert [event["data"].get("step", "-") for event in loaded] == ["-", math.inf, None, "-"]
    assert again.load("s").events == again.inspect("s").events == loaded
    again.append("s", [{**START, "seq": 4}])
    again.close()


def test_so_is_one_in_a_torn_frame_that_is_written_again(tmp_path):
    store = JsonlStore(tmp_path, "zstd")
    store.create(HEADER)
    store.append("s", [START])
    store.close()
    with file_of(store).open("ab") as stream:
        compressor = zstandard.ZstdCompressor().compressobj()
        stream.write(compressor.compress(BEYOND) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    again = JsonlStore(tmp_path, "zstd")
    assert again.inspect("s").events[1]["data"]["step"] == math.inf
    loaded = again.load("s").events
    assert [event["data"].get("step", "-") for event in loaded] == ["-", None, None, "-"]
    assert again.inspect("s").events == loaded
    again.close()


def test_a_listing_goes_over_the_names_of_the_store_once(store, monkeypatch):
    """And not once for each session, so that a store may have many. It still sees a session in two places."""
    for number in range(20):
        store.create({**HEADER, "id": f"s{number}"})
        store.append(f"s{number}", [START])
    asked = []

    def counted(files, session, compression):
        asked.append(len(files))
        check_store(files, session, compression)

    monkeypatch.setattr(jsonl_store, "check_store", counted)
    assert len(store.list_headers()) == 20
    assert sum(asked) <= 2 * len(store.names())
    twin = store.folder / "--p--" / "s7"
    twin.mkdir(parents=True)
    (twin / store.file).write_bytes((store.folder / "_no-cwd" / "s7" / store.file).read_bytes())
    with pytest.raises(Rejection, match="multiple projects"):
        store.list_headers()
    with pytest.raises(Rejection, match="multiple projects"):
        store.inspect("s7")
    assert len(store.inspect("s8").events) == 2
