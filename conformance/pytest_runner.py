"""Cases as pytest items: the same loader, adapters and judge as the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.adapters.limits import Limits
from conformance.adapters.registry import AdapterSpec, resolve
from conformance.cases import Case
from conformance.corpus import is_case_file, load_corpus, load_file
from conformance.engine import Options, run, undeclared
from conformance.errors import ConformanceError
from conformance.judge import PASSING, Judge, Verdict
from conformance.ledger import load_ledger
from conformance.protocol import Connection, Request
from conformance.selection import Selection
from conformance.stream import Record, verdict_record
from conformance.terminal import details


class Collector:
    """Collects vector files, and holds the one connection that all their tests use."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.name: str = config.getoption("--adapter")
        self.strict = parse_words(config.getoption("--conformance-strict"))
        try:
            limits = Limits(answer_seconds=config.getoption("--conformance-time-limit"))
            self.adapter = resolve(self.name, limits)
        except ConformanceError as error:
            raise pytest.UsageError(str(error)) from None
        self.judge = Judge(load_ledger(), self.strict)
        self.number = 0
        self._connection: Connection | None = None
        self._broken: str | None = None
        self.last_problems: list[str] = []

    def file(self, path: Path, parent: pytest.Collector) -> pytest.File | None:
        """A collector for a vector file, or None for any other file."""
        if path.suffix not in (".yaml", ".yml") or not is_case_file(path):
            return None
        return VectorFile.from_parent(parent, path=path)

    def connection(self) -> Connection:
        """The open adapter. What keeps it from opening is said once for each test, without a traceback."""
        if self._broken is not None:
            pytest.fail(self._broken, pytrace=False)
        if self._connection is None:
            try:
                self._connection = self.adapter.connect()
            except ConformanceError as error:
                self._broken = f"session-conformance: {error}"
                pytest.fail(self._broken, pytrace=False)
        return self._connection

    def verdict(self, case: Case) -> Verdict:
        """Put one case to the adapter and judge the answer."""
        connection = self.connection()
        missing = undeclared(case, connection.hello)
        if missing is not None:
            pytest.skip(missing)
        self.number += 1
        before = len(connection.problems)
        ((_, answer),) = connection.exchange(iter([Request(self.number, case.body)]))
        if len(connection.problems) > before:
            told = "; ".join(connection.problems[before:])
            return Verdict(case, "adapter-error", "adapter", told)
        return self.judge.verdict(case, answer)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End the adapter; a fault that shows only then makes the session fail as well."""
        if self._connection is None:
            return
        before = len(self._connection.problems)
        self._connection.close()
        self.last_problems = self._connection.problems[before:]
        if self.last_problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell those faults."""
        for problem in self.last_problems:
            terminalreporter.write_line(f"session-conformance: adapter problem: {problem}", red=True)


class VectorFile(pytest.File):
    """One vector file; its cases are its tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """The cases, in file order; optional ones only in a file that was named itself."""
        try:
            cases = load_file(self.path)
        except ConformanceError as error:
            raise self.CollectError(str(error)) from None
        named = any(Path(word.split("::")[0]).resolve() == self.path for word in self.config.args)
        for case in cases:
            if named or not case.optional:
                yield CaseItem.from_parent(self, name=case.id, case=case)


class CaseItem(pytest.Item):
    """One case as one test."""

    def __init__(self, *, case: Case, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case

    def runtest(self) -> None:
        """Fail, readably, unless the verdict is one that passes."""
        collector: Any = self.config.pluginmanager.get_plugin("session-conformance-collector")
        verdict: Verdict = collector.verdict(self.case)
        if verdict.status not in PASSING:
            raise CaseFailed(verdict_record(verdict))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What the command line says of a failure; a traceback only for what is no verdict."""
        if isinstance(excinfo.value, CaseFailed):
            return failure_text(excinfo.value.record)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case stands in its file."""
        return self.path, self.case.line - 1, self.case.id


class CaseFailed(AssertionError):  # noqa: N818 - reads as what it is in a report
    """A verdict that does not pass."""

    def __init__(self, record: Record) -> None:
        super().__init__(failure_text(record))
        self.record = record


def failure_text(record: Record) -> str:
    """One failure in words, as the command line has it."""
    lines = [f"{record['status'].upper()} {record['case']}  [{', '.join(record['rules'])}]"]
    lines += [f"  {name:<8} {text}" for name, text in details(record)]
    return "\n".join(lines)


def parse_words(text: str) -> frozenset[str]:
    """The words of an option, and nothing but the known ones."""
    from conformance.cli.run import parse_strict

    try:
        return parse_strict(text)
    except ConformanceError as error:
        raise pytest.UsageError(str(error)) from None


def assert_conforms(
    implementation: str | Callable[[dict[str, Any]], dict[str, Any]],
    vectors: Iterable[str],
    select: Iterable[str],
    topics: Iterable[str],
    strict: Iterable[str],
) -> None:
    """See ``session_conformance.assert_conforms``."""
    __tracebackhide__ = True
    if isinstance(implementation, str):
        spec = resolve(implementation)
    else:
        function = implementation
        spec = AdapterSpec(getattr(function, "__qualname__", "callable"), factory=lambda: function)
    ledger = load_ledger()
    chosen = Selection(tuple(select), tuple(topics)).pick(
        load_corpus([Path(path) for path in vectors]), ledger
    )
    failures: list[str] = []
    end: Record = {}
    for record in run(chosen, spec, ledger, Options(strict=frozenset(strict))):
        if record["record"] == "verdict" and record["status"] not in (*PASSING, "undeclared"):
            failures.append(failure_text(record))
        end = record
    failures += [f"adapter problem: {problem}" for problem in end["problems"]]
    if end["exit"] != 0 and not failures:
        failures.append("the implementation declares nothing of what was selected")
    if failures:
        raise AssertionError(f"{spec.name} does not conform:\n" + "\n".join(failures))
