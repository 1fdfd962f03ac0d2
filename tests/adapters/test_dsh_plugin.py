"""Anybody's persistence plugin in the published runtime: how it is named, opened and asked."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.adapters.dsh import hosting, provision
from conformance.adapters.registry import plugin, resolve
from conformance.cli import main
from conformance.errors import UsageError

Json = dict[str, Any]
JSONL = hosting.PUBLISHED["jsonl"]
TEXTS = [{"condition": "session-not-found", "texts": ['session "{id}" not found']}]


@pytest.fixture(scope="module")
def published() -> list[str]:
    """The argv of the published JSONL backend; without Node or registry a skip, in CI a failure."""
    try:
        return hosting.published_command("jsonl", TEXTS)
    except hosting.DshUnavailable as reason:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must be able to run the published backend: {reason}")
        pytest.skip(str(reason))


@pytest.fixture
def hosted(published, tmp_path) -> Callable[..., list[str]]:
    """Makes the argv for a plugin in a project of its own, which has the published runtime installed."""
    runtime, host, installed, _, _, _, texts = published
    (tmp_path / "node_modules").symlink_to(Path(installed, "node_modules"))

    def argv(source: str, config: Json | None = None, module: str = "./plugin.mjs") -> list[str]:
        (tmp_path / "plugin.mjs").write_text(source)
        return [runtime, host, str(tmp_path), module, json.dumps(config or {}), "", texts]

    return argv


def exchange(argv: list[str], *requests: Json) -> list[Json]:
    """The answers, by their ids; the process ends well and says nothing beside them."""
    lines = "".join(json.dumps({"id": number, **each}) + "\n" for number, each in enumerate(requests))
    done = subprocess.run(argv, input=lines.encode(), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    answers = {answer.pop("id"): answer for answer in map(json.loads, done.stdout.splitlines())}
    return [answers[number] for number in range(len(requests))]


def backend(root: Path, *steps: Json) -> Json:
    return {"op": "backend", "edition": "v0", "root": str(root), "steps": list(steps)}


REEXPORT = f'export {{ default }} from "{JSONL.package}";'
HEADER = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
EVENT = {"type": "session/title", "seq": 0, "time": 0, "data": {}}


def test_a_plugin_is_named_by_its_path_and_opened_in_the_folder_of_the_request(hosted, tmp_path):
    config = {"root": "{root}/deeper", "compression": "none"}
    store = tmp_path / "store"
    write = backend(store, {"create": HEADER}, {"append": {"id": "s", "events": [EVENT]}}, {"load": "t"})
    hello, wrote = exchange(hosted(REEXPORT, config), {"op": "hello", "protocol": 1}, write)
    assert hello["result"]["implementation"]["name"] == "./plugin.mjs"
    assert hello["result"]["capabilities"] == [
        "backend",
        "backend.borrowed",
        "backend.live",
        "backend.signal",
    ]
    *done, refused = wrote["result"]["steps"]
    assert done == [{"result": {}}, {"result": {}}]
    told = {"condition": "session-not-found", "message": 'session "t" not found'}
    assert refused == {"rejected": told}
    assert (store / "deeper" / "_no-cwd" / "s" / "session.jsonl").exists()
    (read,) = exchange(hosted(REEXPORT, config), backend(store, {"load": "s"}))
    assert read["result"]["steps"] == [{"result": {"header": HEADER, "events": [EVENT]}}]


def test_requests_on_different_folders_are_taken_side_by_side(published, tmp_path):
    steps = ({"create": HEADER}, {"append": {"id": "s", "events": [EVENT]}}, {"list": True})
    argv = published
    found = exchange(argv, *(backend(tmp_path / str(number), *steps) for number in range(40)))
    assert {json.dumps(answer["result"]["steps"][2]) for answer in found} == {
        json.dumps({"result": {"headers": [HEADER]}})
    }


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        (
            "export default function plugin() {}",
            {"error": "the plugin has not registered sessionPersistence"},
        ),
        (
            "export default class { constructor() { throw new Error('session \"x\" not found'); } }",
            {"rejected": {"condition": "session-not-found", "message": 'session "x" not found'}},
        ),
        (
            "export default class { constructor() { throw new TypeError('no such thing'); } }",
            {"crashed": "TypeError: no such thing"},
        ),
    ],
)
def test_a_store_that_does_not_open_is_told_from_a_broken_plugin(hosted, tmp_path, source, answer):
    assert exchange(hosted(source), backend(tmp_path / "store", {"list": True})) == [answer]


@pytest.mark.parametrize(
    ("source", "module", "told"),
    [
        ("export const other = 1;", "./plugin.mjs", "./plugin.mjs has no default export"),
        ("", "./nowhere.mjs", "no such file or directory"),
        ("", "no-such-package", "Cannot find module 'no-such-package'"),
        ("export default 1 +;", "./plugin.mjs", "Unexpected token"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_told_in_one_line(hosted, source, module, told):
    done = subprocess.run(
        hosted(source, module=module), input=b"", capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("host adapter: cannot start: ")
    assert told in line


def test_a_step_that_is_none_is_the_askers_fault(published, tmp_path):
    (answer,) = exchange(published, backend(tmp_path, {"list": True}, {"jump": 1}))
    assert answer == {"error": "no step jump"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("m", "{", None), "--config is no JSON"),
        (("m", "[]", None), "--config must be a JSON object"),
        (
            ("m", "{}", "paper"),
            "--storage knows jsonl, jsonl-zstd, sqlite14, sqlite15, sqlite17, sqlite20, not paper",
        ),
    ],
)
def test_wrong_options_are_told(arguments, told):
    with pytest.raises(UsageError, match=told):
        plugin(*arguments)


def test_a_plugin_needs_to_be_given(capsys):
    assert main(["run", "dsh-plugin"]) == 2
    assert "dsh-plugin --module PATH_OR_PACKAGE" in capsys.readouterr().err


def test_an_unknown_published_backend_is_told():
    with pytest.raises(UsageError, match="known are jsonl, jsonl-zstd, sqlite14"):
        resolve("dsh-backend:paper").connect()


def test_the_locks_hold_the_backends():
    locks = Path(provision.__file__).parent / "locks"
    for each in hosting.PUBLISHED.values():
        manifest = json.loads((locks / each.lock / "package.json").read_text())
        assert each.package in manifest["dependencies"]
        packages = json.loads((locks / each.lock / "package-lock.json").read_text())["packages"]
        entry = packages[f"node_modules/{each.package}"]
        assert entry["integrity"].startswith("sha512-")
        assert "resolved" not in entry
