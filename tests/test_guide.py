"""The guide: its files are written, its commands run in the order of the page, their output compared.

Conventions of these pages, each of which is a project of its own, worked on from top to bottom:

* A block whose first line is a comment with a file name, as in ``# adapter.py``, is that file.
* A ``diff`` block that begins with ``--- FILE`` changes that file: its lines must stand there exactly once.
  With ``--- FILE, wrong on purpose`` the change is taken back after the next ``sh`` block.
* A ``sh`` block is run line by line. A line that ends in ``# exits N`` must exit with N, any other with 0.
* A ``text`` block right behind it is all that these lines print, on stdout and stderr. ``…`` stands for any
  text within a line, and for any lines where it is all that the line holds. Blanks at line ends do not count.
* A line that says ``takes 30 s`` behind its ``#`` waits for a hello that never comes; here it waits less.

The pages are worked through side by side, since most of it is waiting for programs to start.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from test_readme import GUIDE, NOT_RUN, ROOT, Project

from conformance.adapters.dsh.node import DshUnavailable, find_node

DOCS = ROOT / "docs"
PAGES = [DOCS / name for name in GUIDE]
BLOCK = re.compile(r"^```([a-z]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?:#|//) (\S+\.[a-z]+)\n")
CHANGED = re.compile(r"--- (\S+?)(, wrong on purpose)?\n")
BLANKS = re.compile(r"(?<=\S)(?:\\ ){2,}")  # in a line that is escaped already
NOT_PASSED_ON = {"COLUMNS", "PYTHONUNBUFFERED"}  # a reader's screen; and what flushes by itself
SHORTENED = 1
HASTY = f"""\
import sys
from conformance.adapters.limits import Limits
values = [{SHORTENED}.0 if value == 30.0 else value for value in Limits.__init__.__defaults__]
Limits.__init__.__defaults__ = tuple(values)
from conformance.cli import entry
sys.exit(entry())
"""
NODE_PORT = """\
import { operations, Refusal } from "KIT/example_port.mjs";
export { Refusal as InvalidLog };
export function fold(events) {
  const { nodes, replacements } = operations.fold(events);
  return { nodes, replacements };
}
"""


class Workspace(Project):
    """An empty folder, and the programs that the guide calls. ``at`` is the block that is worked on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.taken_back: dict[Path, str] = {}
        folder.mkdir()
        self.program("python3")
        self.program("session-conformance", "-P", "-m", "conformance")
        self.program("hasty", "-P", "-c", HASTY)

    def work_through(self, page: Path) -> None:
        """Do what the page says, from top to bottom. Fails where something else comes out."""
        text, printed = page.read_text("utf-8"), None
        for block in BLOCK.finditer(text):
            language, body = block[1], block[2]
            place = f"{page.name}:{text.count(chr(10), 0, block.start()) + 1}"
            if language == "text":
                assert printed is not None, f"{place}: output of nothing"
                assert_printed(body, printed, place)
                printed = None
            elif language == "sh":
                printed = self.run_block(body, place)
            elif language == "diff":
                self.change(body, place)
            elif named := NAMED.match(body):
                (self.folder / named[1]).write_text(body, "utf-8")

    def run_block(self, text: str, place: str) -> str:
        """Run the lines of a block; afterwards what was wrong on purpose is right again."""
        printed = "".join(self.run_line(line, place) for line in text.splitlines() if line not in NOT_RUN)
        for path, before in self.taken_back.items():
            path.write_text(before, "utf-8")
        self.taken_back.clear()
        return printed

    def run_line(self, line: str, place: str) -> str:
        slow = "takes 30 s" in line
        command = line.replace("session-conformance", "hasty", 1) if slow else line
        promised = re.search(r"# exits (\d+)", line)
        kept = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}
        paths = {"PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.folder, env={**kept, **paths, "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
        )  # fmt: skip
        expected = int(promised[1]) if promised else 0
        assert done.returncode == expected, f"{place}: {line}\n{done.returncode}\n{done.stdout}"
        return done.stdout.replace(f"within {SHORTENED} s", "within 30 s") if slow else done.stdout

    def change(self, body: str, place: str) -> None:
        """Apply a ``diff`` block; a line that is neither added nor taken away begins with a blank."""
        heading = CHANGED.match(body)
        assert heading is not None, f"{place}: a diff begins with --- and the name of a file"
        path = self.folder / heading[1]
        lines = body[heading.end() :].splitlines(keepends=True)
        before = path.read_text("utf-8")
        old, new = ("".join(line[1:] for line in lines if line[0] != gone) for gone in "+-")
        assert before.count(old) == 1, f"{place}: these lines must stand once in {heading[1]}:\n{old}"
        if heading[2]:
            self.taken_back.setdefault(path, before)
        path.write_text(before.replace(old, new), "utf-8")


def assert_printed(shown: str, printed: str, place: str) -> None:
    """Compare what a page shows with what was printed.

    Columns may stand further apart than on the page, since one long topic widens them all.
    """
    wanted = [line.rstrip() for line in shown.strip("\n").splitlines()]
    found = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
    pattern = "".join(
        r"(?:.*\n)*" if line == "…" else BLANKS.sub(" {2,}", re.escape(line).replace("…", ".*")) + "\n"
        for line in wanted
    )
    assert re.fullmatch(pattern, found), f"{place}: the page shows\n{shown}\nbut this was printed\n{found}"


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "project")


def with_node_port(workspace: Workspace) -> None:
    """A port in JavaScript: the worked example of the kit, behind the interface that the page names."""
    try:
        node = find_node()
    except DshUnavailable as error:
        pytest.skip(f"the page has an adapter for Node: {error}")
    kit = (ROOT / "conformance" / "adapters" / "kits" / "node").as_uri()
    (workspace.folder / "my_port.mjs").write_text(NODE_PORT.replace("KIT", kit))
    (workspace.folder / "bin" / "node").symlink_to(node)


def file_of(page: Path, name: str) -> str:
    """A file as a page shows it."""
    (text,) = (body for _, body in BLOCK.findall(page.read_text("utf-8")) if body.startswith(f"# {name}\n"))
    return text


def follow(page: Path, folder: Path) -> None:
    """Work a page through. The quick start takes the ports for granted, so they are there for it."""
    workspace = Workspace(folder)
    if page.name == "quickstart.zh.md":
        with_node_port(workspace)
        (folder / "my_port.py").write_text(file_of(PAGES[0], "my_port.py"), "utf-8")
    workspace.work_through(page)


@pytest.fixture(scope="module")
def followed(tmp_path_factory) -> Iterator[dict[Path, Future[None]]]:
    folder = tmp_path_factory.mktemp("guide")
    with ThreadPoolExecutor() as pool:
        yield {page: pool.submit(follow, page, folder / page.stem) for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_tells_what_happens(page, followed):
    followed[page].result()


def test_both_languages_show_the_same_adapter():
    first, _, chinese, *_ = PAGES
    assert file_of(first, "adapter.py") == file_of(chinese, "adapter.py")


PLANTED = """\
```python
# hello.py
print("one")
print("two")
```

```diff
--- hello.py, wrong on purpose
-print("two")
+print("three")
```

```sh
python3 hello.py
```

```text
one
three
```

```sh
python3 hello.py
python3 -c "import sys; sys.exit(3)"  # exits 3
```

```text
o…e
…
two
```
"""


def test_the_conventions_hold(workspace, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PLANTED)
    workspace.work_through(page)


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("one\nthree\n", "one\ntwo\n", "page.md:17: the page shows"),
        ("…\ntwo", "…\nthree", "page.md:27: the page shows"),
        ("one\nthree\n", "three\n", "page.md:17: the page shows"),
        ("# exits 3", "# exits 2", "page.md:22: python3"),
        ("python3 hello.py\npython3", "python3 nothing.py\npython3", "page.md:22: python3 nothing.py"),
        ('-print("two")', '-print("zwei")', "page.md:7: these lines must stand once"),
        ("```sh\npython3 hello.py\n```\n", "", "page.md:14: output of nothing"),
    ],
)
def test_a_page_that_is_wrong_is_found(workspace, tmp_path, right, wrong, told):
    page = tmp_path / "page.md"
    assert PLANTED.count(right) == 1
    page.write_text(PLANTED.replace(right, wrong))
    with pytest.raises(AssertionError, match=re.escape(told)):
        workspace.work_through(page)


def test_the_index_names_every_page():
    told = (DOCS / "README.md").read_text("utf-8")
    pages = {path.name for path in DOCS.glob("*.md")} - {"README.md"}
    assert {name for name in pages if f"({name})" not in told} == set()


def test_this_interpreter_is_the_one_of_the_pages(workspace):
    printed = workspace.run_line("python3 -c 'import sys; print(sys.version)'", "here")
    assert printed.strip() == sys.version
