"""What the cases of schema 14 say of opening a database, the published store of that schema says too."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from conformance.adapters.registry import resolve
from conformance.corpus import load_corpus
from conformance.engine import Options, run
from conformance.ledger import load_ledger

hosting = pytest.importorskip("conformance.adapters.dsh.hosting")
ADAPTER = Path(__file__).with_name("sqlite14_open.mjs")


def test_the_published_store_opens_and_refuses_as_the_cases_say():
    try:
        node, _, folder, *_ = hosting.published_command("sqlite14", [])
    except hosting.DshUnavailable as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"the published store cannot be run here: {error}")
    cases = [case for case in load_corpus() if case.topic == "sqlite/open-14"]
    adapter = resolve(f"stdio:{shlex.join([node, str(ADAPTER), folder])}")
    options = Options(strict=frozenset({"condition"}))
    records = list(run(cases, adapter, load_ledger(), options))[1:-1]
    assert len(records) > 30
    assert {record["case"]: record for record in records if record["status"] != "pass"} == {}
