"""Makes a published ``@deepseek-ai/dsh-session`` ready to be put under test, and gives the command.

Nothing is written beside this file, which may be in a read-only installation. The cache folder holds::

    dsh/VERSION-DIGEST/   package.json, package-lock.json, node_modules (made aside, then renamed)
    dsh/VERSION-DIGEST.lock
    texts/DIGEST.json     the known refusal texts that the Node side matches thrown errors with
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from conformance import cache
from conformance.adapters.dsh import node
from conformance.adapters.dsh.node import DshUnavailable

__all__ = ["DEFAULT_VERSION", "PACKAGE", "VERSIONS", "DshUnavailable", "cache_root", "command", "install"]

PACKAGE = "@deepseek-ai/dsh-session"
STORAGE = "@deepseek-ai/dsh-session-persistence-jsonl"
"""Part of a lock where it was published with that version."""
VERSIONS: tuple[str, ...] = ("0.0.1-rc.1", "0.1.0-rc.6", "0.1.0-rc.7", "0.1.0-rc.8", "0.1.1-rc.2")
DEFAULT_VERSION = "0.1.0-rc.8"

_HERE = Path(__file__).resolve().parent
_ADAPTER = _HERE / "dsh_adapter.mjs"
_LOCKS = _HERE / "locks"
_LOCK_FILES = ("package.json", "package-lock.json")


def command(version: str, texts: Sequence[Mapping[str, object]]) -> list[str]:
    """The argv of a stdio adapter for ``version``; installs the package on first use.

    ``texts`` is a list of ``{"condition": NAME, "texts": [TEMPLATE, ...]}``. Raises DshUnavailable.
    """
    _require_known(version)
    runtime = node.find_node(node.STORAGE_NODE) if _has_storage(version) else node.find_node()
    root = cache_root()
    package_dir = install(version, runtime, root)
    return [runtime, str(_ADAPTER), str(package_dir), str(write_texts(texts, root))]


def cache_root() -> Path:
    """The cache folder of this project. Raises DshUnavailable where there is none."""
    try:
        return cache.cache_root()
    except cache.CacheError as error:
        raise DshUnavailable(str(error)) from error


def install(version: str, runtime: str, root: Path, lock: str | None = None) -> Path:
    """The folder that holds ``node_modules`` of ``version``; installed below ``root`` if it is not there.

    ``lock`` names another lock than the one of that version, which holds more packages.
    """
    _require_known(version)
    lock = lock or version
    key = f"{lock}-{_lock_digest(lock)[:16]}"
    parent = root / "dsh"
    target = parent / key
    if _is_ready(target, version):
        return target
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with _exclusive(parent / f"{key}.lock") as alone:
            if _is_ready(target, version):  # another run has just made it
                return target
            if alone:
                _remove_leftovers(parent, key)
            _install_anew(version, lock, runtime, target)
    except OSError as error:
        raise DshUnavailable(f"{PACKAGE} {version} cannot be put into the cache {root}: {error}") from error
    return target


def _require_known(version: str) -> None:
    if version not in VERSIONS:
        raise DshUnavailable(f"{PACKAGE} {version} is not known here; known versions: {', '.join(VERSIONS)}")


def _has_storage(version: str) -> bool:
    return STORAGE in (_LOCKS / version / "package.json").read_text("utf-8")


def _lock_digest(lock: str) -> str:
    digest = hashlib.sha256()
    for name in _LOCK_FILES:
        content = (_LOCKS / lock / name).read_bytes()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _is_ready(target: Path, version: str) -> bool:
    """Whether ``target`` holds the package; a folder that somebody has emptied does not count."""
    try:
        manifest = json.loads((target / "node_modules" / PACKAGE / "package.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("version") == version


def _install_anew(version: str, lock: str, runtime: str, target: Path) -> None:
    """Installs in a temporary folder beside ``target`` and renames; nothing stays behind on any failure."""
    workplace = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        for name in _LOCK_FILES:
            shutil.copyfile(_LOCKS / lock / name, workplace / name)
        node.npm_ci(runtime, workplace, f"{PACKAGE} {version}", spare_cache=target.parent.parent / "npm")
        if not _is_ready(workplace, version):
            raise DshUnavailable(f"npm ended well, yet {PACKAGE} {version} is not there: try another npm")
        _put_in_place(workplace, target, version)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _put_in_place(workplace: Path, target: Path, version: str) -> None:
    try:
        workplace.rename(target)
    except OSError:
        # Where locks do not work, another run can have been faster: its folder is as good as ours.
        if _is_ready(target, version):
            return
        shutil.rmtree(target)
        workplace.rename(target)


def _remove_leftovers(parent: Path, key: str) -> None:
    """Removes what a killed run left. Only for the holder of the lock: nobody else is at work on this key."""
    for leftover in parent.glob(f".{key}-*"):
        shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def _exclusive(path: Path) -> Iterator[bool]:
    """Waits until no other run holds ``path``. Yields False where the system has no such locks."""
    with path.open("wb") as handle:
        yield _lock(handle.fileno())


def _lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # given back when the file is closed, also by a crash
    except OSError:
        return False
    return True


def write_texts(texts: Sequence[Mapping[str, object]], root: Path) -> Path:
    content = json.dumps({"conditions": [dict(entry) for entry in texts]}, sort_keys=True).encode()
    path = root / "texts" / f"{hashlib.sha256(content).hexdigest()}.json"
    try:
        if path.is_file() and path.read_bytes() == content:
            return path
        path.parent.mkdir(exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".texts-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(content)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DshUnavailable(f"the known texts cannot be written to {path}: {error}") from error
    return path
