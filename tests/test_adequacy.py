"""The mutation machinery: copies do not leak, every change is made, nothing dead counts as killed."""

from __future__ import annotations

import ast

import pytest

from conformance.adapters.limits import Limits
from conformance.adequacy import copies, generic, named, trial
from conformance.adequacy.campaign import gather, key_of, run_campaign
from conformance.adequacy.mutant import Mutant
from conformance.adequacy.tracing import trace_cases
from conformance.cli import main
from conformance.corpus import load_corpus
from conformance.errors import VectorError
from conformance.ledger import load_ledger

FOLD = {"op": "fold", "edition": "v0", "events": [{"type": "x", "seq": 0}, {"type": "y", "seq": 2}]}


@pytest.fixture(scope="module")
def jury():
    cases = load_corpus()
    return trial.select_jury(cases, trace_cases(cases))


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


def test_either_cases_are_no_jurors(jury):
    assert all(case.expect.kind != "either" for case in jury.cases)
    assert len(jury.cases) < len(load_corpus())


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
    assert found.message_texts == 1
    assert not any(
        "Docstring" in each or "text" in each.replace("f'text", "") for each in says if "->" in each
    )


def test_mutants_have_unique_names_and_all_parse():
    for module, source in copies.sources().items():
        mutants = generic.generate(module, source).mutants
        assert len({each.id for each in mutants}) == len(mutants)
        for each in mutants:
            assert ast.dump(ast.parse(each.source)) != ast.dump(ast.parse(source))


def test_lines_of_a_decorated_function_include_its_decorator(jury):
    found = generic.generate("surface_view", copies.sources()["surface_view"]).mutants
    swapped = next(each for each in found if each.id.startswith("surface_view.SurfaceView.nodes: swapped"))
    assert jury.for_mutant(swapped)


def test_keys_change_with_what_an_outcome_depends_on(jury):
    fault = mutant("replace", "stretch.last + 1] = [seq]", "stretch.last] = [seq]")
    able = jury.for_mutant(fault)
    modules = {case.id: {"fold"} for case in jury.cases}
    base = key_of(fault, able, modules)
    assert key_of(fault, able, modules) == base
    assert key_of(fault, able[1:], modules) != base
    assert key_of(fault, able, modules | {able[0].id: {"fold", "values"}}) != base


def test_outcomes_are_remembered(tmp_path):
    ledger = load_ledger()
    first = run_campaign(ledger, "tutorial", "generic", 1, tmp_path / "cache.json")
    second = run_campaign(ledger, "tutorial", "generic", 1, tmp_path / "cache.json")
    assert first.remembered == 0
    assert second.remembered == len(second.outcomes) == len(first.outcomes) > 0
    assert second.outcomes == first.outcomes


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


def test_every_page_with_rules_to_test_has_named_mutants():
    ledger = load_ledger()
    mutants = gather(ledger, None, "named").by_page
    for page in ledger.pages:
        testable = [rule for rule in ledger.rules.values() if rule.page == page and rule.untestable is None]
        if testable:
            assert len(mutants.get(page, [])) >= 3, page


def test_the_corpus_is_strong(capsys):
    """The gate: named mutants killed by a case of their rule, no generic one alive without a reason."""
    assert main(["adequacy", "--no-cache"]) == 0, capsys.readouterr().out


def test_a_weak_corpus_is_noticed(capsys, monkeypatch):
    from conformance.adequacy import campaign

    def weaker(*_, **__):
        return [case for case in load_corpus() if "REPL-5" not in case.rules]

    monkeypatch.setattr(campaign, "load_corpus", weaker)
    assert main(["adequacy", "--no-cache", "--page", "replace", "--named"]) == 1
    assert "named mutant replace." in capsys.readouterr().out


def test_a_change_outside_functions_may_be_noticed_by_every_case(jury):
    fault = mutant("marker", '"user/message", "assistant/message"', '"assistant/message"')
    assert len(jury.for_mutant(fault)) == len(jury.cases)
    assert trial.try_mutant(fault, jury.for_mutant(fault))[0].status == "killed"
