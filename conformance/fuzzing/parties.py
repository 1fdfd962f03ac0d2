"""The implementations that are asked, and how all of them are asked the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType

from conformance.adapters.inprocess import InProcess
from conformance.adapters.registry import AdapterSpec
from conformance.errors import UsageError
from conformance.protocol import Answer, Connection, Request


@dataclass
class Party:
    """One implementation, open. ``name`` is that of its adapter."""

    name: str
    connection: Connection

    @property
    def capabilities(self) -> frozenset[str]:
        return self.connection.hello.capabilities

    @property
    def implementation(self) -> dict[str, str]:
        """What it says of itself."""
        hello = self.connection.hello
        known = {"name": hello.name, "version": hello.version, "language": hello.language}
        return {name: value for name, value in known.items() if value is not None}


@dataclass
class Table:
    """All parties of a run. The first one is under test, the others are what it is held against."""

    parties: list[Party] = field(default_factory=list)
    _number: int = 0

    @classmethod
    def open(cls, specs: Sequence[AdapterSpec]) -> Table:
        """Connect to all of them. Raises AdapterError if one cannot be reached; then none is left open."""
        table = cls()
        names = [spec.name for spec in specs]
        if len(set(names)) < len(names):
            raise UsageError(f"an adapter is named twice: {', '.join(names)}")
        try:
            for spec in specs:
                table.parties.append(Party(spec.name, spec.connect()))
        except BaseException:
            table.close()
            raise
        return table

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for party in self.parties:
            party.connection.close()

    @property
    def problems(self) -> list[str]:
        """Faults charged to an adapter as a whole."""
        return [f"{party.name}: {told}" for party in self.parties for told in party.connection.problems]

    def ask(self, body: str, who: Sequence[Party]) -> list[Answer]:
        """The answers of some of them to one request."""
        return self.ask_all(iter([body]), who)[0]

    def ask_all(self, bodies: Iterator[str], who: Sequence[Party]) -> list[list[Answer]]:
        """The answers to many requests, in the order of the requests and of the parties.

        The first party behind a pipe sets the pace. Those in this process are asked while requests are
        drawn for it, so that they work while it does.
        """
        near = [party for party in who if isinstance(party.connection, InProcess)]
        far = [party for party in who if not isinstance(party.connection, InProcess)]
        asks = {party.name: _Ask(party.connection) for party in near}
        begins = self._number + 1
        found: dict[str, list[Answer]] = {party.name: [] for party in who}
        sent: list[Request] = []

        def requests() -> Iterator[Request]:
            for body in bodies:
                self._number += 1
                request = Request(self._number, body)
                sent.append(request)
                for name, ask in asks.items():
                    found[name].append(ask(request))
                yield request

        try:
            if not far:
                for _ in requests():
                    pass
            for index, party in enumerate(far):
                asked = requests() if index == 0 else iter(sent)
                by_number = dict(party.connection.exchange(asked))
                found[party.name] = [by_number[number] for number in range(begins, begins + len(sent))]
        finally:
            for ask in asks.values():
                ask.close()
        return [list(answers) for answers in zip(*(found[party.name] for party in who), strict=True)]


class _Ask:
    """One connection in this process, asked one request at a time within one exchange."""

    def __init__(self, connection: Connection) -> None:
        self._waiting: list[Request] = []
        take: Callable[[], Request] = self._waiting.pop
        self._stream = connection.exchange(iter(take, None))

    def __call__(self, request: Request) -> Answer:
        self._waiting.append(request)
        return next(self._stream)[1]

    def close(self) -> None:
        close = getattr(self._stream, "close", None)
        if close is not None:
            close()
