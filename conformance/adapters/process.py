"""One adapter process and its three pipes, without blocking and without ever leaving one behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from conformance.errors import AdapterError

READ_BYTES = 1 << 18
MAX_ANSWER_BYTES = 64 << 20
STDERR_TAIL_BYTES = 8 << 10
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class AnswerTooLong(Exception):  # noqa: N818 - what happened, not a programming error
    """The process wrote more than MAX_ANSWER_BYTES without a line end."""


class AdapterProcess:
    """A child in a process group of its own; pipes are non-blocking.

    The owner watches ``stdout`` and ``stderr`` for reading, and ``stdin`` for writing while
    ``unsent`` is not empty.
    """

    def __init__(
        self, argv: list[str], env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> None:
        try:
            self._popen = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=None if env is None else dict(env),
                cwd=cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            built = "; has it been built?" if isinstance(error, FileNotFoundError) and "/" in argv[0] else ""
            raise AdapterError(f"adapter cannot be started: {argv[0]}: {reason}{built}") from None
        pipes = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in pipes if pipe is not None)
        for pipe in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(pipe, False)
        self.unsent = bytearray()
        self.bytes_read = 0
        self.stdout_open = True
        self.stderr_open = True
        self._partial = bytearray()
        self._stderr = bytearray()
        self._stdin_open = True

    @property
    def returncode(self) -> int | None:
        """None while the process runs; negative for a signal."""
        return self._popen.poll()

    def send(self, data: bytes) -> None:
        """Write as much as the pipe takes now; the rest stays in ``unsent``."""
        self.unsent += data
        self.flush()

    def flush(self) -> None:
        """Write more of ``unsent``. A process that closed its input is told nothing more."""
        while self.unsent and self._stdin_open:
            try:
                written = os.write(self.stdin, memoryview(self.unsent)[: 1 << 20])
            except BlockingIOError:
                return
            except OSError:
                self.unsent.clear()
                return
            del self.unsent[:written]

    def read_lines(self) -> list[bytes]:
        """The complete lines that have arrived, without their line ends."""
        data = self._read(self.stdout)
        if data is None:
            return []
        if not data:
            self.stdout_open = False
            return []
        self.bytes_read += len(data)
        if b"\n" not in data:
            self._partial += data
            if len(self._partial) > MAX_ANSWER_BYTES:
                raise AnswerTooLong
            return []
        *lines, rest = data.split(b"\n")
        if self._partial:
            lines[0] = bytes(self._partial) + lines[0]
        self._partial = bytearray(rest)
        return lines

    def take_partial(self) -> bytes:
        """What was written after the last line end."""
        partial = bytes(self._partial)
        self._partial.clear()
        return partial

    def read_stderr(self) -> None:
        """Keep the tail of what the process wrote to stderr."""
        data = self._read(self.stderr)
        if data is None:
            return
        if not data:
            self.stderr_open = False
        self._stderr += data
        del self._stderr[:-STDERR_TAIL_BYTES]

    def stderr_tail(self) -> str:
        """The last 8 KiB of stderr as text."""
        if self.stderr_open:
            self.read_stderr()
        return self._stderr.decode("utf-8", "replace").strip()

    def _read(self, pipe: int) -> bytes | None:
        """Bytes, ``b""`` at the end of the stream, or None if there is nothing now."""
        try:
            return os.read(pipe, READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def close_stdin(self) -> None:
        """Tell the process that there is nothing more to come."""
        if self._stdin_open:
            self._stdin_open = False
            assert self._popen.stdin is not None
            with contextlib.suppress(OSError):
                self._popen.stdin.close()

    def resident_mib(self) -> float:
        """The memory that the process holds now, in MiB; 0 where the system does not tell."""
        try:
            pages = int(Path(f"/proc/{self._popen.pid}/statm").read_text("ascii").split()[1])
        except (OSError, ValueError, IndexError):
            return 0.0
        return pages * PAGE_BYTES / (1 << 20)

    def wait(self, seconds: float) -> int | None:
        """The return code, or None if the process still runs after that time."""
        end = time.monotonic() + seconds
        while self.returncode is None and time.monotonic() < end:
            self.read_stderr()
            time.sleep(0.005)
        return self.returncode

    def kill(self) -> None:
        """End the whole process group, now, and release the pipes. Harmless when it has ended."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        self.close_stdin()
        self.stdout_open = self.stderr_open = False
        for pipe in (self._popen.stdout, self._popen.stderr):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()

    def describe_end(self) -> str:
        """How the process ended, as a person would say it."""
        code = self.returncode
        if code is None:
            return "closed its output while still running"
        if code < 0:
            try:
                return f"was ended by {signal.Signals(-code).name}"
            except ValueError:
                return f"was ended by signal {-code}"
        return f"exited with code {code}"
