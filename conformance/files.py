"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from conformance.errors import UsageError


def write_whole(path: Path, content: str | bytes, what: str = "file") -> None:
    """Write a file in one step. Raises UsageError if it cannot be written; then nothing was changed."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UsageError(f"{what} {path} cannot be written: {error.strerror or error}") from None


def require_writable(folder: Path) -> None:
    """Ask, before a long run, whether files could be written into a folder, which may not be there yet.

    Raises UsageError. Nothing is left behind.
    """
    place = folder
    try:
        while not is_there(place) and place != place.parent:
            place = place.parent
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise UsageError(f"folder {folder} cannot be written to: {error.strerror or error}") from None


def is_there(path: Path) -> bool:
    """Whether a path names something. Raises OSError for a name that nothing can have."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True
