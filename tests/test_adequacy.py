"""The mutation machinery: copies do not leak, every change is made, nothing dead counts as killed."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest

from conformance import resources
from conformance.adapters.limits import Limits
from conformance.adequacy import campaign as campaigns
from conformance.adequacy import copies, excuses, gate, generic, known, named, trial
from conformance.adequacy.campaign import Campaign, run_campaign
from conformance.adequacy.mutant import Mutant, Outcome
from conformance.adequacy.tracing import trace_cases
from conformance.cli import main
from conformance.corpus import load_corpus
from conformance.errors import VectorError
from conformance.ledger import load_ledger

FOLD = {"op": "fold", "edition": "v0", "events": [{"type": "x", "seq": 0}, {"type": "y", "seq": 2}]}


@pytest.fixture(scope="module")
def jury():
    cases = campaigns.askable(load_corpus())
    return trial.select_jury(cases, trace_cases(cases))


@pytest.fixture
def few(monkeypatch):
    """The cases of the surface alone are asked: enough for what a campaign does with them, and soon done."""
    cases = [case for case in load_corpus() if case.topic.startswith(("surface/", "tutorial/"))]
    monkeypatch.setattr(campaigns, "load_corpus", lambda **_: cases)
    return cases


def mutant(module: str, find: str, put: str, rule: str | None = None) -> Mutant:
    entry = {"id": "m", "module": module, "mistake": "m", "find": find, "put": put, "rule": rule}
    return named.named_mutant(entry)


def test_a_copy_differs_and_the_original_stays():
    import reference_impl.event_log

    original = copies.load({})
    changed = copies.load({"event_log": copies.sources()["event_log"].replace("seq-not-contiguous", "other")})
    assert original(FOLD)["rejected"]["condition"] == "seq-not-contiguous"
    assert changed(FOLD)["rejected"]["condition"] == "other"
    assert copies.load({})(FOLD)["rejected"]["condition"] == "seq-not-contiguous"
    assert "other" not in reference_impl.event_log.require_contiguous.__code__.co_consts
    from conformance.adapters import reference

    assert reference.answer(FOLD)["rejected"]["condition"] == "seq-not-contiguous"


def test_the_unchanged_reference_survives(jury):
    outcome, kills = trial.try_mutant(
        Mutant("o", "fold", "", "", copies.sources()["fold"], frozenset()), jury.cases
    )
    assert (outcome.status, kills) == ("survived", [])


def test_a_fault_is_killed_by_a_case_of_its_rule(jury):
    fault = mutant("replace", "stretch.last + 1] = [seq]", "stretch.last] = [seq]", "REPL-4")
    outcome, (case, *_) = trial.try_mutant(fault, jury.for_mutant(fault))
    assert (outcome.status, outcome.by_rule) == ("killed", True)
    assert outcome.case == case


def test_only_cases_that_execute_the_change_are_asked(jury):
    fault = mutant("tutorial", "f\"{event['name']}: {event['content']}\"", "''")
    assert {case.op for case in jury.for_mutant(fault)} == {"tutorial"}


def test_a_mutant_that_never_ends_is_killed(jury, monkeypatch):
    monkeypatch.setattr(trial, "LIMITS", Limits(answer_seconds=0.2))
    fault = mutant("surface_view", "self._folded += 1", "self._folded += 0")
    outcome, _ = trial.try_mutant(fault, jury.for_mutant(fault))
    assert outcome.status == "killed"


@pytest.mark.parametrize(
    ("find", "put", "status"),
    [
        ("no such text", "x", "not-applicable"),
        ("surface", "x", "not-applicable"),
        ("from __future__ import annotations", "import no_such_module", "broken"),
        ("from __future__ import annotations", "this is no python", "broken"),
    ],
)
def test_what_does_not_apply_or_breaks_is_not_killed(jury, find, put, status):
    outcome, _ = trial.try_mutant(mutant("fold", find, put), jury.cases)
    assert outcome.status == status


def test_names_for_types_are_no_decisions():
    source = "Pair = tuple[int, int]\nBoth = int | str\nLIMITS = table[0]\n"
    assert [each.says for each in generic.generate("sample", source).mutants] == [
        "0 -> 1",
        "0 -> -1",
    ]


def test_functions_that_print_are_left_out_by_what_they_hold():
    printing = 'def show(value):\n    """Text."""\n    if value is None:\n        return "null"\n'
    found = generic.generate("sample", printing)
    assert found.mutants == []
    assert found.left_out == 4  # the question, its comparison, the return, the text


def test_either_cases_are_no_jurors(jury):
    assert all(case.expect.kind != "either" for case in jury.cases)
    assert len(jury.cases) < sum(case.family is None for case in load_corpus())


SAMPLE = '''
LIMIT = 3
class Thing:
    @property
    def size(self) -> int:
        """Docstring with 1 number."""
        return 1
def decide(values: list[int]) -> bool:
    total = 0
    for value in values:
        if value < LIMIT and not value == 2:
            total += 1
            continue
        raise Rejection("name", f"text {value}")
    return total - 1 in (0, True)
'''


def test_every_class_of_change_is_made():
    found = generic.generate("sample", SAMPLE)
    kinds = {mutant.kind for mutant in found.mutants}
    assert kinds == {
        "comparison", "condition", "boolean", "constant", "boundary", "return", "removed", "swapped", "loop",
    }  # fmt: skip
    says = {mutant.says for mutant in found.mutants}
    for change in (
        "value < LIMIT -> value <= LIMIT",
        "value == 2 -> value != 2",
        "not value == 2 -> value == 2",
        "value < LIMIT and (not value == 2) -> value < LIMIT or not value == 2",
        "total - 1 -> total + 1",
        "remove total += 1",
        "remove continue",
        "'name' -> 'name~'",
        "True -> False",
        "for value in values runs backwards",
        "for value in values ends after the first",
        "return 1 -> return None",
    ):
        assert change in says, change
    assert found.left_out == 1
    assert not any(
        "Docstring" in each or "text" in each.replace("f'text", "") for each in says if "->" in each
    )


def test_mutants_have_unique_names_and_all_parse():
    for module, source in copies.sources().items():
        mutants = generic.generate(module, source).mutants
        assert len({each.id for each in mutants}) == len(mutants)
        original = ast.dump(ast.parse(source))
        for each in mutants[::7]:  # of all of them a campaign says whether they can be loaded
            assert ast.dump(ast.parse(each.source)) != original


def test_lines_of_a_decorated_function_include_its_decorator(jury):
    found = generic.generate("surface_view", copies.sources()["surface_view"]).mutants
    swapped = next(each for each in found if each.id.startswith("surface_view.SurfaceView.nodes: swapped"))
    assert jury.for_mutant(swapped)


def test_keys_change_with_what_an_outcome_depends_on(jury):
    fault = mutant("event_log", "if not isinstance(element, dict):", "if False:")
    able, witnesses = jury.for_mutant(fault), jury.witnesses_of(fault)
    assert witnesses
    base = known.key_of(fault, able, witnesses, "base")
    assert known.key_of(fault, able, witnesses, "base") == base
    assert known.key_of(fault, able, witnesses, "other") != base
    assert known.key_of(fault, able[1:], witnesses, "base") != base
    assert known.key_of(fault, able, witnesses[1:], "base") != base
    assert known.key_of(mutant("event_log", "seq = ", "seq = 1 + "), able, witnesses, "base") != base


def test_a_changed_vector_file_asks_again_only_what_it_touches(tmp_path, monkeypatch, few):
    def asked_again(without: str) -> int:
        cases = [case for case in few if case.id != without]
        monkeypatch.setattr(campaigns, "load_corpus", lambda **_: cases)
        found = run_campaign(load_ledger(), "replace", "generic", 1, tmp_path / "cache.json")
        return len(found.outcomes) - found.remembered

    for_all = [
        each for each in generic.generate("replace", copies.sources()["replace"]).mutants if not each.lines
    ]
    assert asked_again("none") > 30
    assert asked_again("tutorial.chapter-6.assistant") == len(for_all)
    assert len(for_all) < asked_again("surface.replace.start-absent")


LOADED = """
import sys
from conformance.adequacy import trial
from conformance.adequacy.mutant import Mutant
from conformance.corpus import load_corpus
from conformance.reference_sources import sources
original = Mutant("o", "fold", "", "", sources()["fold"], frozenset())
single = [case for case in load_corpus() if case.family is None]
trial.try_mutant(original, single[:20])
names = [name for name in sys.modules if name.split(".")[0] in ("conformance", "reference_impl")]
print(*[sys.modules[name].__file__ for name in names], sep="\\n")
"""


def test_outcomes_rest_on_all_code_that_a_trial_loads():
    done = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True)
    files = {str(path.resolve()) for path in known.foundation_files()}
    loaded = set(done.stdout.split())
    assert len(loaded) > 20
    assert loaded - files == set()
    assert str(resources.spec_dir() / "rules.yaml") in files
    assert any(name.endswith("event_log.py") for name in files)


def test_the_foundation_changes_with_a_file_and_with_python(tmp_path):
    (tmp_path / "a.py").write_text("1")
    before = known.foundation([tmp_path / "a.py"])
    assert known.foundation([tmp_path / "a.py"]) == before
    assert known.foundation([tmp_path / "a.py"], python="3.99") != before
    (tmp_path / "a.py").write_text("2")
    assert known.foundation([tmp_path / "a.py"]) != before


def test_outcomes_are_remembered(tmp_path, few):
    ledger = load_ledger()
    first = run_campaign(ledger, "tutorial", "generic", 1, tmp_path / "cache.json")
    second = run_campaign(ledger, "tutorial", "generic", 1, tmp_path / "cache.json")
    assert first.remembered == 0
    assert second.remembered == len(second.outcomes) == len(first.outcomes) > 0
    assert second.outcomes == first.outcomes


KEPT = {
    "key": "k",
    "outcome": {"status": "killed", "case": "c", "by_rule": None, "reason": None, "seen_by": None},
}


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "null", "[" * 100_000, "{", '{"m": 1}', '{"m": {}}',
        json.dumps({"m": {**KEPT, "key": 7}}),
        json.dumps({"m": {**KEPT, "more": 1}}),
        json.dumps({"m": {**KEPT, "outcome": []}}),
        json.dumps({"m": {**KEPT, "outcome": {"status": "killed"}}}),
        json.dumps({"m": {**KEPT, "outcome": {**KEPT["outcome"], "status": "equivalent"}}}),
        json.dumps({"m": {**KEPT, "outcome": {**KEPT["outcome"], "case": ["c"]}}}),
        json.dumps({"m": {**KEPT, "outcome": {**KEPT["outcome"], "by_rule": "yes"}}}),
    ],
)  # fmt: skip
def test_a_cache_that_is_not_ours_is_no_cache(tmp_path, content):
    (tmp_path / "cache.json").write_text(content)
    assert known.read(tmp_path / "cache.json") == {}


def test_a_good_entry_is_kept_beside_a_bad_one(tmp_path):
    (tmp_path / "cache.json").write_text(json.dumps({"good": KEPT, "bad": {"key": "k"}}))
    assert known.read(tmp_path / "cache.json") == {"good": ("k", Outcome("killed", case="c"))}


def test_entries_of_mutants_that_are_gone_are_dropped(tmp_path):
    path = tmp_path / "new" / "cache.json"
    entries = {"here": ("k", Outcome("killed")), "gone": ("k", Outcome("killed"))}
    known.write(path, entries)
    assert known.read(path) == entries
    known.write(path, known.read(path), {"here"})
    assert list(known.read(path)) == ["here"]
    assert list(path.parent.iterdir()) == [path]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    known.write(tmp_path / "file" / "cache.json", {})
    (tmp_path / "cache.json").mkdir()
    known.write(tmp_path / "cache.json", {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache.json", "file"]


def test_the_command_keeps_its_cache_where_the_others_do(tmp_path, monkeypatch, capsys, few):
    monkeypatch.setenv("SESSION_CONFORMANCE_CACHE", str(tmp_path))
    for told in ("0 of 15 outcomes remembered", "15 of 15 outcomes remembered"):
        assert main(["adequacy", "--named", "--page", "tutorial"]) == 0
        assert told in capsys.readouterr().out
    assert len(known.read(tmp_path / "adequacy.json")) >= gate.WANTED_NAMED
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SESSION_CONFORMANCE_CACHE", str(tmp_path / "file"))
    assert main(["adequacy", "--named", "--page", "tutorial"]) == 2
    assert "name another folder or unset the variable" in capsys.readouterr().err


def test_without_fork_mutants_are_tried_all_the_same(monkeypatch, few):
    monkeypatch.setattr(campaigns.multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    found = run_campaign(load_ledger(), "tutorial", "named", 2, None)
    assert {outcome.status for outcome in found.outcomes.values()} == {"killed"}


def test_a_page_joins_by_its_file_alone(tmp_path):
    ledger = load_ledger()
    (tmp_path / "fold.yaml").write_text(
        "page: fold\nmutants:\n  - id: fold.x\n    rule: FOLD-2\n    module: fold\n"
        "    mistake: It forgets to append.\n    find: surface.nodes.append(plan.seq)\n    put: pass\n"
    )
    (loaded,) = named.load_named(ledger, tmp_path)["fold"]
    assert loaded.source
    for old, new, told in (
        ("FOLD-2", "FOLD-99", "unknown rule FOLD-99"),
        ("module: fold", "module: nothing", "no module nothing"),
        ("page: fold", "page: values", "not the one this file is named after"),
        ("mistake: It forgets to append.", "mistake: no", "means different things"),
    ):
        text = (tmp_path / "fold.yaml").read_text()
        (tmp_path / "fold.yaml").write_text(text.replace(old, new))
        with pytest.raises(VectorError, match=told):
            named.load_named(ledger, tmp_path)
        (tmp_path / "fold.yaml").write_text(text)


def one_mutant(status: str, rule: str | None = None, **more: object) -> Campaign:
    """A campaign of one generic mutant, or of three named ones of page fold, the first with that outcome."""
    mutants = [Mutant(f"m{number}", "fold", "", "It errs.", "x", frozenset(), rule) for number in (1, 2, 3)]
    found = Campaign("fold", "named" if rule else "generic", {"fold": mutants if rule else mutants[:1]})
    found.outcomes = {each.id: Outcome("killed", "c", by_rule=True) for each in mutants}
    found.outcomes["m1"] = Outcome(status, **more)
    return found


@pytest.mark.parametrize("status", ["killed", "equivalent", "unjudged"])
def test_a_generic_mutant_is_killed_or_justified(status):
    assert gate.findings(one_mutant(status), load_ledger()) == []


@pytest.mark.parametrize("status", ["survived", "broken", "not-applicable"])
def test_any_other_generic_mutant_is_a_finding(status, capsys):
    (told,) = gate.findings(one_mutant(status), load_ledger())
    assert told.startswith(f"{status}: m1")
    assert capsys.readouterr().out == ""


def test_a_named_mutant_is_killed_by_a_case_of_its_rule():
    assert gate.findings(one_mutant("killed", "FOLD-1", by_rule=True), load_ledger()) == []
    (told,) = gate.findings(one_mutant("killed", "FOLD-1", case="other", by_rule=False), load_ledger())
    assert told == "killed by other, but by no case of FOLD-1: named mutant m1"
    (told,) = gate.findings(one_mutant("equivalent", "FOLD-1"), load_ledger())
    assert told == "equivalent: named mutant m1 (FOLD-1): It errs."


@pytest.mark.parametrize("which", ["named", "generic", "both"])
def test_a_campaign_without_mutants_shows_nothing(which):
    told = gate.findings(Campaign("tutorial", which), load_ledger())
    assert any("so nothing was shown" in each for each in told)


def test_a_page_without_generic_mutants_is_no_success(capsys, few):
    assert main(["adequacy", "--no-cache", "--generic", "--page", "producers"]) == 1
    assert "there is no generic mutant of producers" in capsys.readouterr().out


def test_every_page_with_rules_to_test_has_named_mutants(monkeypatch, capsys, few):
    ledger = load_ledger()
    assert list(gate.missing_mutants(campaigns.gather(ledger, None, "named"), ledger)) == []
    two = {page: mutants[:2] for page, mutants in named.load_named(ledger).items() if page == "tutorial"}
    monkeypatch.setattr(campaigns.named, "load_named", lambda _: two)
    told = list(gate.missing_mutants(campaigns.gather(ledger, None, "named"), ledger))
    assert "page tutorial has 2 named mutants; it takes 3 at least" in told
    assert "page fold has 0 named mutants; it takes 3 at least" in told
    assert main(["adequacy", "--no-cache", "--named", "--page", "tutorial"]) == 1
    assert "page tutorial has 2 named mutants" in capsys.readouterr().out


def test_too_many_message_texts_are_a_finding():
    """Counted against the generic sites alone; named mutants do not water it down."""
    everything = campaigns.gather(load_ledger(), None, "both")
    assert list(gate.too_much_left_out(everything)) == []
    everything.left_out = everything.sites // 8
    (told,) = gate.too_much_left_out(everything)
    assert "of the sites are left out as message texts; at most 10% may be" in told


LIST = """\
equivalent:
  - reason: It changes nothing that anybody asks for.
    mutants:
      - "a"
      - "b"
unjudged:
  - reason: Every case that could see it is either.
    mutants: ["c"]
"""


@pytest.fixture
def listed(tmp_path):
    (tmp_path / "list.yaml").write_text(LIST)
    return excuses.load_excuses(tmp_path / "list.yaml")


def test_survivors_are_excused_for_what_they_are(listed):
    alive, seen = Outcome("survived"), Outcome("survived", seen_by="x")
    judged, wrong = excuses.excuse({"a": alive, "b": alive, "c": seen}, listed, whole=True)
    assert wrong == []
    assert [judged[name].status for name in "abc"] == ["equivalent", "equivalent", "unjudged"]
    assert "anybody asks" in (judged["a"].reason or "")


def test_an_excuse_that_does_not_hold_is_a_finding(listed):
    outcomes = {"b": Outcome("survived", seen_by="x"), "c": Outcome("survived")}
    judged, wrong = excuses.excuse(outcomes, listed, whole=True)
    assert [each.split(":")[1] for each in wrong] == ["4", "5", "8"]
    assert "a: is no mutant" in wrong[0]
    assert "b: is not equivalent, for x is answered differently" in wrong[1]
    assert "c: is answered like the original by every either case" in wrong[2]
    assert {outcome.status for outcome in judged.values()} == {"survived"}
    assert excuses.excuse({"a": Outcome("killed")}, listed, whole=False)[1] == [
        "equivalent.yaml:4: a: is killed; take the entry out"
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('- "b"', '- "a"', "list.yaml:5: a is listed already on line 4"),
        ("unjudged:", "unjudgd:", "list.yaml:1: .*unjudgd"),
        ("It changes nothing that anybody asks for.", "No.", "list.yaml:2: .*too short"),
        ('["c"]', "[7]", "list.yaml:8: .*not of type 'string'"),
    ],
)
def test_a_faulty_list_is_told_with_its_line(tmp_path, old, new, told):
    (tmp_path / "list.yaml").write_text(LIST.replace(old, new))
    with pytest.raises(VectorError, match=told):
        excuses.load_excuses(tmp_path / "list.yaml")


def test_a_survivor_that_an_either_case_sees_is_told_apart(jury):
    seen = mutant("event_log", '"event-shapeless"', '"shapeless"')
    outcome, _ = trial.try_mutant(seen, jury.for_mutant(seen), jury.witnesses_of(seen))
    assert outcome.status == "survived"
    assert outcome.seen_by
    wording = mutant("event_log", "an event must be an object", "no object, no event")
    outcome, _ = trial.try_mutant(wording, jury.for_mutant(wording), jury.witnesses_of(wording))
    assert (outcome.status, outcome.seen_by) == ("survived", None)


def test_the_corpus_is_strong(capsys):
    """The gate: named mutants killed by a case of their rule, no generic one alive without a reason.

    What is known of a mutant is kept under a digest of all that it depends on, so nothing is tried twice.
    """
    assert main(["adequacy"]) == 0, capsys.readouterr().out


def test_a_weak_corpus_is_noticed(capsys, monkeypatch):
    def weaker(*_, **__):
        return [case for case in load_corpus() if "REPL-5" not in case.rules]

    monkeypatch.setattr(campaigns, "load_corpus", weaker)
    assert main(["adequacy", "--no-cache", "--page", "replace", "--named"]) == 1
    assert "named mutant replace." in capsys.readouterr().out


def test_a_change_outside_functions_may_be_noticed_by_every_case(jury):
    fault = mutant("marker", '"user/message", "assistant/message"', '"assistant/message"')
    assert len(jury.for_mutant(fault)) == len(jury.cases)
    assert trial.try_mutant(fault, jury.for_mutant(fault))[0].status == "killed"
