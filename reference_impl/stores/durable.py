"""Writing to files so that what was answered for survives: the few steps that a store is made of.

Each function returns only when its change is on the disk. Where one fails, the file is as it was
before, or the failure says that it may not be (``UnsettledError``). Nothing is ever written over a file
that is there already.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

FRESH = ".fresh"
"""How the name of a file ends while it is written, before it has its own name."""
PATIENCE = 2.0
"""Seconds that a writer waits for somebody who reads. For another writer it does not wait at all."""


class StoreBusy(Exception):  # noqa: N818 - a refusal to the second writer, and no fault of the store
    """Another writer has the store open."""


class UnsettledError(OSError):
    """A write failed, and so did putting back what was there: the file has to be read before it is used."""


def lock_folder(folder: Path) -> int:
    """Become the one writer of a store; the descriptor that is returned holds the lock until it is closed.

    The folder itself is locked, so no lock file is left behind, and the lock of a writer that was
    killed is gone with it. Raises StoreBusy.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        deadline = time.monotonic() + PATIENCE
        while not locked(descriptor, fcntl.LOCK_EX):
            if not locked(descriptor, fcntl.LOCK_SH):
                told = "another writer has this store open; close it, or open the store read-only"
                raise StoreBusy(f"{folder}: {told}")
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            if time.monotonic() > deadline:
                raise StoreBusy(f"{folder}: somebody has been reading this store for {PATIENCE:.0f} seconds")
            time.sleep(0.01)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def locked(descriptor: int, kind: int) -> bool:
    """Take a lock if it can be had at once."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def without_writer(folder: Path) -> Iterator[bool]:
    """Keep writers out of a store for the time of one read; False where one has it open already."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield locked(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder: a file whose name is not on the disk is lost with all that is in it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(root: Path, folder: Path) -> None:
    """Make a folder below ``root`` and those on the way to it, and flush the name of each.

    Also of those that are there: who made them may have failed or died before the flush.
    """
    if folder == root:
        return
    make_folders(root, folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def publish(root: Path, path: Path, content: bytes) -> None:
    """A new file, whole or not at all. Raises FileExistsError where there is one of that name.

    It is written and flushed under another name, and gets its own with ``link``, which overwrites
    nothing; a rename would. What a writer that was killed has left under the other name goes first.
    """
    make_folders(root, path.parent)
    fresh = path.with_name(path.name + FRESH)
    fresh.unlink(missing_ok=True)
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            write_all(descriptor, content, 0)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.link(fresh, path)
        try:
            sync_folder(path.parent)
        except BaseException:
            take_back(path)
            raise
    finally:
        with suppress(OSError):  # it is no part of the answer
            fresh.unlink(missing_ok=True)


def take_back(path: Path) -> None:
    """A file whose name may not be on the disk goes again."""
    try:
        path.unlink()
    except OSError as error:
        raise UnsettledError(f"{path}: a write failed and could not be rolled back: {error}") from error


def adopt(root: Path, path: Path) -> None:
    """Flush a file that another writer has made, with the names on the way to it.

    That one may have been killed between a write and its flush. What it left under the other name goes.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    fresh = path.with_name(path.name + FRESH)
    if fresh.exists():
        fresh.unlink()
    for folder in path.parents:
        sync_folder(folder)
        if folder == root:
            return


def replace_tail(path: Path, size: int, end: int, content: bytes) -> None:
    """Put ``content`` in the place of the bytes from ``end`` on, in a file of ``size`` bytes.

    With ``end == size`` that is an append. Raises OSError if the file has another size, so that a
    write of somebody else's is never cut off, and UnsettledError if what was there cannot be put back.
    """
    descriptor = os.open(path, os.O_RDWR)
    try:
        found = os.fstat(descriptor).st_size
        if found != size:
            raise OSError(f"{path} has {found} bytes where {size} were left; somebody else wrote to it")
        before = os.pread(descriptor, size - end, end)
        try:
            if end < size:
                os.ftruncate(descriptor, end)
            write_all(descriptor, content, end)
            os.fsync(descriptor)
        except BaseException:
            put_back(descriptor, path, before, end)
            raise
    finally:
        os.close(descriptor)


def put_back(descriptor: int, path: Path, before: bytes, end: int) -> None:
    """A failed write is rolled back: the file has its former length again, and what stood there."""
    try:
        os.ftruncate(descriptor, end)
        write_all(descriptor, before, end)
        os.fsync(descriptor)
    except OSError as error:
        raise UnsettledError(f"{path}: a write failed and could not be rolled back: {error}") from error


def write_all(descriptor: int, content: bytes, offset: int) -> None:
    """All bytes, however few a single call takes; a full disk takes fewer before it takes none."""
    written = 0
    while written < len(content):
        written += os.pwrite(descriptor, content[written:], offset + written)
