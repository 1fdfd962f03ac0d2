"""Known failures: what they excuse, and everything that they do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import HEAD, double_name, vector_text

from conformance.baseline import fingerprint, load_baseline
from conformance.cli import main
from conformance.errors import VectorError

WRONG = (
    HEAD.format(op="fold")
    + "".join(
        f"  - id: sample.wrong-{index}\n    rules: [FOLD-2]\n    request: {{events: [{{user: a}}]}}\n"
        f"    expect: {{result: {{nodes: [{7 + index}], replacements: [], replaceGeneration: 0}}}}\n"
        for index in range(2)
    )
    + vector_text(2).removeprefix(HEAD.format(op="fold"))
)


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("sample.yaml").write_text(WRONG)
    return tmp_path


def run(*words: str) -> tuple[int, list[dict]]:
    code = main(["run", "reference", "--report", "out.ndjson", *words])
    return code, [json.loads(line) for line in Path("out.ndjson").read_text().splitlines()]


def fingerprints() -> dict[str, str]:
    _, records = run("--vectors", "sample.yaml")
    return {record["case"]: record["fingerprint"] for record in records if record.get("status") == "fail"}


def baseline(*entries: str) -> str:
    Path("known.yaml").write_text("format: 1\nknown_failures:\n" + "".join(entries))
    return "known.yaml"


def entry(case: str, failure: str, more: str = "") -> str:
    return f'  - case: "{case}"\n    reason: known since spring\n    failure: "{failure}"\n{more}'


def of(records, case: str) -> dict:
    return next(record for record in records if record.get("case") == case)


def statuses(records) -> dict[str, str]:
    return {record["case"]: record["status"] for record in records if record["record"] == "verdict"}


def test_known_failures_do_not_fail_the_run(folder, capsys):
    known = baseline(*(entry(case, failure) for case, failure in fingerprints().items()))
    code, records = run("--vectors", "sample.yaml", "--baseline", known)
    assert code == 0
    assert statuses(records)["sample.wrong-0"] == "known-failure"
    assert of(records, "sample.wrong-0")["reason"] == "known since spring"
    assert "2 known-failure" in capsys.readouterr().out


def test_another_failure_is_not_the_known_one(folder, capsys):
    known = baseline(*(entry(case, "fail nodes[1] 000000000000") for case in fingerprints()))
    code, records = run("--vectors", "sample.yaml", "--baseline", known)
    assert code == 1
    assert statuses(records)["sample.wrong-0"] == "fail"
    assert "known.yaml:3, but fails differently" in of(records, "sample.wrong-0")["baseline"]


def test_a_case_that_passes_is_taken_off_the_list(folder, capsys):
    entries = [entry(case, failure) for case, failure in fingerprints().items()]
    known = baseline(*entries, entry("sample.case-0", "crashed"))
    code, records = run("--vectors", "sample.yaml", "--baseline", known)
    assert code == 1
    assert statuses(records)["sample.case-0"] == "stale-known-failure"
    assert "it passes: take it off the list" in capsys.readouterr().out


def test_an_expired_entry_excuses_nothing(folder, capsys):
    first, second = fingerprints().items()
    known = baseline(
        entry(*first, '    expires: "2020-01-31"\n'), entry(*second, '    expires: "2999-01-31"\n')
    )
    code, records = run("--vectors", "sample.yaml", "--baseline", known)
    assert code == 1
    assert statuses(records)["sample.wrong-0"] == "fail"
    assert statuses(records)["sample.wrong-1"] == "known-failure"
    assert "expired on 2020-01-31" in of(records, "sample.wrong-0")["baseline"]


def test_an_entry_that_is_no_longer_run_fails_the_run(folder, capsys):
    entries = [entry(case, failure) for case, failure in fingerprints().items()]
    known = baseline(*entries, entry("surface.replace.first-two", "crashed"))
    assert main(["run", "--baseline", known]) == 1
    assert "sample.wrong-0 is listed as a known failure and no longer run" in capsys.readouterr().out
    part = baseline(entry("surface.replace.first-two", "crashed"), *entries)
    code, _ = run("--vectors", "sample.yaml", "--baseline", part)
    assert code == 0, "a run over part of the corpus says nothing of the rest"


def test_an_undeclared_case_is_no_longer_run(folder, capsys):
    known = baseline(entry("sample.wrong-0", "crashed"))
    argv = ["run", double_name("declares-nothing"), "--vectors", "sample.yaml", "--baseline", known]
    assert main(argv) == 3
    assert "no longer run" in capsys.readouterr().out


def test_a_pattern_is_bounded(folder, capsys):
    failures = list(fingerprints().values())
    listed = json.dumps(failures)
    good = f'  - case: "sample.wrong-*"\n    matches: 2\n    reason: both\n    failure: {listed}\n'
    code, records = run("--vectors", "sample.yaml", "--baseline", baseline(good))
    assert code == 0
    assert statuses(records)["sample.wrong-1"] == "known-failure"
    with pytest.raises(VectorError, match=r"known\.yaml:3: .*a pattern needs matches"):
        load_baseline(Path(baseline(good.replace("    matches: 2\n", ""))))
    with pytest.raises(VectorError, match="a single case takes none"):
        load_baseline(Path(baseline(good.replace("wrong-*", "wrong-0"))))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("format: 2\nknown_failures: []\n", "known.yaml:1"),
        ("format: 1\nknown_failures:\n  - case: a.b\n", "'reason' is a required property"),
        ('format: 1\nknown_failures:\n  - {case: a.b, reason: x, expires: "soon"}\n', "must be a date like"),
        ("format: 1\nknown_failures:\n  - {case: a.b, reason: x, expires: 2027-01-31}\n", "different things"),
    ],
)
def test_a_broken_list_is_one_message(folder, capsys, text, told):
    Path("known.yaml").write_text(text)
    assert main(["run", "--vectors", "sample.yaml", "--baseline", "known.yaml"]) == 2
    assert told in capsys.readouterr().err


def test_a_missing_list_is_one_message(folder, capsys):
    assert main(["run", "--baseline", "nothing.yaml"]) == 2
    assert "nothing.yaml: cannot be read" in capsys.readouterr().err


def full_run(tmp_path, monkeypatch) -> None:
    """A complete run over the whole corpus by an adapter that fails two topics."""
    Path("half.py").write_text(
        "from conformance.adapters.reference import answer\n"
        "def create():\n"
        "    return lambda r: {'crashed': 'no'} if r['op'] in ('window', 'tutorial') else answer(r)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    main(["run", "python:half:create", "--report", "full.ndjson"])


def test_update_lists_the_failures_and_keeps_reasons(folder, monkeypatch, capsys):
    full_run(folder, monkeypatch)
    assert main(["baseline", "update", "known.yaml", "--from", "full.ndjson"]) == 0
    assert "not explained yet" in capsys.readouterr().out
    assert main(["run", "python:half:create", "--baseline", "known.yaml"]) == 0
    text = Path("known.yaml").read_text()
    case = load_baseline(Path("known.yaml")).entries[0].pattern
    explained = text.replace(
        f'case: "{case}"\n    reason: "not explained yet"',
        f'case: "{case}"\n    reason: "see"\n    link: "tracker/1"',
    )
    assert explained != text
    Path("known.yaml").write_text(explained)
    assert main(["baseline", "update", "known.yaml", "--from", "full.ndjson"]) == 0
    kept = next(entry for entry in load_baseline(Path("known.yaml")).entries if entry.pattern == case)
    assert (kept.reason, kept.link) == ("see", "tracker/1")
    assert Path("known.yaml").read_text() == explained


def test_update_takes_nothing_from_a_part(folder, monkeypatch, capsys):
    full_run(folder, monkeypatch)
    lines = Path("full.ndjson").read_text().splitlines(keepends=True)
    Path("cut.ndjson").write_text("".join(lines[:-1]))
    assert main(["baseline", "update", "known.yaml", "--from", "cut.ndjson"]) == 2
    assert "cut off" in capsys.readouterr().err
    main(["run", "reference", "--topic", "tutorial", "--report", "part.ndjson"])
    assert main(["baseline", "update", "known.yaml", "--from", "part.ndjson"]) == 2
    assert "--topic tutorial" in capsys.readouterr().err
    main(["run", double_name("error-answer"), "--report", "fault.ndjson", "--time-limit", "5"])
    assert main(["baseline", "update", "known.yaml", "--from", "nothing.ndjson"]) == 2
    assert not Path("known.yaml").exists()


def test_the_fingerprint_covers_status_and_difference_and_no_texts():
    def failing(**changes):
        difference = {"path": "nodes[0]", "expected": 1, "found": 2}
        return {"status": "fail", "difference": {**difference, **changes}}

    base = fingerprint(failing())
    assert fingerprint(failing(found=3)) != base
    assert fingerprint(failing(path="nodes[1]")) != base
    assert fingerprint({"status": "crashed", "message": "at 0x1"}) == fingerprint(
        {"status": "crashed", "message": "at 0x2"}
    )
    refusals = [{"rejected": {"condition": "c", "message": text}} for text in ("at 10:00", "at 11:00")]
    assert fingerprint(failing(found=refusals[0])) == fingerprint(failing(found=refusals[1]))
