"""Cases about a backend: cut at the steps of the suite itself, each with a folder of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance import phases
from conformance.json_text import dump_ascii
from conformance.protocol import Answer, Request

ASKED = {"load": "s"}


def request(number: int, *steps: dict, **members) -> Request:
    return Request(
        number, dump_ascii({"op": "backend", "edition": "v0", **(members or {"steps": steps})})[1:]
    )


class Transport:
    """Answers each step by the number of steps so far, and keeps what it was asked."""

    def __init__(self, answer=None) -> None:
        self.asked: list[dict] = []
        self.rounds = 0
        self.answer = answer or (lambda asked: steps_answered(asked))

    def __call__(self, requests):
        self.rounds += 1
        for each in list(requests):  # all of a round is on its way before the first answer
            asked = json.loads(each.text())
            self.asked.append(asked)
            yield each.number, self.answer(asked)


def steps_answered(asked: dict) -> Answer:
    Path(asked["root"], "touched").write_text("by the backend") if "root" in asked else None
    steps = asked.get("steps", [])
    return Answer("result", {"steps": [{"result": {"step": index}} for index, _ in enumerate(steps)]})


def put(transport: Transport, *requests: Request) -> dict[int, Answer]:
    return dict(phases.exchange(transport, iter(requests)))


def test_other_requests_pass_as_they_are():
    plain = Request(1, '"op":"fold","events":[]}')
    seen = []

    def transport(requests):
        for each in requests:
            seen.append(each)
            yield each.number, Answer("result", {})

    assert dict(phases.exchange(transport, iter([plain]))) == {1: Answer("result", {})}
    assert seen == [plain]


def test_a_case_is_cut_at_the_own_steps_and_answered_as_one():
    transport = Transport()
    found = put(transport, request(1, ASKED, ASKED, {"reopen": True}, {"list": True}, {"untouched": True}))
    assert [asked["steps"] for asked in transport.asked] == [[ASKED, ASKED], [{"list": True}]]
    assert [asked["root"] for asked in transport.asked] == [transport.asked[0]["root"]] * 2
    assert transport.asked[0].keys() == {"id", "op", "edition", "steps", "root"}
    steps = [{"result": value} for value in ({"step": 0}, {"step": 1}, {}, {"step": 0}, {"untouched": True})]
    assert found == {1: Answer("result", {"steps": steps})}


def test_all_cases_travel_together_phase_by_phase():
    transport = Transport()
    found = put(transport, *(request(n, ASKED, {"reopen": True}, ASKED) for n in range(1, 6)))
    assert transport.rounds == 3  # of which the last has nothing left to ask
    assert [asked["id"] for asked in transport.asked] == [1, 2, 3, 4, 5] * 2
    assert len({asked["root"] for asked in transport.asked}) == 5
    assert sorted(found) == [1, 2, 3, 4, 5]


def test_folders_are_empty_at_first_and_gone_in_the_end():
    roots = []

    def answer(asked):
        root = Path(asked["root"])
        roots.append((root, sorted(path.name for path in root.iterdir())))
        return steps_answered(asked)

    put(Transport(answer), request(1, ASKED, {"reopen": True}, ASKED, {"reopen": "other"}, ASKED))
    assert [names for _, names in roots] == [[], ["touched"], []]
    assert roots[2][0] != roots[0][0]
    assert not any(root.exists() for root, _ in roots)


def test_untouched_sees_a_change_since_the_last_opening():
    counter = iter(range(9))

    def answer(asked):
        Path(asked["root"], "log").write_text(str(next(counter)))
        return steps_answered(asked)

    found = put(Transport(answer), request(1, ASKED, {"untouched": True}))
    assert found[1].value["steps"][1] == {"result": {"untouched": False}}


def test_damage_is_done_between_two_requests():
    transport = Transport()
    seen = []

    def answer(asked):
        path = Path(asked["root"], "log")
        seen.append(path.read_text() if path.exists() else None)
        path.write_text("0123456789")
        return steps_answered(asked)

    transport.answer = answer
    put(transport, request(1, {"damage": [{"file": "log", "write_text": "by hand"}]}, ASKED,
                           {"damage": [{"file": "log", "cut": 3}]}, ASKED))  # fmt: skip
    assert seen == ["by hand", "012"]


def test_damage_that_cannot_be_done_is_the_fault_of_the_adapter():
    found = put(Transport(), request(1, ASKED, {"damage": [{"file": "*.db", "cut": 3}]}, ASKED))
    assert found[1].kind == "error"
    assert found[1].value.startswith("step 1: 0 files match *.db, not one; the store holds touched")


@pytest.mark.parametrize("kind", ["crashed", "unsupported", "error", "died", "hung", "malformed", "not-run"])
def test_what_is_no_result_ends_the_case(kind):
    transport = Transport(lambda asked: Answer(kind, "why"))
    found = put(transport, request(1, ASKED, {"reopen": True}, ASKED), request(2, ASKED))
    assert found == {1: Answer(kind, "why"), 2: Answer(kind, "why")}
    assert transport.rounds == 2  # the second round has nothing left to ask
    assert len(transport.asked) == 2


def test_a_store_that_cannot_be_opened_refuses_every_step():
    refusal = {"condition": "db-schema-version"}
    found = put(Transport(lambda asked: Answer("rejected", refusal)), request(1, ASKED, ASKED))
    assert found[1] == Answer("result", {"steps": [{"rejected": refusal}, {"rejected": refusal}]})


@pytest.mark.parametrize("steps", [[], [{}, {}, {}], "none", None])
def test_an_answer_with_other_steps_is_malformed(steps):
    found = put(Transport(lambda asked: Answer("result", {"steps": steps})), request(1, ASKED, ASKED))
    assert found[1] == Answer("malformed", "the result must be steps, a list of 2 answers")


def test_steps_may_travel_as_text_both_ways():
    answered = Answer("result", {"steps_text": '[{"result":{"n":-0}}]'})
    found = put(Transport(lambda asked: answered), request(1, ASKED))
    assert found[1].value["steps"] == [{"result": {"n": -0.0}}]
    broken = put(Transport(lambda asked: Answer("result", {"steps_text": "["})), request(1, ASKED))
    assert broken[1].kind == "malformed"
    transport = Transport(lambda asked: answered)
    assert put(transport, request(1, steps_text='[{"load":"s"}]')) == {1: answered}
    assert transport.asked[0]["steps_text"] == '[{"load":"s"}]'
    assert "root" in transport.asked[0]


def test_a_request_that_is_sent_again_finds_the_folder_as_it_was():
    seen = []

    def transport(requests):
        for each in requests:
            for _attempt in range(2):
                asked = json.loads(each.text())
                root = Path(asked["root"])
                seen.append(sorted(path.name for path in root.iterdir()))
                (root / f"left-{len(seen)}").touch()
            yield each.number, steps_answered(asked)

    found = dict(phases.exchange(transport, iter([request(1, ASKED, {"reopen": True}, ASKED)])))
    assert found[1].kind == "result"
    assert seen == [[], [], ["left-2", "touched"], ["left-2", "touched"]]


def test_an_unfinished_exchange_leaves_nothing_behind():
    roots = []

    def answer(asked):
        roots.append(Path(asked["root"]))
        return steps_answered(asked)

    exchange = phases.exchange(Transport(answer), iter([request(1, ASKED), request(2, ASKED)]))
    next(exchange)
    exchange.close()
    assert not roots[0].exists()
