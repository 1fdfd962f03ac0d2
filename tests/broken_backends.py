"""Backends that break one promise each, as people break them, and the case that finds each."""

from __future__ import annotations

import json
from typing import Any

from miniature_backend import Json, Miniature, Refused, line_of, parsed

from reference_impl.closers import closers


class LosesTheLastBatch(Miniature):
    """The last batch stays in a buffer, which nobody empties at the end."""

    def write(self, session_id: str, header: Json, events: list[Json], size: int | None = None) -> None:
        buffers = self.__dict__.setdefault("buffers", {})
        waiting = buffers.pop(session_id, None)
        if waiting is not None:
            super().write(*waiting)
        buffers[session_id] = (session_id, header, list(events), size)

    def read(self, session_id: str) -> tuple[Json, list[Json], int]:
        buffered = self.__dict__.get("buffers", {}).get(session_id)
        if buffered is None:
            return super().read(session_id)
        _, header, events, _ = buffered
        stored = super().read(session_id)[1] if self.path(session_id).exists() else []
        return header, stored + json.loads(json.dumps(events)), 0


class Reorders(Miniature):
    """Events of a batch are written by their type, as a map would have them."""

    def write(self, session_id: str, header: Json, events: list[Json], size: int | None = None) -> None:
        super().write(session_id, header, sorted(events, key=lambda event: str(event["type"])), size)

    def read(self, session_id: str) -> tuple[Json, list[Json], int]:
        path = self.path(session_id)
        if not path.exists():
            raise Refused("session-not-found")
        header, *lines = self.whole_lines(path.read_bytes())
        return self.header_of(json.loads(header)), [json.loads(line) for line in lines], path.stat().st_size


class DropsIgnorable(Miniature):
    """There is no column for the mark."""

    def write(self, session_id: str, header: Json, events: list[Json], size: int | None = None) -> None:
        bare = [{name: value for name, value in event.items() if name != "ignorable"} for event in events]
        super().write(session_id, header, bare, size)


class InspectRepairs(Miniature):
    """An inspection is a load by another name."""

    def inspect(self, session_id: str) -> Json:
        return self.load(session_id)


class AcceptsAGap(Miniature):
    """Only seqs that were used already are refused."""

    def check_seqs(self, stored: int, events: list[Json]) -> None:
        if any(event["seq"] < place for place, event in enumerate(events, stored)):
            raise Refused("append-seq")


class AcceptsARepeat(Miniature):
    """The first event is compared, the others follow somehow."""

    def check_seqs(self, stored: int, events: list[Json]) -> None:
        super().check_seqs(stored, events[:1])


class WritesHalf(Miniature):
    """Events are written one by one, up to the one that is refused."""

    def check_seqs(self, stored: int, events: list[Json]) -> None:
        good = [event for place, event in enumerate(events, stored) if event["seq"] == place]
        if 0 < len(good) < len(events):
            session_id = next((name for name, count in self.owned.items() if count == stored), None)
            if session_id is not None:
                self.write(session_id, self.read(session_id)[0], good)
                self.owned[session_id] += len(good)
        super().check_seqs(stored, events)


class KeepsATornLine(Miniature):
    """What a crash left of a line stays in front of what is appended next."""

    def load(self, session_id: str) -> Json:
        header, events, _ = self.read(session_id)
        events, missing = self.balance(header, events)
        if missing:
            self.write(session_id, header, missing)
        self.owned[session_id] = len(events) + len(missing)
        return {"header": header, "events": events + missing}


class ReadsATornLine(Miniature):
    """A last line that parses is a line, with or without its end."""

    def whole_lines(self, content: bytes) -> list[bytes]:
        *lines, rest = content.split(b"\n")
        return [line + b"\n" for line in lines] + ([rest] if parsed(rest) is not None else [])


class CutsAtDamage(Miniature):
    """Whatever is damaged is cut away, completed turns with it."""

    def read(self, session_id: str) -> tuple[Json, list[Json], int]:
        path = self.path(session_id)
        if not path.exists():
            raise Refused("session-not-found")
        header, *lines = self.whole_lines(path.read_bytes())
        events: list[Json] = []
        for line in lines:
            event = parsed(line)
            if event is None or event["seq"] != len(events):
                break
            events.append(event)
        size = len(header) + sum(len(line) for line in lines[: len(events)])
        return self.header_of(json.loads(header)), events, size


class SkipsDamage(Miniature):
    """Lines that cannot be read are passed over."""

    def whole_lines(self, content: bytes) -> list[bytes]:
        return [line for line in super().whole_lines(content) if parsed(line) is not None]


class ChangesTheRevisionOnRead(Miniature):
    """The revision is the time of the last access."""

    def revision(self, session_id: str) -> str | None:
        reads = self.__dict__.setdefault("reads", {})
        reads[session_id] = reads.get(session_id, 0) + 1
        told = super().revision(session_id)
        return told and f"{told}:{reads[session_id]}"


class RevisionOfContent(Miniature):
    """The revision is a hash of the content, which two stores share."""

    def store_id(self) -> str:
        return "store"


class RevisionOfLength(Miniature):
    """The revision is the number of sessions that are stored."""

    def revision(self, session_id: str) -> str | None:
        told = super().revision(session_id)
        return told and f"{self.store_id()}:{len(list(self.logs()))}"


class RevisionOfProcess(Miniature):
    """The revision counts the writes of this process."""

    def revision(self, session_id: str) -> str | None:
        told = super().revision(session_id)
        return told and f"{self.store_id()}:{session_id}:{self.owned.get(session_id, 0)}:{id(self)}"


class SharesIds(Miniature):
    """Ids become file names in small letters."""

    def path(self, session_id: str, cwd: str | None = None):
        return super().path(session_id.lower(), cwd)


class IdsArePaths(Miniature):
    """Ids become file names as they are."""

    def path(self, session_id: str, cwd: str | None = None):
        return self.root / "_no-cwd" / session_id / "session.jsonl"


class IgnoresTheVersion(Miniature):
    """A log is a log."""

    def readable(self, header: Json, events: list[Json]) -> list[Json]:
        return super().readable({**header, "version": 0}, events)


class IgnoresUnknownTypes(Miniature):
    """What is not known cannot matter."""

    def readable(self, header: Json, events: list[Json]) -> list[Json]:
        super().readable(header, [])
        return events


class JudgesOnAppend(Miniature):
    """What the reader refuses is not written in the first place."""

    def check_batch(self, events: list[Json]) -> None:
        super().check_batch(events)
        self.readable({"version": 0, "id": "s"}, events)


class RepairsBeforeItJudges(Miniature):
    """The closers are written, then the log is looked at."""

    def load(self, session_id: str) -> Json:
        header, events, size = self.read(session_id)
        missing = closers(events)
        if missing:
            self.write(session_id, header, missing, size)
        return super().load(session_id)


class RepairsInMemory(Miniature):
    """A load gives closers and does not store them."""

    def load(self, session_id: str) -> Json:
        self.read(session_id)
        told = self.inspect(session_id)
        self.owned[session_id] = len(self.read(session_id)[1])
        return told


class DropsTheOpenTurn(Miniature):
    """A turn that did not end did not happen."""

    def load(self, session_id: str) -> Json:
        header, events, _ = self.read(session_id)
        ends = [place for place, event in enumerate(events, 1) if event["type"] == "turn/end"]
        kept = events[: max(ends, default=0)]
        self.write(session_id, header, kept, len(line_of({"type": "session", **header})))
        self.owned[session_id] = len(kept)
        return {"header": header, "events": kept}


class AppendsWithoutRepair(Miniature):
    """An append to a stored log just goes on behind its last event."""

    def append(self, session_id: str, events: list[Json]) -> None:
        if session_id not in self.headers and session_id not in self.owned and events:
            self.owned[session_id] = len(self.read(session_id)[1])
        super().append(session_id, events)


class ClosesItsOwnTurn(Miniature):
    """Each append looks whether the turn is still open, and closes it."""

    def append(self, session_id: str, events: list[Json]) -> None:
        if session_id in self.owned and events:
            self.load(session_id)
        super().append(session_id, events)


class WritesOnCreate(Miniature):
    """A session is stored as soon as it is created."""

    def create(self, header: Json) -> None:
        super().create(header)
        self.write(header["id"], header, [])


class OverwritesOnCreate(Miniature):
    """A new instance does not look at what is stored before it gives an id away."""

    def create(self, header: Json) -> None:
        path = self.path(header["id"])
        if path.exists() and header["id"] not in self.owned:
            path.unlink()
        super().create(header)


class MakesUpSessions(Miniature):
    """A session that nobody created is an empty one."""

    def read(self, session_id: str) -> tuple[Json, list[Json], int]:
        if not self.path(session_id).exists():
            return {"version": 0, "id": session_id, "createdAt": 0, "delegationDepth": 0}, [], 0
        return super().read(session_id)


class ReadsBehind(Miniature):
    """The read begins behind the seq that is given."""

    def read_from(self, session_id: str, first: Any) -> Json:
        told = super().read_from(session_id, first)
        return {**told, "events": told["events"][1:]}


class ReadsClosers(Miniature):
    """The read is a slice of an inspection."""

    def read_from(self, session_id: str, first: Any) -> Json:
        super().read_from(session_id, first)
        told = self.inspect(session_id)
        return {**told, "events": told["events"][first:]}


class KnownHeaderFields(Miniature):
    """A header is what there is a column for."""

    def header_of(self, line: Json) -> Json:
        columns = ("version", "id", "createdAt", "cwd", "delegationDepth")
        return {name: line[name] for name in columns if name in line}


class EmptyIsAbsent(Miniature):
    """An empty list of sources is written as none."""

    def write(self, session_id: str, header: Json, events: list[Json], size: int | None = None) -> None:
        full = [{name: value for name, value in event.items() if value != []} for event in events]
        super().write(session_id, header, full, size)


class KeepsTheCallersList(Miniature):
    """The batch is looked at when it is written, and that is later."""

    def append(self, session_id: str, events: list[Json]) -> None:
        super().append(session_id, events)
        if events:
            self.__dict__.setdefault("later", []).append((session_id, len(events), events))

    def read(self, session_id: str) -> tuple[Json, list[Json], int]:
        header, stored, size = super().read(session_id)
        place = 0
        for name, count, events in self.__dict__.get("later", []):
            if name == session_id:
                stored[place : place + count] = events[:count]
                place += count
        return header, stored, size


class NullsInfinity(Miniature):
    """What JSON cannot hold becomes null on its way out."""

    def check_batch(self, events: list[Json]) -> None:
        for event in events:
            event["data"] = None if not isinstance(event["data"], dict | list) else event["data"]
        super().check_batch(json.loads(json.dumps(events).replace("Infinity", "0").replace("-0.0", "0")))


CAUGHT_BY: dict[type[Miniature], str] = {
    LosesTheLastBatch: "backend.contract.batches",
    Reorders: "backend.contract.round-trip",
    DropsIgnorable: "backend.contract-refusals.ignorable",
    InspectRepairs: "backend.contract-repair.inspect",
    AcceptsAGap: "backend.contract.append-seq",
    AcceptsARepeat: "backend.contract.append-seq",
    WritesHalf: "backend.contract.append-seq",
    KeepsATornLine: "backend.jsonl-damage.torn-line",
    ReadsATornLine: "backend.jsonl-damage.whole-line-without-end",
    CutsAtDamage: "backend.jsonl-damage.committed-gap",
    SkipsDamage: "backend.jsonl-damage.committed-line",
    ChangesTheRevisionOnRead: "backend.contract.revision",
    RevisionOfContent: "backend.contract.revision-of-stores",
    RevisionOfLength: "backend.contract.revision",
    RevisionOfProcess: "backend.contract-repair.inspect",
    SharesIds: "backend.contract.strange-ids",
    IdsArePaths: "backend.contract.strange-ids",
    IgnoresTheVersion: "backend.contract-refusals.newer-version",
    IgnoresUnknownTypes: "backend.contract-refusals.unknown-type",
    JudgesOnAppend: "backend.contract.unjudged",
    RepairsBeforeItJudges: "backend.contract-refusals.unknown-type",
    RepairsInMemory: "backend.contract-repair.load",
    DropsTheOpenTurn: "backend.contract-repair.load",
    AppendsWithoutRepair: "backend.contract-repair.adopt",
    ClosesItsOwnTurn: "backend.contract-repair.append-before-load",
    WritesOnCreate: "backend.contract.lazy",
    OverwritesOnCreate: "backend.contract.create-persisted",
    MakesUpSessions: "backend.contract.not-found",
    ReadsBehind: "backend.contract.read-from",
    ReadsClosers: "backend.contract-repair.read-from",
    KnownHeaderFields: "backend.contract.header-fields",
    EmptyIsAbsent: "backend.contract.payloads",
    KeepsTheCallersList: "backend.borrowed.append",
    NullsInfinity: "backend.contract-lossless.batch",
}
"""Each with the case that is made for it; others may find it as well."""
