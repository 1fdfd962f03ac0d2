"""The writer that is killed: ``python -m conformance.trials.writer STORE FOLDER [UID]``.

It opens a store and keeps it open: one of the reference by its name, or ``module:class``. Each line that
it reads is a step of ``backend``, and is answered with one line. With UID it gives up its rights first.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from conformance.adapters.reference_backend import answers_of
from conformance.adapters.reference_stores import OPENING, REFUSALS, AnyStore, refusal_of
from conformance.adapters.reference_stores import open_store as open_reference_store


def main() -> None:
    """Take steps until there are no more."""
    name, folder, *user = sys.argv[1:]
    open_store = opener(name)
    if user:
        open_store(Path(folder), read_only=True).revision("nobody")  # what is loaded late is loaded now
        os.setuid(int(user[0]))
    try:
        store = open_store(Path(folder))
    except OPENING as refusal:
        tell(refusal_of(refusal))
        return
    tell({"result": {"opened": True}})
    for line in sys.stdin:
        tell(answers_of(store, [json.loads(line)], REFUSALS)["steps"][0])


def opener(name: str) -> Callable[..., AnyStore]:
    """What opens a store in a folder: one of the reference, or ``module:class`` of somebody's."""
    module, _, attribute = name.partition(":")
    if attribute:
        return getattr(importlib.import_module(module), attribute)  # type: ignore[no-any-return]
    return partial(open_reference_store, name)


def tell(answer: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
