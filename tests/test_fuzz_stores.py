"""Recipes of stores: the mistakes that they find, and how answers with tokens or JSON text are compared."""

from __future__ import annotations

import pytest
import zstandard
from fuzz_ports import fuzzed, mutant, spec

from conformance.adapters.registry import resolve
from conformance.fuzzing import backends, loading, openings, paths, rows, stored
from conformance.fuzzing.comparing import compare
from conformance.fuzzing.draw import Seeded
from conformance.fuzzing.parties import Table
from conformance.fuzzing.quirks import load_quirks
from conformance.fuzzing.spelling import body_of
from conformance.ledger import load_ledger
from conformance.protocol import Answer, Request
from conformance.zstd_frames import frame_of, frame_of_blocks

QUIRKS = {quirk.id: quirk for quirk in load_quirks()}


@pytest.mark.parametrize(
    ("name", "op", "examples"),
    [
        ("sqlite-rows.empty-sources-lost", "rows.encode", 400),
        ("sqlite-rows.at-counts-rows", "rows.encode", 800),
        ("sqlite-rows.any-flag", "rows.decode@19", 400),
        ("sqlite-rows.surface-truthy", "rows.decode@20", 400),
        ("sqlite-rows.wrong-bytes-replaced", "rows.decode@17", 400),
        ("sqlite-rows.unknown-is-damage", "rows.decode@19", 400),
        ("sqlite-scan.first-end", "rows.scan", 400),
        ("sqlite-scan.torn-is-next", "rows.scan@20", 400),
        ("session-row.prefix-of-a-uuid", "rows.session", 600),
        ("sqlite-open.objects-of-14", "sqlite.open@14", 60),
        ("sqlite-open.refusal-commits", "sqlite.open@17", 100),
        ("sqlite-open.locked-passes", "sqlite.open@17", 200),
        ("sqlite-open.malformed-made-anew", "sqlite.open@15", 200),
        ("load.types-first", "jsonl.load", 800),
        ("load.mark-by-presence", "jsonl.load", 800),
        ("load.id-normalised", "jsonl.load", 800),
        ("load.closer-at-its-own-index", "jsonl.load", 800),
        ("jsonl-path.cut-to-255", "jsonl.path", 400),
        ("jsonl-path.any-project", "jsonl.path", 400),
        ("jsonl-path.id-not-escaped", "jsonl.path", 400),
        ("jsonl.lines-of-a-text", "jsonl.scan", 400),
        ("jsonl.byte-order-mark-dropped", "jsonl.scan", 1200),
        ("jsonl.row-in-part", "jsonl.scan", 1200),
        ("zstd-container.at-is-the-frame", "jsonl.scan", 800),
        ("zstd-container.garbage-is-torn", "jsonl.scan", 600),
        ("zstd-container.header-with-events", "jsonl.load", 600),
        ("backend.own-turn-closed", "backend", 200),
        ("backend.inspected-ids-forgotten", "backend", 200),
        ("backend.marked-twice", "backend", 300),
    ],
)
def test_a_mistake_is_found(name, op, examples):
    found = fuzzed(mutant(name), op, examples=examples, untyped=True, shrinks=0)
    assert found.differences, name
    assert not found.faults


def test_what_is_put_in_rounds_is_asked_like_the_rest():
    header = {"version": 0, "id": "s", "createdAt": 1, "delegationDepth": 0}
    bodies = [
        body_of("fold", {"events": []}),
        body_of("backend", {"steps": [{"create": header}, {"reopen": True}, {"load": "s"}]}),
        body_of("sqlite.open@17", {"database": {"prepared": ["DROP TABLE events"]}}),
        body_of("fold", {"events": [7]}),
    ]
    with Table.open([spec(resolve("reference").factory()), resolve("reference")]) as table:
        asked = table.ask_all(iter(bodies), table.parties)
        assert [[answer.kind for answer in answers] for answers in asked] == [
            ["result"] * 2, ["result"] * 2, ["rejected"] * 2, ["rejected"] * 2,
        ]  # fmt: skip
        assert asked[2][1].value["condition"] == "db-schema-objects"
        assert asked[1][0].value["steps"][2]["rejected"]["condition"] == "session-not-found"
        (alone,) = table.ask(bodies[1], table.parties[:1])
        assert alone.value == asked[1][0].value


# -- comparing -----------------------------------------------------------------------


def revisions(*tokens):
    return Answer("result", {"steps": [{"result": {"revision": token}} for token in tokens]})


@pytest.mark.parametrize(
    ("one", "other", "at"),
    [
        (("a", "a", "b"), ("x", "x", "y"), None),
        (("a", "b", "a"), ("x", "y", "x"), None),
        (("a", "a"), ("x", "y"), 1),
        (("a", "b"), ("x", "x"), 1),
        ((None, "a"), (None, "x"), None),
        (("a",), (None,), 0),
    ],
)
def test_revisions_say_only_same_or_other(one, other, at):
    unlike = compare("backend", revisions(*one), revisions(*other), load_ledger())
    assert (unlike and unlike.at) == at


def test_steps_that_broke_alike_are_not_the_same():
    broken = Answer("result", {"steps": [{"crashed": "no idea"}]})
    unlike = compare("backend", broken, broken, load_ledger())
    assert (unlike.what, unlike.at) == ("verdict", 0)


def test_json_text_in_cells_is_compared_by_value():
    def written(data):
        return Answer("result", {"rows": [{"data": data}]})

    ledger, text = load_ledger(), {"text": '{"a":1e-7}'}
    assert compare("rows.encode", written(text), written({"text": '{"a": 0.0000001}'}), ledger) is None
    assert compare("rows.encode", written(text), written({"text": '{"a":2}'}), ledger) is not None
    frame = {"blob": frame_of(b'{"a":1e-7}').hex()}
    assert compare("rows.encode", written(text), written(frame), ledger) is not None
    assert compare("rows.decode", written(text), written({"text": '{"a": 1e-7}'}), ledger) is not None


def test_a_crash_is_a_quirk_only_for_what_it_says():
    quirk, ledger = QUIRKS["jsonl-null-line"], load_ledger()
    refused = Answer("rejected", {"condition": "zstd-torn-record"})
    known = Answer("crashed", "TypeError: Cannot read properties of null (reading 'seq')")
    other = Answer("crashed", "TypeError: x is not a function")
    assert quirk.explains("jsonl.load", compare("jsonl.load", refused, known, ledger))
    assert quirk.explains("jsonl.load", compare("jsonl.load", known, refused, ledger))
    assert not quirk.explains("jsonl.load", compare("jsonl.load", refused, other, ledger))
    assert not quirk.explains("jsonl.load", compare("jsonl.load", refused, Answer("result", {}), ledger))


def test_a_refusal_is_a_quirk_only_for_what_it_says():
    quirk, ledger = QUIRKS["open-turn-without-number"], load_ledger()
    theirs = Answer("rejected", {"condition": "legacy-malformed", "at": 1})
    message = "an open turn must have a whole number from 1"
    known = Answer("rejected", {"condition": "event-shapeless", "at": 0, "message": message})
    other = Answer(
        "rejected", {"condition": "event-shapeless", "at": 0, "message": "a block must not be null"}
    )
    assert quirk.explains("jsonl.load", compare("jsonl.load", known, theirs, ledger))
    assert not quirk.explains("jsonl.load", compare("jsonl.load", other, theirs, ledger))
    assert not quirk.explains("jsonl.load", compare("jsonl.load", known, Answer("result", {}), ledger))


# -- what is drawn -------------------------------------------------------------------


def kinds_of(op, drawn):
    """How often each verdict or condition is met, in the reference."""
    connection = resolve("reference").connect()
    asked = [Request(number, body_of(op, members)) for number, members in enumerate(drawn, 1)]
    answers = [answer for _, answer in connection.exchange(iter(asked))]
    return [answer.value.get("condition", answer.kind) for answer in answers]


@pytest.mark.parametrize("schema", [15, 17, 19, 20])
def test_rows_are_read_and_refused_both(schema):
    draw = Seeded("tests")
    met = kinds_of(f"rows.decode@{schema}", [rows.decode_request(draw, schema) for _ in range(600)])
    assert 100 < met.count("result") < 500
    assert {"row-data-invalid", "row-op-invalid"} <= set(met)
    if schema > 15:
        assert {"row-column-type", "row-packed-surface", "row-packed-tag", "chunk-members"} <= set(met)


def test_logs_are_loaded_and_refused_at_every_step():
    draw = Seeded("tests")
    met = kinds_of("jsonl.load", [loading.load_request(draw) for _ in range(900)])
    assert met.count("result") > 300
    wanted = {"jsonl-gap", "jsonl-identity", "legacy-mode-set", "event-type-unknown", "header-cwd-relative"}
    assert wanted <= set(met)


def test_places_are_told_and_refused_by_each_rule():
    draw = Seeded("tests")
    makers = (paths.path_request, paths.found_request, paths.files_request)
    met = kinds_of("jsonl.path", [make(draw) for make in makers for _ in range(200)])
    assert met.count("result") > 200
    assert set(met) == {
        "result", "path-id-empty", "path-project-empty", "jsonl-path", "root-flat-layout", "root-encoding",
        "jsonl-duplicate-id",
    }  # fmt: skip


def test_a_listing_is_one_that_a_file_system_can_hold():
    draw = Seeded("tests")
    for _ in range(400):
        files = paths.files_request(draw).get("files", [])
        folders = {
            "/".join(path.split("/")[:depth]) for path in files for depth in range(1, path.count("/") + 1)
        }
        assert len(set(files)) == len(files)
        assert not folders & set(files)
        assert all(len(name.encode()) <= 255 for path in files for name in path.split("/"))


def test_headers_are_taken_and_refused_by_each_rule():
    draw = Seeded("tests")
    met = kinds_of("jsonl.scan", [stored.scan_request(draw) for _ in range(600)])
    assert met.count("result") > 200
    assert {
        "jsonl-header-json", "jsonl-header-shape", "jsonl-header-retired", "format-newer", "format-older",
        "jsonl-line", "jsonl-gap", "jsonl-empty",
    } <= set(met)  # fmt: skip


def test_databases_are_opened_and_refused():
    draw = Seeded("tests")
    met = kinds_of("sqlite.open@17", [openings.open_request(draw, 17) for _ in range(100)])
    conditions = {
        "db-not-a-database", "db-unversioned", "db-schema-version", "db-application-id", "db-schema-objects",
        "db-store-identity", "db-locked", "db-malformed", "db-no-access", "result",
    }  # fmt: skip
    assert conditions == set(met)


def test_stories_reach_what_a_backend_refuses():
    draw = Seeded("tests")
    connection = resolve("reference").connect()
    asked = [Request(number, body_of("backend", backends.request(draw))) for number in range(1, 90)]
    met = set()
    for _, answer in connection.exchange(iter(asked)):
        met |= {step.get("rejected", {}).get("condition") for step in answer.value["steps"]}
    assert {
        "session-exists", "session-persisted", "session-not-found", "append-seq", "create-created-at",
        "read-from", "event-type-unknown", "legacy-mode-set",
    } <= met  # fmt: skip


def test_a_padded_frame_expands_to_its_length():
    frame = rows.padded(b"{}", 300_000)
    assert len(frame) < 60
    assert zstandard.ZstdDecompressor().decompress(frame) == b"{}" + b" " * 299_998
    assert frame_of_blocks([(b"ab", 0)], 2, with_checksum=True) == frame_of(b"ab")[:-4]
