"""Cases about a storage backend: a folder for each, and what the runner itself does to it in between.

Such a case is one list of steps. An adapter gets the steps that its backend takes; a step of the
runner's own (``reopen``, ``damage``, ``untouched``) ends a request, so that the backend is closed,
and the steps behind it are the next request for the same folder. So an adapter opens, takes steps,
closes, answers, and knows nothing of damage, of SQL, or of other requests.

All first requests of a run travel together, then all second ones, and so on: nothing waits for one case.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conformance import damage
from conformance.json_text import JsonTextError, dump_ascii
from conformance.judge import plain_members
from conformance.protocol import Answer, Request

Exchange = Callable[[Iterator[Request]], Iterator[tuple[int, Answer]]]

OPENING = '"op":"backend",'
OWN_STEPS = ("reopen", "damage", "untouched")
"""Steps that the runner takes itself, while the backend is closed."""
FIRST_STORE = "store"


def exchange(transport: Exchange, requests: Iterator[Request]) -> Iterator[tuple[int, Answer]]:
    """Put requests to a transport; those about a backend travel in phases, each case with its own folders."""
    with contextlib.ExitStack() as folders:
        home: Path | None = None  # made for the first case about a backend: most exchanges have none
        open_stories: dict[int, Story] = {}
        finished: list[tuple[int, Answer]] = []

        def outgoing() -> Iterator[Request]:
            nonlocal home
            for request in requests:
                if not request.body.startswith(OPENING):
                    yield request
                    continue
                if home is None:
                    made = tempfile.TemporaryDirectory(prefix="session-conformance-")
                    home = Path(folders.enter_context(made))
                yield from onwards(Story(request, home / str(request.number)))

        def onwards(story: Story) -> Iterator[Request]:
            following = story.advance()
            if isinstance(following, Answer):
                story.remove()
                finished.append((story.number, following))
            else:
                open_stories[story.number] = story
                yield following

        round_of_requests = outgoing()
        while True:
            taken: list[Story] = []
            for number, answer in transport(round_of_requests):
                story = open_stories.pop(number, None)
                if story is None:
                    yield number, answer
                else:
                    story.take(answer)
                    taken.append(story)
                while finished:
                    yield finished.pop()
            yield from finished
            finished.clear()
            if not taken:
                return
            round_of_requests = (request for story in taken for request in onwards(story))


class Story:
    """One case about a backend: its steps, how far they are, and its folders below ``home``."""

    def __init__(self, request: Request, home: Path) -> None:
        self.number = request.number
        self.home = home
        self.members: dict[str, Any] = json.loads(f"{{{request.body}")
        self.steps: list[dict[str, Any]] | None = self.members.pop("steps", None)
        self.store = FIRST_STORE
        self.answers: list[Any] = []
        self.asked = 0
        self.ended: Answer | None = None
        self.before: dict[str, bytes] = {}

    @property
    def root(self) -> Path:
        """The folder of the store that is open now, or opened next."""
        return self.home / self.store

    def advance(self) -> Request | Answer:
        """Take the runner's own steps that come now; then the next request, or the answer to the whole."""
        self.root.mkdir(parents=True, exist_ok=True)
        if self.ended is not None:
            return self.ended
        if self.steps is None:  # steps_text, which has no step of the runner's
            return PhaseRequest(self, self.members)
        while len(self.answers) < len(self.steps):
            step = self.steps[len(self.answers)]
            if not is_own(step):
                return self.next_request(self.steps[len(self.answers) :])
            try:
                self.answers.append({"result": self.do(step)})
            except damage.DamageError as error:
                return Answer("error", f"step {len(self.answers)}: {error}")
        return Answer("result", {"steps": self.answers})

    def next_request(self, steps: list[dict[str, Any]]) -> Request:
        """The steps up to the next one of the runner's, as one request."""
        asked = steps[: next((place for place, step in enumerate(steps) if is_own(step)), len(steps))]
        self.asked = len(asked)
        return PhaseRequest(self, {**self.members, "steps": asked})

    def do(self, step: dict[str, Any]) -> dict[str, Any]:
        """One step of the runner's own; the backend is closed."""
        if "damage" in step:
            damage.apply(self.root, step["damage"])
        elif "untouched" in step:
            return {"untouched": contents(self.root) == self.before}
        elif isinstance(step["reopen"], str):
            self.store = step["reopen"]
            self.root.mkdir(exist_ok=True)
        return {}

    def take(self, answer: Answer) -> None:
        """The answer to the request that is open: one answer per step, or the end of the case."""
        if self.steps is None:
            self.ended = answer
        elif answer.kind == "rejected":  # the store could not even be opened: no step could be taken
            self.answers += [{"rejected": answer.value}] * self.asked
        elif answer.kind != "result":
            self.ended = answer
        else:
            try:
                found = plain_members(answer.value).get("steps")
            except JsonTextError as error:
                self.ended = Answer("malformed", f"a member of the result is no JSON: {error}")
                return
            if type(found) is list and len(found) == self.asked:
                self.answers += found
            else:
                told = f"the result must be steps, a list of {self.asked} answers"
                self.ended = Answer("malformed", told)

    def remove(self) -> None:
        """The folders of a case go when it has its answer."""
        shutil.rmtree(self.home, ignore_errors=True)


class PhaseRequest(Request):
    """A request whose folders are as they were before it, whenever it is sent.

    A request is sent again when an adapter dies or hangs while it is open; the second attempt must
    not find what the first one left.
    """

    story: Story
    kept: dict[str, bytes] | None

    def __new__(cls, story: Story, members: dict[str, Any]) -> PhaseRequest:
        """``members`` are those of the request, without the folder."""
        body = dump_ascii({**members, "root": str(story.root)})[1:]
        new = super().__new__(cls, story.number, body)
        new.story = story
        new.kept = None
        return new

    def text(self) -> str:
        """Keep the files, or bring them back, and give the request."""
        if self.kept is None:
            self.kept = contents(self.story.home)
        else:
            shutil.rmtree(self.story.home)
            for name, content in self.kept.items():
                path = self.story.home / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            self.story.root.mkdir(parents=True, exist_ok=True)
        prefix = f"{self.story.store}/"
        self.story.before = {
            name.removeprefix(prefix): content
            for name, content in self.kept.items()
            if name.startswith(prefix)
        }
        return super().text()


def is_own(step: dict[str, Any]) -> bool:
    """Whether the runner takes this step itself."""
    return any(name in step for name in OWN_STEPS)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder by its path, with its bytes."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
