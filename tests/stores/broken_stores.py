"""Stores that keep the contract as long as nothing happens to them, each with one fault."""

from __future__ import annotations

import contextlib
import os
import time

from reference_impl.stores import durable
from reference_impl.stores.jsonl_format import event_bytes, header_bytes
from reference_impl.stores.jsonl_store import JsonlStore, Open


class AnswersBeforeWriting(JsonlStore):
    """A batch is written when the next one comes."""

    waiting = b""

    def extend(self, session_id, opened, events):
        content, self.waiting = self.waiting, event_bytes(events, self.compression)
        if content:
            durable.replace_tail(opened.path, opened.size, opened.size, content)
        opened.count += len(events)
        opened.size += len(content)


class LosesTheLastBatch(JsonlStore):
    """A repair cuts off the last whole line, too."""

    def settle(self, session_id, stored, missing):
        if stored.end < stored.size:
            content = stored.path.read_bytes()[: stored.end - 1]
            stored.end = content.rfind(b"\n") + 1
        super().settle(session_id, stored, missing)


class KeepsTheTornLine(JsonlStore):
    """What is appended goes behind the rest of a torn line."""

    def settle(self, session_id, stored, missing):
        stored.end = stored.size
        super().settle(session_id, stored, missing)


class WritesTheFileAnew(JsonlStore):
    """Each append writes the whole file, from its first byte."""

    def extend(self, session_id, opened, events):
        content = opened.path.read_bytes() + event_bytes(events, self.compression)
        with opened.path.open("wb", buffering=0) as stream:
            time.sleep(0.002)
            stream.write(content)
        opened.count += len(events)
        opened.size = len(content)


class PublishesInPieces(JsonlStore):
    """A new log gets its name before it has its content."""

    def begin(self, header, events):
        path = self.folder / "_no-cwd" / header["id"] / self.file
        path.parent.mkdir(parents=True, exist_ok=True)
        content = header_bytes(header, self.compression) + event_bytes(events, self.compression)
        path.touch()
        time.sleep(0.5)
        path.write_bytes(content)
        self.open[header["id"]] = Open(len(events), path, len(content))


class LeavesHalfABatch(JsonlStore):
    """A write that fails is not rolled back."""

    def extend(self, session_id, opened, events):
        descriptor = os.open(opened.path, os.O_WRONLY)
        durable.write_all(descriptor, event_bytes(events, self.compression), opened.size)
        os.close(descriptor)
        opened.count += len(events)
        opened.size = opened.path.stat().st_size


class TakesNoLock(JsonlStore):
    """Anybody may write."""

    def __init__(self, folder, compression="none", *, read_only=False):
        super().__init__(folder, compression, read_only=True)

    def require_writer(self):
        pass


class TrustsTheClock(JsonlStore):
    """A revision is the time of the file."""

    def revision(self, session_id, aborted=None):
        path = self.find(session_id)
        return None if path is None else str(path.stat().st_mtime_ns)


class MakesItsFolderAnew(JsonlStore):
    """A store whose folder is gone begins a new one, and answers as if nothing had happened."""

    def extend(self, session_id, opened, events):
        opened.path.parent.mkdir(parents=True, exist_ok=True)
        with opened.path.open("ab") as stream:
            stream.write(event_bytes(events, self.compression))
            stream.flush()
            os.fsync(stream.fileno())
        opened.count += len(events)


class SaysItCould(JsonlStore):
    """A new session that cannot be written is answered for all the same."""

    def begin(self, header, events):
        with contextlib.suppress(OSError):
            super().begin(header, events)


class NeverAnswers(JsonlStore):
    """An append comes to no end."""

    def append(self, session_id, events):
        time.sleep(3600)
