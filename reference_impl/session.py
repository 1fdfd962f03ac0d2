"""A live session: append under the rules, and derive messages without doing it all again.

Page: ``spec/session.md``.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NoReturn

from .event_log import Event
from .lossless_json import require_lossless_data, require_lossless_marker
from .message_shape import refuse_retired_delta, refuse_retired_reason, shown_append
from .projection import Message, project
from .surface_view import SurfaceView


class Session:
    """An append-only log with its surface. It numbers its events, and times them in ms since 1970."""

    def __init__(self, seed: Sequence[Event] = ()) -> None:
        """SESS-6: ``seed`` is a log that was admitted. The rest is derived anew."""
        self._log: list[Event] = [freeze(event) for event in seed]
        self._view = SurfaceView(self._log)
        self._messages: list[Message] = []
        self._projected_nodes = 0
        self._projected_generation = 0

    def append(self, kind: str, data: Any, **marker: Any) -> Event:
        """Validate, then push (SESS-1): LJSN-6, SHAP-16, LJSN-7, then the rules of the surface.

        A refusal leaves everything as it was (SESS-2).

        ``marker`` may hold ``surfaceOp`` and ``sourceEventSeqs``; one that is not given is absent.
        The event that is returned, and all inside it, cannot be changed (SESS-4).
        """
        require_lossless_data(kind, data)
        refuse_retired_delta(kind, shown_append(kind))
        refuse_retired_reason(kind, data, shown_append(kind))
        require_lossless_marker(kind, marker)
        own = {"type": kind, "seq": len(self._log), "time": time.time_ns() // 1_000_000, "data": data}
        frozen: Event = freeze({**marker, **own})
        self._view.validate_next(frozen)
        self._log.append(frozen)
        return frozen

    @property
    def events(self) -> list[Event]:
        """The log so far, as a list that will not grow (SESS-3)."""
        return list(self._log)

    @property
    def nodes(self) -> Sequence[int]:
        """The nodes of the surface now, promised for the time of the read (VIEW-9)."""
        return self._view.nodes

    @property
    def replace_generation(self) -> int:
        """The number of replaces made so far."""
        return self._view.replace_generation

    def derive_messages(self) -> list[Message]:
        """The messages of the surface now, in a new list each time (SESS-3).

        SESS-5: while the generation stays the same only new nodes are projected; another
        generation means that old places no longer hold, and all is projected again.
        """
        generation = self._view.replace_generation
        if generation != self._projected_generation:
            self._messages = []
            self._projected_nodes = 0
            self._projected_generation = generation
        for seq in self._view.nodes_from(self._projected_nodes):
            message = project(self._log[seq])
            if message is not None:
                self._messages.append(message)
            self._projected_nodes += 1
        return list(self._messages)


def freeze(value: Any) -> Any:
    """A deep copy of a JSON value in which nothing can be changed."""
    # Plain loops: a comprehension would cost a second stack frame per level of nesting.
    if isinstance(value, dict):
        members = {}
        for key, member in value.items():
            members[key] = freeze(member)
        return FrozenDict(members)
    if isinstance(value, list):
        elements = []
        for element in value:
            elements.append(freeze(element))
        return FrozenList(elements)
    return value


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise TypeError("an event that was accepted cannot be changed")


class FrozenDict(dict[str, Any]):
    """A dict that was filled once."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


class FrozenList(list[Any]):
    """A list that was filled once."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse
