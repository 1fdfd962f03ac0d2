"""What a run found: saved, asked again, made a case, and told on the command line."""

from __future__ import annotations

import json

import pytest
from fuzz_ports import mutant, spec

from conformance import schemas
from conformance.adapters.registry import resolve
from conformance.cli import main
from conformance.corpus import load_corpus, load_file
from conformance.errors import UsageError, VectorError
from conformance.fuzzing import findings, promoting
from conformance.fuzzing.all_laws import LAWS
from conformance.fuzzing.law_runs import run_laws
from conformance.fuzzing.parties import Table
from conformance.fuzzing.quirks import load_quirks
from conformance.fuzzing.replaying import Tables, replay, worst
from conformance.fuzzing.reporting import Report
from conformance.fuzzing.session import Wanted, run_all
from conformance.ledger import load_ledger

PORT = """\
from fuzz_ports import altered, mutant

def faulty():
    return mutant("replace.start-is-an-index")

def sound():
    from conformance.adapters import reference
    return reference.answer

def helpless():
    return altered("fold", lambda request, answer: {"error": "no idea"})
"""
FAULTY, SOUND, HELPLESS = (f"python:found_ports:{name}" for name in ("faulty", "sound", "helpless"))
VECTORS = """\
format: 1
topic: mine/found
edition: v0
op: fold
evidence: {facts: What the page on replace says.}
cases:
  - id: mine.found.first
    rules: [FOLD-2]
    why: It appends.
    request: {events: [{user: a}]}
    expect: {result: {nodes: [0], replacements: [], replaceGeneration: 0}}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "found_ports.py").write_text(PORT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Findings about one mistake: a difference and a broken law, saved in one folder."""
    folder = tmp_path_factory.mktemp("found")
    with Table.open([spec(mutant("replace.start-is-an-index"), FAULTY), resolve("reference")]) as table:
        result = run_all(table, Wanted(op="fold", examples=150))
        windows = [law for law in LAWS if law.name == "window"]
        result.laws = run_laws(table, table.parties[0], windows, "1", 40, None)
        for law in result.laws.breaches.values():
            findings.save(folder, findings.law_document(law))
        first = next(iter(result.differential.differences.values()))
        findings.save(folder, findings.document_of(first, table, load_ledger()))
        lines = list(Report(result, table).lines())
    return folder, lines


def difference_in(folder):
    (path,) = [path for path in folder.glob("*.json") if not path.name.startswith("law-")]
    return path


def test_a_finding_says_all_that_is_needed_to_ask_again(found):
    folder, lines = found
    document = findings.load(difference_in(folder)).document
    assert schemas.fault("finding", document) is None
    assert document["difference"]["between"] == ["reference", FAULTY]
    assert [entry["adapter"] for entry in document["answers"]] == [FAULTY, "reference"]
    assert document["capability"] == "fold"
    assert "events" in document["request"]
    assert document["drawn"]["origin"].startswith("1/0/")
    assert any(line.startswith("difference 1: fold") for line in lines)
    assert lines[-1].endswith("found")


def test_saving_the_same_twice_is_one_file(found, tmp_path):
    document = findings.load(difference_in(found[0])).document
    assert findings.save(tmp_path, document) == findings.save(tmp_path, document)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("instead", "state", "code"), [(FAULTY, "failing", 1), (SOUND, "fixed", 0), (HELPLESS, "fault", 3)]
)
def test_a_difference_is_asked_again(found, project, capsys, instead, state, code):
    path = str(difference_in(found[0]))
    assert main(["fuzz", "replay", path, "--adapter", instead]) == code
    assert capsys.readouterr().out.startswith(state)
    assert main(["fuzz", "replay", path, "--adapter", instead, "--recorded"]) == code


def test_a_broken_law_is_asked_again(found, project, capsys):
    laws = [str(path) for path in found[0].glob("law-*.json")]
    assert laws
    assert main(["fuzz", "replay", *laws, "--adapter", FAULTY]) == 1
    assert main(["fuzz", "replay", *laws, "--adapter", SOUND]) == 0
    assert "fixed" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "[]", '{"format": 1}', '{"format": 1, "law": "order"}'])
def test_what_is_no_finding_is_wrong_use(tmp_path, capsys, text):
    path = tmp_path / "no.json"
    path.write_text(text)
    assert main(["fuzz", "replay", str(path)]) == 2
    assert str(path) in capsys.readouterr().err
    assert main(["fuzz", "replay", str(tmp_path / "nothing")]) == 2
    assert main(["fuzz", "replay"]) == 2


def test_a_law_that_is_gone_is_told(found, tmp_path):
    (path, *_) = found[0].glob("law-*.json")
    document = {**json.loads(path.read_text()), "law": "gone"}
    with pytest.raises(UsageError, match="no law gone"):
        replay(
            findings.Finding(path, document),
            Tables({}),
            load_ledger(),
            load_quirks(),
            instead="reference",
            recorded=False,
        )
    assert "gone" not in {law.name for law in LAWS}


def test_the_worst_verdict_counts():
    from conformance.fuzzing.replaying import Verdict

    states = [Verdict(state, "") for state in ("fixed", "known", "failing", "fault")]
    assert [worst(states[: end + 1]) for end in range(4)] == ["fixed", "known", "failing", "fault"]


# -- promotion -----------------------------------------------------------------------


def promote(path, *words):
    return main(
        ["fuzz", "promote", str(path), "--id", "mine.found.start", "--why", "A start is a seq.", *words]
    )


def test_a_case_needs_a_second_source_or_facts(found, capsys):
    path = difference_in(found[0])
    assert promote(path, "--rule", "REPL-1") == 2
    assert "no second source" in capsys.readouterr().err
    assert promote(path, "--rule", "REPL-1", "--facts", "REPL-1 calls both ends seqs.") == 0
    printed = capsys.readouterr().out
    assert "id: mine.found.start" in printed
    assert "facts: REPL-1 calls both ends seqs." in printed


def test_a_promoted_case_stands_in_the_file_and_is_sound(found, tmp_path):
    file = tmp_path / "found.yaml"
    file.write_text(VECTORS)
    assert (
        promote(
            difference_in(found[0]), "--rule", "REPL-1", "--facts", "REPL-1 says so.", "--into", str(file)
        )
        == 0
    )
    first, second = load_file(file)
    assert (first.id, second.id) == ("mine.found.first", "mine.found.start")
    assert second.evidence == {"facts": "REPL-1 says so."}
    assert second.request == findings.load(difference_in(found[0])).document["request"]


def test_a_case_that_is_not_sound_leaves_the_file_alone(found, tmp_path, capsys):
    file = tmp_path / "found.yaml"
    file.write_text(VECTORS)
    words = ("--facts", "REPL-1 says so.", "--into", str(file))
    assert promote(difference_in(found[0]), "--rule", "NOPE-1", *words) == 2
    assert "unknown rule NOPE-1" in capsys.readouterr().err
    assert file.read_text() == VECTORS


INTO = ("--rule", "REPL-1", "--facts", "REPL-1 says so.", "--into")


def test_an_id_that_is_taken_is_refused_with_its_place(found, tmp_path, capsys):
    file = tmp_path / "found.yaml"
    file.write_text(VECTORS)
    assert promote(difference_in(found[0]), "--id", "mine.found.first", *INTO, str(file)) == 2
    assert f"mine.found.first is defined already at {file}:7" in capsys.readouterr().err
    taken = load_corpus()[0]
    assert promote(difference_in(found[0]), "--id", taken.id, *INTO, str(file)) == 2
    assert f"defined already at {taken.file}:{taken.line}" in capsys.readouterr().err
    assert file.read_text() == VECTORS


@pytest.mark.parametrize(("name", "topic"), [("my-finds.yaml", "my-finds"), ("My finds.yaml", "fold")])
def test_a_file_that_is_not_there_is_written_with_its_head(found, tmp_path, name, topic):
    file = tmp_path / name
    assert promote(difference_in(found[0]), *INTO, str(file)) == 0
    (case,) = load_file(file)
    assert (case.id, case.topic, case.capability) == ("mine.found.start", topic, "fold")
    assert case.evidence == {"facts": "REPL-1 says so."}
    assert file.read_text().count("evidence:") == 1
    assert promote(difference_in(found[0]), "--id", "mine.found.second", *INTO, str(file)) == 0
    assert len(load_file(file)) == 2


def test_a_new_file_that_would_not_be_sound_is_not_left(found, tmp_path, capsys):
    file = tmp_path / "found.yaml"
    assert promote(difference_in(found[0]), "--rule", "NOPE-1", *INTO, str(file)) == 2
    assert not file.exists()
    assert promote(difference_in(found[0]), *INTO, str(tmp_path / "nowhere" / "found.yaml")) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (VECTORS[: VECTORS.index("cases:")] + "cases: []\n", "has no case yet; remove it"),
        (
            VECTORS.replace("op: fold", "op: messages").replace(
                "nodes: [0], replacements: [], replaceGeneration: 0", "messages: []"
            ),
            "name another --into",
        ),
    ],
)
def test_a_file_that_cannot_take_the_case_is_told_what_to_do(found, tmp_path, capsys, text, told):
    file = tmp_path / "found.yaml"
    file.write_text(text)
    assert promote(difference_in(found[0]), *INTO, str(file)) == 2
    assert told in capsys.readouterr().err
    assert file.read_text() == text


def test_the_published_package_is_evidence_where_it_agrees(found):
    document = json.loads(difference_in(found[0]).read_text())
    answers = {entry["adapter"]: entry for entry in document["answers"]}
    published = {"adapter": "dsh", "implementation": {"name": promoting.PUBLISHED, "version": "0.1.0-rc.8"}}
    agreeing = {**answers["reference"], **published}
    other = {**published, "rejected": {"condition": "sources-empty"}}
    promotion = promoting.Promotion("mine.found.start", "A start is a seq.", rules=("REPL-1",))
    path = difference_in(found[0])
    entry = promoting.case_of(
        findings.Finding(path, {**document, "answers": [agreeing]}), promotion, Tables({}), load_ledger()
    )
    assert entry["evidence"] == {"dsh": "0.1.0-rc.8"}
    with pytest.raises(UsageError, match="second source"):
        promoting.case_of(
            findings.Finding(path, {**document, "answers": [other]}), promotion, Tables({}), load_ledger()
        )


def test_a_broken_law_is_no_case(found):
    (path, *_) = found[0].glob("law-*.json")
    assert promote(path, "--facts", "The law says so.") == 2


def test_an_id_and_a_reason_are_asked_for(found, capsys):
    assert main(["fuzz", "promote", str(difference_in(found[0]))]) == 2
    assert "--id and --why" in capsys.readouterr().err


# -- the command ---------------------------------------------------------------------


def test_a_run_ends_as_run_does(project, capsys):
    few = ["--op", "fold", "--examples", "150"]
    assert main(["fuzz", SOUND, *few]) == 0
    assert "no difference" in capsys.readouterr().out.splitlines()[-1]
    assert main(["fuzz", FAULTY, *few, "--no-laws", "--save", "kept"]) == 1
    assert "kept/fold-" in capsys.readouterr().out
    assert all(findings.load(path) for path in (project / "kept").iterdir())
    assert main(["fuzz", HELPLESS, *few]) == 3
    assert "adapter at fault" in capsys.readouterr().out


def test_the_reference_alone_is_held_against_laws(capsys):
    assert main(["fuzz", "reference", "--examples", "400"]) == 0
    printed = capsys.readouterr().out
    assert "20 checks of laws" in printed
    assert "inputs" not in printed


@pytest.mark.parametrize(
    "words",
    [
        ["--op", "nothing"],
        ["--against", "nothing"],
        ["one", "word"],
        ["--examples", "0"],
        ["--against", "reference"],
    ],
)
def test_wrong_use(words):
    try:
        code = main(["fuzz", "reference", *words])
    except SystemExit as end:
        code = end.code
    assert code == 2


def test_a_folder_of_findings_is_read_whole(found):
    assert len(findings.find([found[0]])) == len(list(found[0].iterdir())) > 1
    with pytest.raises(VectorError):
        findings.load(found[0] / "absent.json")
