"""Places where a store cannot write, or not alone: what it may not answer for, and what has to be left."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.errors import AdapterError
from conformance.trials.channel import Backend, Channel, Gone, SilentError, in_words
from conformance.trials.kills import Verifier
from conformance.trials.load import HEADER, SESSION, Load, chance_of
from conformance.trials.torn import leave_torn

NOBODY = 65534
LARGE_PAGES = "sqlite20"
ROOM = 20_000
ROOM_ANEW = 150_000
ROOM_OF_PAGES = 1_500_000
"""Bytes that a file may have where the disk is full; more for a database, which begins with some, and
most for one with pages of 64 KiB."""
BATCHES = 4000
"""What is surely more than there is room for."""


def hostile_trials(backend: Backend, verifier: Verifier, seed: int) -> Iterator[tuple[str, str | None]]:
    """Each trial by its name, with what was wrong; None if nothing was."""
    trials = [disk_full]
    if backend.kept_open:
        trials += [read_only_folder, vanished_folder, clock_back, two_writers, signal_in_repair]
    for trial in trials:
        with tempfile.TemporaryDirectory(prefix="session-conformance-") as folder:
            try:
                told = trial(backend, verifier, Path(folder), seed)
            except SilentError as silence:
                told = str(silence)
            yield trial.__name__.replace("_", " "), told


def begin(backend: Backend, channel: Channel, load: Load, count: int) -> None:
    """Create the session and have some batches answered for. Raises AdapterError where that fails."""
    steps: list[dict[str, Any]] = [{"create": HEADER}]
    if backend.kept_open:
        backend.ask(channel, *steps)
        steps = []
    for _ in range(count):
        told = backend.ask(channel, *steps, load.batch())
        if "result" not in told:
            raise AdapterError(f"a good batch was refused: {in_words(told)}")
        load.answered()
        steps = []


def begin_alone(backend: Backend, root: Path, load: Load, count: int) -> None:
    """The same, in a process that then is gone."""
    channel = backend.open(root)
    try:
        begin(backend, channel, load, count)
    finally:
        channel.close()


def disk_full(backend: Backend, verifier: Verifier, root: Path, seed: int) -> str | None:
    """Write until no more goes into a file. The batch that fails leaves nothing, and the store goes on."""
    load = Load(chance_of(seed), not backend.kept_open)
    room = room_of(backend)
    channel = backend.open(root, largest_file=room)
    try:
        begin(backend, channel, load, 1)
        for _ in range(BATCHES):
            told = backend.ask(channel, load.batch())
            if "result" not in told:
                load.sent.clear()
                break
            load.answered()
        else:
            return f"nothing was refused by files that end at {room} bytes"
    except Gone:
        told = {}
    finally:
        channel.close()
    return verifier.fault_of(root, load) or goes_on(backend, root, load)


def room_of(backend: Backend) -> int:
    """Enough for a store to begin with, and soon used up."""
    if backend.store == LARGE_PAGES:
        return ROOM_OF_PAGES
    return ROOM if backend.kept_open and "sqlite" not in backend.store else ROOM_ANEW


def read_only_folder(backend: Backend, verifier: Verifier, root: Path, seed: int) -> str | None:
    """A new session in a folder that may not be written to is refused, and one that is stored can be read."""
    load = Load(chance_of(seed))
    begin_alone(backend, root, load, 3)
    changed = [root, *root.rglob("*")]
    for path in changed:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        user = NOBODY if os.getuid() == 0 else None
        channel = backend.open(root, user=user)
        try:
            backend.ask(channel, {"create": {**HEADER, "id": "t"}})
            event = {"type": "session/title", "seq": 0, "time": 0, "data": {"title": "t"}}
            told = backend.ask(channel, {"append": {"id": "t", "events": [event]}})
            if "rejected" not in told:
                return f"a batch in a read-only folder was answered with {in_words(told)}"
            found = backend.ask(channel, {"inspect": SESSION})
        finally:
            channel.close()
    except Gone:
        return "the writer ended"
    finally:
        for path in changed:
            path.chmod(0o755)
    if "result" not in found:
        return f"a stored session cannot be inspected: {in_words(found)}"
    return load.fault_of(found["result"]["events"]) or verifier.fault_of(root, load)


def vanished_folder(backend: Backend, verifier: Verifier, root: Path, seed: int) -> str | None:
    """Nothing is answered for once the folder of the store is gone."""
    load = Load(chance_of(seed))
    channel = backend.open(root)
    try:
        begin(backend, channel, load, 3)
        shutil.rmtree(root)
        told = backend.ask(channel, load.batch())
        if "rejected" not in told:
            return f"a batch to a store that is gone was answered with {in_words(told)}"
        backend.ask(channel, {"create": {**HEADER, "id": "t"}})
        event = {"type": "session/title", "seq": 0, "time": 0, "data": {"title": "t"}}
        told = backend.ask(channel, {"append": {"id": "t", "events": [event]}})
        return None if "rejected" in told else f"a new session in it was answered with {in_words(told)}"
    finally:
        channel.close()
        root.mkdir(exist_ok=True)
        verifier.steps(root, {"list": True})


def clock_back(backend: Backend, verifier: Verifier, root: Path, seed: int) -> str | None:
    """The clock of the disk steps back between two appends; their revisions are not the same."""
    load = Load(chance_of(seed))
    channel = backend.open(root)
    try:
        begin(backend, channel, load, 2)
        seen = set()
        for _ in range(4):
            for path in root.rglob("*"):
                os.utime(path, (1, 1))
            told = backend.ask(channel, {"revision": SESSION})
            seen.add(str(told))
            backend.ask(channel, load.batch())
            load.answered()
        if len(seen) != 4:
            return f"4 states of a log have {len(seen)} revisions"
    finally:
        channel.close()
    return verifier.fault_of(root, load)


def two_writers(backend: Backend, verifier: Verifier, root: Path, seed: int) -> str | None:
    """The second one is refused in words, and the first one goes on. Then the place is free again."""
    load = Load(chance_of(seed))
    channel = backend.open(root)
    try:
        begin(backend, channel, load, 3)
        try:
            backend.open(root).close()
            return "a second writer was let in"
        except AdapterError as refusal:
            if "another writer" not in str(refusal):
                return f"the second writer was told: {refusal}"
        told = backend.ask(channel, load.batch())
        if "result" not in told:
            return f"the first writer cannot go on: {in_words(told)}"
        load.answered()
    finally:
        channel.close()
    return verifier.fault_of(root, load)


def signal_in_repair(backend: Backend, verifier: Verifier, root: Path, seed: int) -> str | None:
    """SIGTERM and SIGINT at some moment of a repair: the next one finishes it."""
    chance = chance_of(seed)
    load = Load(chance)
    begin_alone(backend, root, load, 5)
    for name in (signal.SIGTERM, signal.SIGINT) * 5:
        leave_torn(root)
        channel = backend.open(root)
        try:
            backend.send(channel, {"load": SESSION})
            if chance.random() < 0.5:
                os.sched_yield()
            channel.process.send_signal(name)
            backend.receive(channel)
        except Gone:
            pass
        finally:
            channel.close()
        told = verifier.fault_of(root, load)
        if told is not None:
            return told
    return None


def goes_on(backend: Backend, root: Path, load: Load) -> str | None:
    """A store that a full disk has refused takes more when there is room."""
    channel = backend.open(root)
    try:
        steps = [{"load": SESSION}] if backend.kept_open else []
        for step in [*steps, load.batch()]:
            told = backend.ask(channel, step)
            if "result" not in told:
                return f"with room again the store does not go on: {in_words(told)}"
    finally:
        channel.close()
    return None
