"""The implementations that are asked, and how all of them are asked the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from types import TracebackType

from conformance import databases, phases
from conformance.adapters.inprocess import InProcess, read_reply
from conformance.adapters.registry import AdapterSpec
from conformance.errors import UsageError
from conformance.protocol import Answer, Connection, Request

MOST_HUNG = 5
"""How many answers an implementation may fail to give in time: each of them takes the whole limit."""
IN_ROUNDS = (phases.OPENING, databases.OPENING)
"""How requests begin for which the runner makes folders and files; their exchange needs to see the end."""


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
    _hung: Counter[int] = field(default_factory=Counter)

    @classmethod
    def open(cls, specs: Sequence[AdapterSpec]) -> Table:
        """Connect to all of them. Raises AdapterError if one cannot be reached; then none is left open."""
        table = cls()
        names = [spec.name for spec in specs]
        if len(set(names)) < len(names):
            raise UsageError(f"an adapter is named twice: {', '.join(names)}")
        try:
            for spec in specs:
                limited = replace(spec, limits=replace(spec.limits, hangs=MOST_HUNG))
                table.parties.append(Party(spec.name, limited.connect()))
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
        drawn for it, so that they work while it does. What the runner puts in several rounds waits
        until all are drawn.
        """
        far = [party for party in who if not isinstance(party.connection, InProcess)]
        near = [party.connection for party in who if isinstance(party.connection, InProcess)]
        begins = self._number + 1
        sent: list[Request] = []
        in_rounds: list[Request] = []
        told: list[list[Answer]] = []

        def requests() -> Iterator[Request]:
            for body in bodies:
                self._number += 1
                request = Request(self._number, body)
                sent.append(request)
                if body.startswith(IN_ROUNDS):
                    in_rounds.append(request)
                    told.append([])
                else:
                    told.append(self.ask_near(near, request))
                yield request

        found: dict[str, list[Answer]] = {}
        with ExitStack() as open_ones:
            for connection in near:
                open_ones.enter_context(connection.alarms())
            asked = requests()
            for party in far:
                by_number = dict(party.connection.exchange(asked))
                found[party.name] = [by_number[number] for number in range(begins, begins + len(sent))]
                asked = iter(sent)
            if not far:
                for _ in asked:
                    pass
        if in_rounds:
            answers = [dict(connection.exchange(iter(in_rounds))) for connection in near]
            for request in in_rounds:
                told[request.number - begins] = [by_number[request.number] for by_number in answers]
        names = [party.name for party in who if isinstance(party.connection, InProcess)]
        for place, name in enumerate(names):
            found[name] = [answers[place] for answers in told]
        return [list(answers) for answers in zip(*(found[party.name] for party in who), strict=True)]

    def ask_near(self, connections: Sequence[InProcess], request: Request) -> list[Answer]:
        """The answers of those in this process. Answers that are spelled alike are read once."""
        read: dict[str, Answer] = {}
        answers = []
        for place, connection in enumerate(connections):
            if self._hung[place] >= MOST_HUNG:
                answers.append(Answer("not-run", f"{MOST_HUNG} answers did not come in time before it"))
                continue
            told = connection.reply(request)
            if isinstance(told, Answer):
                self._hung[place] += told.kind == "hung"
                answers.append(told)
                continue
            if told not in read:
                read[told] = read_reply(told)
            answers.append(read[told])
        return answers
