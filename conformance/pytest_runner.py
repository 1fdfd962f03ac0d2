"""Cases as pytest items: the same loader, adapters, judge and words as the command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance import diagnose
from conformance.adapters.limits import Limits
from conformance.adapters.registry import AdapterSpec, resolve
from conformance.cases import Case
from conformance.config import find_config, load_config
from conformance.corpus import is_case_file, load_corpus, load_file
from conformance.engine import Options, Questions, located, run, undeclared
from conformance.errors import ConformanceError, UsageError
from conformance.judge import PASSING, Judge, Verdict, parse_strict
from conformance.ledger import load_ledger
from conformance.protocol import Connection
from conformance.selection import Selection
from conformance.stream import Record, verdict_record
from conformance.terminal import clean, details

PROBLEMS = "session_conformance_problems"


class Collector:
    """Collects vector files, and holds the one connection that all their tests use."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.name: str = config.getoption("--adapter")
        try:
            self.strict = parse_strict(config.getoption("--conformance-strict").split(","))
            named = load_config(find_config())
            limit = config.getoption("--conformance-time-limit")
            if not 0 < limit < 1e6:
                raise UsageError("--conformance-time-limit must be a number of seconds above 0")
            limits = Limits(answer_seconds=limit)
            self.adapter = resolve(self.name, limits, named)
            self.judge = Judge(load_ledger(), self.strict)
        except ConformanceError as error:
            raise pytest.UsageError(str(error)) from None
        self.number = 0
        self.problems: list[str] = []
        self._connection: Connection | None = None

    def file(self, path: Path, parent: pytest.Collector) -> pytest.File | None:
        """A collector for a vector file, or None for any other file."""
        if path.suffix not in (".yaml", ".yml") or not is_case_file(path):
            return None
        return VectorFile.from_parent(parent, path=path)

    def connection(self) -> Connection:
        """The open adapter. Raises UsageError if it cannot be opened."""
        if self._connection is None:
            try:
                self._connection = self.adapter.connect()
            except ConformanceError as error:
                raise pytest.UsageError(f"session-conformance: {error}") from None
        return self._connection

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Open the adapter before the first test, so that one that does not start is said once."""
        if any(isinstance(item, CaseItem) for item in items) and not self.config.option.collectonly:
            self.connection()

    def verdict(self, case: Case) -> Verdict:
        """Put one case to the adapter and judge the answer."""
        connection = self.connection()
        missing = undeclared(case, connection.hello)
        if missing is not None:
            pytest.skip(missing)
        asked = Questions([case], self.judge, self.number)
        (verdict,) = filter(None, (asked.verdict(*each) for each in connection.exchange(asked.requests())))
        self.number = asked.number
        return verdict

    def record(self, verdict: Verdict) -> Record:
        """The verdict as the result stream has it."""
        record = verdict_record(verdict)
        if diagnose.can_be_located(verdict):
            (record,) = located([(verdict.case, record)], self.adapter)
        return record

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """End the adapter; a fault that no case is to blame for makes the session fail all the same."""
        if self._connection is not None:
            self._connection.close()
            self.problems += self._connection.problems
        workeroutput = getattr(self.config, "workeroutput", None)
        if workeroutput is not None:
            workeroutput[PROBLEMS] = self.problems
        elif self.problems and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take over what a worker of pytest-xdist noticed."""
        self.problems += getattr(node, "workeroutput", {}).get(PROBLEMS, [])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell those faults."""
        for problem in self.problems:
            terminalreporter.write_line(f"session-conformance: adapter problem: {clean(problem)}", red=True)


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
            words = ["pytest", "--adapter", collector.name]
            if collector.strict:
                words += ["--conformance-strict", ",".join(sorted(collector.strict))]
            raise CaseFailed(collector.record(verdict), shlex.join([*words, self.nodeid]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What the command line says of a failure; a traceback only for what is no verdict."""
        if isinstance(excinfo.value, CaseFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case stands in its file."""
        return self.path, self.case.line - 1, self.case.id


class CaseFailed(AssertionError):  # noqa: N818 - reads as what it is in a report
    """A verdict that does not pass."""

    def __init__(self, record: Record, again: str) -> None:
        super().__init__(failure_text(record, again))


def failure_text(record: Record, again: str | None = None) -> str:
    """One failure in words, as the command line has it; the first line stands for it in summaries."""
    told = details(record)
    words = dict(told)
    short = words.get("what") or f"{words.get('differs')}: {words.get('expected')}, not {words.get('found')}"
    lines = [f"{record['status']}: {short}", f"  {'rules':<8} {', '.join(record['rules'])}"]
    lines += [f"  {name:<8} {text}" for name, text in told]
    if again is not None:
        lines.append(f"  {'again':<8} {again}")
    return "\n".join(clean(line) for line in lines)


def assert_conforms(
    implementation: str | Callable[[dict[str, Any]], dict[str, Any]],
    vectors: Iterable[str],
    select: Iterable[str],
    topics: Iterable[str],
    strict: Iterable[str],
) -> None:
    """See ``session_conformance.assert_conforms``."""
    __tracebackhide__ = True
    for name, value in (("vectors", vectors), ("select", select), ("topics", topics), ("strict", strict)):
        if isinstance(value, str):
            raise TypeError(f"{name} takes a list of texts, as in {name}=[{value!r}]")
    if isinstance(implementation, str):
        spec = resolve(implementation, named=load_config(find_config()))
    else:
        function = implementation
        spec = AdapterSpec(getattr(function, "__qualname__", "callable"), factory=lambda: function)
    ledger = load_ledger()
    chosen = Selection(tuple(select), tuple(topics)).pick(
        load_corpus([Path(path) for path in vectors]), ledger
    )
    failures: list[str] = []
    end: Record = {}
    for record in run(chosen, spec, ledger, Options(strict=parse_strict(strict))):
        if record["record"] == "verdict" and record["status"] not in (*PASSING, "undeclared"):
            failures.append(f"{record['case']}: {failure_text(record)}")
        end = record
    failures += [f"adapter problem: {problem}" for problem in end["problems"]]
    if end["exit"] != 0 and not failures:
        failures.append("the implementation declares nothing of what was selected")
    if failures:
        raise AssertionError(f"{spec.name} does not conform:\n" + "\n".join(failures))
