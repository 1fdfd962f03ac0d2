"""Kill trials: a writer is killed at a random moment, and the store has to hold what it answered for."""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.errors import AdapterError
from conformance.json_text import dump_ascii
from conformance.protocol import Connection, Request
from conformance.sweeps.answers import steps_of
from conformance.ticker import silent
from conformance.trials.channel import Backend, Channel, Gone, in_words
from conformance.trials.load import HEADER, SESSION, Load, chance_of
from conformance.trials.torn import leave_half_a_frame, leave_torn

AHEAD = (1, 4)
"""Batches that are on their way at once. With several the writer is always at work, and is killed at it;
with one it waits in between, and is killed when it has answered and does nothing. A store that is opened
anew for each batch always gets one: an adapter may answer two requests at once, and one instance at a
time has a store open."""
LONGEST_PAUSE = 0.005
HALF_A_FRAME = 0.5
"""The chance that a write-ahead log that was left ends in a frame that was never finished."""
UNTORN = 0.6
"""The chance that a trial begins with the log as the kill before it left it."""
PER_FOLDER = 5
"""Trials in one store, before a new one begins."""
WINDOW = 0.12
WINDOW_ANEW = 0.4
LONGEST_WINDOW = 2.0
"""Seconds of work within which the moment of a kill lies; more where each batch opens the store.

Until a first batch is answered for it doubles with each trial, for a store may be slow or the machine busy.
"""


@dataclass
class Tally:
    """What became of the trials. ``faults`` says, for each that failed, what and in which trial."""

    trials: int = 0
    answered: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Verifier:
    """Opens a store after a crash, through an adapter of its own, and reads it twice."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def steps(self, root: Path, *steps: dict[str, Any]) -> list[dict[str, Any]]:
        """Open the store, take steps, close it."""
        # With the operation first it would be a case of the suite, which has folders of its own.
        request = {"edition": "v0", "op": "backend", "root": str(root), "steps": list(steps)}
        ((_, answer),) = self.connection.exchange(iter([Request(1, dump_ascii(request)[1:])]))
        found = steps_of(answer, list(steps))
        wrong = next((step["malformed"] for step in found if "malformed" in step), None)
        if answer.kind == "result" and wrong is not None:
            raise AdapterError(f"{wrong}: {str(answer.value)[:200]}")
        return found

    def fault_of(self, root: Path, load: Load) -> str | None:
        """What is wrong with a store after a crash. The load goes on from what is found."""
        inspected, loaded = self.steps(root, {"inspect": SESSION}, {"load": SESSION})
        (again,) = self.steps(root, {"load": SESSION})
        if "result" not in loaded:
            absent = loaded.get("rejected", {}).get("condition") == "session-not-found"
            if not absent or load.stored:
                return f"the log no longer loads: {in_words(loaded)}"
            load.taken([])
            return None
        if inspected != loaded:
            return "an inspection gave another log than the load behind it"
        if again != loaded:
            return "a second load gave another log than the first"
        events = loaded["result"]["events"]
        told = load.fault_of(events)
        load.taken(events)
        return told


def kill_trials(
    backend: Backend,
    verifier: Verifier,
    trials: int,
    seed: int,
    tally: Tally | None = None,
    tell: Callable[[str], None] = silent,
) -> Tally:
    """Run trials, each with a chance of its own that follows from the seed.

    ``tally`` is kept up to date, for who has to know how far it was broken off; ``tell`` hears of it.
    """
    tally = Tally() if tally is None else tally
    with tempfile.TemporaryDirectory(prefix="session-conformance-") as folder:
        load = Load(chance_of(seed), not backend.kept_open)
        for number in range(trials):
            chance = chance_of(f"{seed} {number}")
            root = Path(folder, str(number // PER_FOLDER))
            if number % PER_FOLDER == 0:
                root.mkdir()
                load = Load(chance, not backend.kept_open)
            load.chance = chance
            tell(f"{number} of {trials} kills, {tally.answered} events answered for")
            torn = chance.random() >= UNTORN and leave_torn(root)
            tally.outcomes[f"killed {one_trial(backend, root, load, chance, tally, torn)}"] += 1
            tally.trials += 1
            tally.faults = [f"trial {number} of seed {seed}: {told}" for told in tally.faults]
            if chance.random() < HALF_A_FRAME:
                leave_half_a_frame(root, chance)
            told = verifier.fault_of(root, load)
            if told is not None:
                tally.faults.append(f"trial {number} of seed {seed}: {told}")
            if tally.faults:
                break
    if not tally.answered and not tally.faults:
        tally.faults.append("the store never answered for a batch, so no kill could show a loss")
    return tally


def one_trial(
    backend: Backend, root: Path, load: Load, chance: random.Random, tally: Tally, torn: bool
) -> str:
    """Start a writer, let it work, kill it. Gives what it was at when it was killed."""
    channel = backend.open(root)
    window = WINDOW if backend.kept_open else WINDOW_ANEW
    if not tally.answered:
        window = min(window * 2**tally.trials, LONGEST_WINDOW)
    moment = chance.uniform(0, chance.choice((window / 10, window)) if torn else window)
    timer = threading.Timer(moment, channel.kill)
    timer.start()
    before = len(load.stored)
    try:
        at = "in a repair" if torn else "at its first step"
        first = {"load": SESSION} if load.stored else {"create": HEADER}
        if load.stored or backend.kept_open:
            backend.ask(channel, first)
        if not load.stored and not backend.kept_open:
            return first_batch(backend, channel, load)
        at = "before its first answer"
        ahead = chance.choice(AHEAD) if backend.kept_open else 1
        while True:
            while len(load.sent) < ahead:
                backend.send(channel, load.batch())
            told = backend.receive(channel)
            if "result" not in told:
                tally.faults.append(f"a batch was refused: {in_words(told)}")
                return "never"
            load.answered()
            at = "under load" if ahead > 1 else "between batches"
            if backend.kept_open and ahead == 1:
                time.sleep(chance.uniform(0, LONGEST_PAUSE))
    except Gone:
        return at
    finally:
        timer.join()
        channel.close()
        tally.answered += len(load.stored) - before


def first_batch(backend: Backend, channel: Channel, load: Load) -> str:
    """The first batch of a session through an adapter, which needs its create in the same request."""
    backend.send(channel, {"create": HEADER}, load.batch())
    if "result" in backend.receive(channel):
        load.answered()
        return "after its first answer"
    return "never"
