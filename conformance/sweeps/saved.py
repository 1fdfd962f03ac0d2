"""A failing check of a sweep, kept in two files: the damaged log, and what repeats the check."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.errors import UsageError
from conformance.files import write_whole
from conformance.protocol import Connection
from conformance.sweeps.damages import KINDS, Damage
from conformance.sweeps.good_log import MOST_EVENTS, GoodLog, build
from conformance.sweeps.real_files import sweep_files
from conformance.sweeps.run import Verdict, sweep

SUFFIXES = {"none": ".jsonl", "zstd": ".jsonl.zstd", "sqlite": ".db", "sqlite-wal": ".db-wal"}
IN_MEMORY = ("none", "zstd")
BITS = {True: tuple(range(8)), False: (None,)}
"""The bits that a damage may name, by whether it is a flip."""


def save(
    folder: Path, log: GoodLog, verdict: Verdict, count: int, *, files: bool = False
) -> tuple[Path, Path]:
    """The damaged log of the first failure, and beside it what repeats the check. Gives both paths."""
    assert verdict.first is not None
    damage = verdict.first.damage
    folder.mkdir(parents=True, exist_ok=True)
    bit = "" if damage.bit is None else f"-{damage.bit}"
    stem = f"{damage.kind}-{log.compression}-{damage.offset}{bit}"
    damaged = folder / f"{stem}{SUFFIXES[log.compression]}"
    write_whole(damaged, damage.apply(log.data), "damaged log")
    told = {
        "events": count, "compression": log.compression, "kind": damage.kind, "offset": damage.offset,
        "bit": damage.bit, "files": files, "told": verdict.first.told,
    }  # fmt: skip
    path = folder / f"{stem}.json"
    write_whole(path, json.dumps(told, indent=1) + "\n", "check")
    return damaged, path


def repeat(connection: Connection, path: Path) -> Verdict:
    """The one check that a saved file names. Raises UsageError for a file that is none."""
    try:
        told = json.loads(path.read_text("utf-8"))
        damage = Damage(told["kind"], told["offset"], told["bit"])
        count, compression, files = told["events"], told["compression"], told["files"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} is no saved check of a sweep: {error}") from None
    for name, right in (
        ("kind", damage.kind in KINDS),
        ("offset", type(damage.offset) is int and damage.offset >= 0),
        ("bit", damage.bit in BITS[str(damage.kind).startswith("flip")] and type(damage.bit) is not bool),
        ("events", type(count) is int and 1 <= count <= MOST_EVENTS),
        ("files", type(files) is bool),
        ("compression", compression in (tuple(SUFFIXES) if files else IN_MEMORY)),
    ):
        if not right:
            raise UsageError(f"{path} is no saved check of a sweep: its {name} is {told[name]!r:.60}")
    if files:
        log_only = compression == "sqlite-wal"
        return sweep_files(connection, damage.kind, count, 1, damage, left_behind=log_only)[0]
    return sweep(connection, build(count, compression), damage.kind, only=damage)
