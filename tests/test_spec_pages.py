"""The pages: the worked transcript is run, rules are those of the ledger, every link leads somewhere."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.ledger import load_ledger
from conformance.operations import OPERATIONS
from conformance.schemas import spelled_as_text

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "spec").glob("*.md"))
LINKED = [*PAGES, ROOT / "vectors" / "README.md", ROOT / "README.md"]


def test_the_members_that_may_come_as_text_are_those_of_the_schemas():
    text = (ROOT / "spec" / "protocol.md").read_text("utf-8")
    listed = {
        (member, op)
        for member, operations in re.findall(r"^\| `(\w+)_text` \| (.+) \|$", text, re.MULTILINE)
        for op in re.findall(r"`([^`]+)`", operations)
    }
    assert listed == {(member, op) for op in OPERATIONS for member in spelled_as_text(op)}


def test_the_worked_transcript_is_what_the_reference_says():
    text = (ROOT / "spec" / "protocol.md").read_text("utf-8")
    requests = re.findall(r"^→ (.+)$", text, re.MULTILINE)
    answers = re.findall(r"^← (.+)$", text, re.MULTILINE)
    assert len(requests) == len(answers) > 10
    served = subprocess.run(
        [sys.executable, "-m", "conformance", "serve", "reference"],
        input="".join(f"{line}\n" for line in requests),
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        timeout=60,
        check=True,
    )
    found = [json.loads(line) for line in served.stdout.splitlines()]
    told = [json.loads(line) for line in answers]
    for hello in (found[0], told[0]):
        del hello["result"]["implementation"]["version"]
    assert found == told


RULE = re.compile(
    r"^\*\*([A-Z]{3,5}-[1-9][0-9]*)\*\* \((MUST|SHOULD)(?:, `([a-z0-9-]+)`)?\) \S", re.MULTILINE
)


def test_pages_hold_the_rules_of_the_ledger_each_once_and_no_other():
    stated = [
        (rule, level, condition or None, page.stem)
        for page in PAGES
        for rule, level, condition in RULE.findall(page.read_text("utf-8"))
    ]
    listed = [(rule.id, rule.level, rule.condition, rule.page) for rule in load_ledger().rules.values()]
    assert sorted(stated, key=str) == sorted(listed, key=str)


def test_the_index_lists_every_page():
    index = (ROOT / "spec" / "README.md").read_text("utf-8")
    assert [page.name for page in PAGES if page.name != "README.md" and f"({page.name})" not in index] == []


def test_the_index_names_the_rules_that_no_case_can_show():
    index = (ROOT / "spec" / "README.md").read_text("utf-8")
    (paragraph,) = re.findall(r"^\* \*\*Untestable\*\*.*?(?=^\* )", index, re.MULTILINE | re.DOTALL)
    named = re.findall(r"[A-Z]{3,5}-[1-9][0-9]*", paragraph)
    assert sorted(named) == sorted(rule.id for rule in load_ledger().rules.values() if rule.untestable)


LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def dead_links(text: str, folder: Path) -> list[str]:
    """Relative links outside code that lead to no file, or to no heading of one."""
    dead = []
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = folder / path
        if not file.exists() or (anchor and path and anchor not in anchors_of(file)):
            dead.append(target)
    return dead


def anchors_of(file: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", file.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    assert dead_links(page.read_text("utf-8"), page.parent) == []


def test_a_dead_link_is_found():
    spec = ROOT / "spec"
    text = (
        "[a](nowhere.md) [b](fold.md) [c](fold.md#nothing) [d](fold.md#what-is-not-checked) [e](https://x.y)"
    )
    assert dead_links(text, spec) == ["nowhere.md", "fold.md#nothing"]
