"""The cache folder: what a run keeps for the next one, such as installed packages and known outcomes."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from conformance.errors import ConformanceError


class CacheError(ConformanceError):
    """No folder can be had, or the one that was asked for cannot be used; the text says what to do."""


def cache_root() -> Path:
    """A folder that exists and can be written: the configured cache, the user's, or a private temporary one.

    A folder named by SESSION_CONFORMANCE_CACHE that cannot be used is an error, since somebody asked for it.
    Raises CacheError.
    """
    configured = os.environ.get("SESSION_CONFORMANCE_CACHE")
    if configured:
        root = Path(configured).expanduser().absolute()
        if not _usable(root):
            raise CacheError(
                f"the cache folder {root} (from SESSION_CONFORMANCE_CACHE) cannot be made or written: "
                "name another folder or unset the variable"
            )
        return root
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    with suppress(RuntimeError):  # no home is known
        base = base.expanduser()
    root = base / "session-conformance"
    return root if root.is_absolute() and _usable(root) else _private_temporary_folder()


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _private_temporary_folder() -> Path:
    """``session-conformance-UID`` in the system's temporary folder, of this user and closed to others.

    The name can be guessed, and code is run from there: a folder or link that another user made is refused.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    advice = "set SESSION_CONFORMANCE_CACHE to a folder that can be written"
    try:
        folder = Path(tempfile.gettempdir()) / f"session-conformance-{user}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != user):
            raise CacheError(f"{folder} exists and is not a folder of this user: {advice}")
        folder.chmod(0o700)
    except OSError as error:
        raise CacheError(f"no cache folder can be made, not even a temporary one: {advice}") from error
    if not _usable(folder):
        raise CacheError(f"neither the user's cache folder nor {folder} can be written: {advice}")
    return folder
