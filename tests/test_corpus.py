"""Vector files: what is wrong with one is said once, with file and line, and exit code 2."""

from __future__ import annotations

import json

import pytest
from support import HEAD, vector_text

from conformance.corpus import load_corpus
from conformance.errors import VectorError

EVENTS = "    request: {events: [{user: a}]}\n"
EXPECT = "    expect: {result: {nodes: [0], replacements: [], replaceGeneration: 0}}\n"
GOOD = HEAD.format(op="fold") + "  - id: sample.one\n    rules: [FOLD-2]\n" + EVENTS + EXPECT


def load(tmp_path, text):
    file = tmp_path / "sample.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_corpus([file])


def test_a_good_file(tmp_path):
    (case,) = load(tmp_path, GOOD)
    assert (case.id, case.capability, case.line) == ("sample.one", "fold", 7)
    request = json.loads("{" + case.body)
    assert request["op"] == "fold"
    assert request["events"][0]["type"] == "user/message"


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("format: 1", "format: 2", 1, "format: 1 was expected"),
        ("topic: sample", "topic: Sample!", 2, "topic"),
        ("op: fold", "op: folds", 7, "unknown operation folds"),
        ("op: fold", "op: fold@3", 7, "unknown operation fold@3"),
        ("rules: [FOLD-2]", "rules: [FOLD-99]", 8, "unknown rule FOLD-99"),
        ("rules: [FOLD-2]", "rules: []", 8, "rules"),
        ("id: sample.one", "id: one", 7, "id"),
        ("{user: a}", "{usr: a}", 9, "exactly one of the shorthands"),
        ("{user: a}", "{user: a, colour: red}", 9, "shorthand user knows no colour"),
        ("{user: a}", "{user: a, seq: 9007199254740993}", 9, "events[0].seq is an integer beyond 2^53-1"),
        ("{events: [{user: a}]}", "{evnts: []}", 9, "request"),
        ("{events: [{user: a}]}", "{events_text: '[1,'}", 7, "events_text is not JSON"),
        ("{events: [{user: a}]}", "{events: [], events_text: '[]'}", 9, "request"),
        ("nodes: [0]", "nodes: 0", 10, "expect"),
        ("nodes: [0], ", "", 10, "expect"),
        ("{result: {nodes: [0], replacements: [], replaceGeneration: 0}}", "{rejected: {condition: odd}}", 10,
         "unknown condition odd"),
        ("expect: {result", "expect: {results", 10, "expect"),
        ("id: sample.one", "id: sample.one\n    id: sample.two", 8, "appears twice"),
    ],
)  # fmt: skip
def test_a_fault_is_named_with_its_line(tmp_path, old, new, line, told):
    assert old in GOOD
    with pytest.raises(VectorError) as caught:
        load(tmp_path, GOOD.replace(old, new, 1))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}/sample.yaml:{line}: "), message
    assert told in message
    assert "\n" not in message


def test_an_id_is_defined_once(tmp_path):
    (tmp_path / "a.yaml").write_text(GOOD)
    (tmp_path / "b.yaml").write_text(GOOD)
    with pytest.raises(VectorError, match=r"b.yaml:7: case sample.one is defined already at .*a.yaml:7"):
        load_corpus([tmp_path / "a.yaml", tmp_path / "b.yaml"])


def test_topic_and_place_agree(tmp_path):
    (tmp_path / "other.yaml").write_text(GOOD)
    with pytest.raises(VectorError, match="topic is sample, but the file's place says other"):
        load_corpus([tmp_path])


def test_other_yaml_files_in_a_folder_are_left_alone(tmp_path):
    (tmp_path / "sample.yaml").write_text(GOOD)
    (tmp_path / "docker-compose.yaml").write_text("services: {a: 1}\n")
    assert len(load_corpus([tmp_path])) == 1


@pytest.mark.parametrize(
    "content", [b"\x7fELF\x02\x01\x01\x00\x00", b"", b"\xff\xfe\x00", b"{}", b"[]", b"text"]
)
def test_files_that_are_no_vectors(tmp_path, content):
    with pytest.raises(VectorError, match=r"sample.yaml:1: "):
        load(tmp_path, content)


def test_missing_and_empty_places(tmp_path):
    with pytest.raises(VectorError, match="does not exist"):
        load_corpus([tmp_path / "none"])
    with pytest.raises(VectorError, match="holds no vector file"):
        load_corpus([tmp_path])


def test_a_request_beyond_one_mebibyte(tmp_path):
    with pytest.raises(VectorError, match="longer than 1 MiB"):
        load(tmp_path, GOOD.replace("{user: a}", "{user: " + "a" * (1 << 20) + "}"))


def test_the_digest_covers_what_is_judged(tmp_path):
    def digest(text):
        return load(tmp_path, text)[0].digest

    base = digest(GOOD)
    assert digest(GOOD.replace("sample.one", "sample.other")) == base
    assert digest(GOOD.replace("made up for", "made for")) == base
    assert digest(GOOD.replace("{user: a}", "{user: b}")) != base
    assert digest(GOOD.replace("replaceGeneration: 0", "replaceGeneration: 1")) != base
    written_out = GOOD.replace(
        "{user: a}",
        "{type: user/message, time: 0, seq: 0, surfaceOp: append, data: {id: m0, role: user,"
        " source: {kind: user}, content: [{type: text, text: a}]}}",
    )
    assert digest(written_out) == base


def test_many_cases(tmp_path):
    assert len(load(tmp_path, vector_text(50))) == 50
