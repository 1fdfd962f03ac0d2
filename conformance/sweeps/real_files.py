"""A sweep of real files: a backend opens each damaged store, and all that it tells has to fit together."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.phases import contents
from conformance.protocol import Answer, Connection
from conformance.sweeps.answers import steps_of
from conformance.sweeps.damages import Damage, damages
from conformance.sweeps.good_log import HEADER, Event, GoodLog, event_of
from conformance.sweeps.laws import broken_law, cut_is_refused, expected, is_lost_unseen
from conformance.sweeps.real_log import RealLog, backend_request, write_good_log
from conformance.sweeps.run import Verdict
from conformance.ticker import silent

AT_ONCE = 64
FORMATS = {
    "none": "plain",
    "zstd": "compressed",
    "sqlite": "pages of a database",
    "sqlite-wal": "write-ahead log of a database",
}
CLOSERS = ("tool/result", "step/end", "turn/end")
SESSION: str = HEADER["id"]
Told = dict[str, Any]


@dataclass
class Trial:
    """One damaged store in a folder of its own, and what the backend told of it."""

    damage: Damage
    root: Path
    data: bytes
    before: dict[str, bytes]
    told: str | None = None
    inspected: Told | None = None
    loaded: Told | None = None


def sweep_files(
    connection: Connection,
    kind: str,
    count: int,
    stride: int,
    only: Damage | None = None,
    *,
    left_behind: bool = False,
    tell: Callable[[str], None] = silent,
) -> tuple[Verdict, RealLog]:
    """Damage the file of a backend at each boundary and every ``stride`` bytes; AdapterError if it cannot.

    With ``left_behind`` that is the write-ahead log that a process left beside a database.
    """
    with tempfile.TemporaryDirectory(prefix="session-conformance-") as folder:
        good = Path(folder, "good")
        good.mkdir()
        real = write_good_log(connection, good, count)
        real = real.left_behind() if left_behind else real
        if only is not None:
            only.require_within(real.log)
        verdict = Verdict(f"{kind}, {FORMATS[real.log.compression]}, real files")
        chosen = iter([only]) if only is not None else damages(kind, real.log, stride)
        numbers = itertools.count()
        while batch := list(itertools.islice(chosen, AT_ONCE)):
            trials = [begin(Path(folder, str(next(numbers))), damage, real) for damage in batch]
            run(connection, real.log, trials)
            for trial in trials:
                count_in(verdict, trial, real.log)
                shutil.rmtree(trial.root)
            tell(f"{verdict.name}: {verdict.checks} damaged logs, {verdict.failures} failed")
    verdict.require_checks()
    return verdict, real


def begin(root: Path, damage: Damage, real: RealLog) -> Trial:
    """A store one of whose files is damaged."""
    data = damage.apply(real.log.data)
    for name, content in {real.name: data, **real.beside}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return Trial(damage, root, data, contents(root))


def count_in(verdict: Verdict, trial: Trial, log: GoodLog) -> None:
    verdict.checks += 1
    loaded = trial.loaded or {}
    (kind,) = list(loaded)[:1] or ["none"]
    if kind == "rejected":
        kind = f"refused, {loaded['rejected'].get('condition', 'no condition')}"
    verdict.outcomes[{"result": "loaded"}.get(kind, kind)] += 1
    if trial.told is not None:
        verdict.fail(trial.damage, trial.told)
        return
    if "result" in loaded:
        lost = log.events[len(stored_part(log, loaded["result"]["events"])) :]
        verdict.unseen += is_lost_unseen(log, trial.damage, lost)
    verdict.unloadable += trial.damage.kind == "tear" and "rejected" in loaded


def run(connection: Connection, log: GoodLog, trials: list[Trial]) -> None:
    """Inspect, load, load again and go on: each in an opening of its own, all trials side by side."""
    for trial, (told,) in asked(connection, trials, lambda _: [{"inspect": SESSION}]):
        trial.inspected = told
    for trial in trials:
        if not is_untouched(log, trial):
            trial.told = "an inspection changed the files"
    for trial, (told,) in asked(connection, trials, lambda _: [{"load": SESSION}]):
        trial.loaded = told
    for trial in trials:
        trial.told = trial.told or fault_of(log, trial)
    going_on = [trial for trial in trials if trial.told is None and "result" in (trial.loaded or {})]
    for trial, answers in asked(connection, going_on, lambda trial: steps_behind(trial)):
        trial.told = fault_behind(trial, answers)


def asked(connection: Connection, trials: list[Trial], steps: Any) -> Iterator[tuple[Trial, list[Told]]]:
    """Put the same question to the store of every trial."""
    questions = [steps(trial) for trial in trials]
    requests = [
        backend_request(number, trial.root, question)
        for number, (trial, question) in enumerate(zip(trials, questions, strict=True))
    ]
    answered: dict[int, Answer] = dict(connection.exchange(iter(requests)))
    for number, trial in enumerate(trials):
        yield trial, steps_of(answered[number], questions[number])


def fault_of(log: GoodLog, trial: Trial) -> str | None:
    """What is wrong with what an inspection and the load behind it told."""
    inspected, loaded = trial.inspected or {}, trial.loaded or {}
    if log.compression.startswith("sqlite") and "crashed" in loaded:
        return None  # the database itself gave up, in its own words
    if "result" not in loaded and "rejected" not in loaded:
        return f"a load was answered with {short(loaded)}"
    if kind_of(inspected) != kind_of(loaded) or (inspected != loaded and "result" in loaded):
        return f"an inspection told {short(inspected)}, and the load behind it {short(loaded)}"
    wanted = expected(log, trial.damage, trial.data)
    whole = wanted is not None and wanted.events is not None
    is_prefix = whole and wanted is not None and wanted.events == log.events[: len(wanted.events or [])]
    if "rejected" in loaded:
        if not is_untouched(log, trial):
            return "a load that was refused changed the files"
        if is_prefix and (trial.damage.offset >= log.parts[0].end or log.compression == "sqlite-wal"):
            return f"refused, where events are to be kept: {short(loaded)}"
        return cut_is_refused(log, trial.damage) if log.compression == "zstd" else None
    events = loaded["result"]["events"]
    if wanted is not None and wanted.events is None:
        return f"gave {len(events)} events of a log that is to be refused: {wanted.why}"
    if wanted is not None and wanted.events is not None:
        kept = wanted.events
        if events[: len(kept)] != kept:
            return f"gave {len(events)} events, where {len(kept)} are to be kept, or others than those"
        return fault_of_closers(events, len(kept))
    kept = stored_part(log, events)
    told = broken_law(log, trial.damage, kept, torn_at(log, trial.damage, kept))
    return told or fault_of_closers(events, len(kept))


def is_untouched(log: GoodLog, trial: Trial) -> bool:
    """Whether the files are as they were.

    A database may keep a log of its own beside it, and what a process left there is taken in when it is
    opened. Where its first page is damaged it may count as one that is not finished, and is begun anew.
    """
    if log.compression == "sqlite-wal" or (
        log.compression == "sqlite" and trial.damage.offset < log.parts[0].end
    ):
        return True
    found = contents(trial.root)
    if log.compression == "sqlite":
        return all(found.get(name) == before for name, before in trial.before.items())
    return found == trial.before


def stored_part(log: GoodLog, events: list[Event]) -> list[Event]:
    """Without the closers that a load has put behind the stored events."""
    end = min(len(events), len(log.events))
    while end > 0 and events[end - 1] != log.events[end - 1] and events[end - 1].get("type") in CLOSERS:
        end -= 1
    return events[:end]


def torn_at(log: GoodLog, damage: Damage, kept: list[Event]) -> int | None:
    """Where a frame seems torn, as far as it can be told from the events."""
    for part in log.parts:
        if part.start <= damage.offset < part.end and len(kept) < len(log.events):
            return part.start
    return None


def fault_of_closers(events: list[Event], kept: int) -> str | None:
    """Behind the stored events there is nothing if no turn is open; else closers, with a turn/end last."""
    is_open = False
    for event in events[:kept]:
        is_open = event.get("type") == "turn/start" or (is_open and event.get("type") != "turn/end")
    rest = events[kept:]
    if bool(rest) != is_open:
        turn = "an open turn" if is_open else "no open turn"
        return f"{len(rest)} events stand behind {kept} stored ones with {turn}"
    if rest and (rest[-1].get("type") != "turn/end" or any(each.get("type") not in CLOSERS for each in rest)):
        return f"what stands behind the {kept} stored events does not close a turn"
    return None


def steps_behind(trial: Trial) -> list[dict[str, Any]]:
    """The next opening: load again, read, append a turn, and look at the whole."""
    assert trial.loaded is not None
    count = len(trial.loaded["result"]["events"])
    return [
        {"load": SESSION},
        {"readFrom": {"id": SESSION, "from": 0}},
        {"append": {"id": SESSION, "events": next_turn(count)}},
        {"inspect": SESSION},
    ]


def next_turn(count: int) -> list[Event]:
    return [event_of("turn/start", count, 900, 0), event_of("turn/end", count + 1, 900, 1)]


def fault_behind(trial: Trial, answers: list[Told]) -> str | None:
    """Repair is idempotent, what it left is stored, and the log goes on behind it."""
    assert trial.loaded is not None
    again, read, appended, inspected = answers
    events = trial.loaded["result"]["events"]
    if again != trial.loaded:
        return f"a second load told {short(again)}, the first {short(trial.loaded)}"
    if read.get("result", {}).get("events") != events:
        return f"after the repair other events are stored than the load gave: {short(read)}"
    if "result" not in appended:
        return f"the repaired log cannot be appended to: {short(appended)}"
    if inspected.get("result", {}).get("events") != events + next_turn(len(events)):
        return f"what was appended behind the repair is not there: {short(inspected)}"
    return None


def kind_of(told: Told) -> str:
    return next(iter(told), "none")


def short(told: Told) -> str:
    """An answer in short."""
    if "result" in told and "events" in told["result"]:
        return f"{len(told['result']['events'])} events"
    text = str(told)
    return text if len(text) <= 200 else f"{text[:197]}..."
