"""The examples on the pages: the reference answers as each of them says, and a wrong one is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest
from page_examples import examples_of, faults_of

PAGES = sorted((Path(__file__).resolve().parent.parent / "spec").glob("*.md"))
NO_EXAMPLES = {"README.md", "advice.md", "protocol.md", "where-it-lives.md", "rejected-designs.md"}
EXAMPLES = [example for page in PAGES for example in examples_of(page.read_text("utf-8"), page.name)]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.place)
def test_the_reference_answers_as_the_page_says(example):
    assert faults_of(example) == []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in NO_EXAMPLES], ids=lambda p: p.name
)
def test_a_page_of_rules_shows_examples(page):
    assert examples_of(page.read_text("utf-8"), page.name)


TIMED = '{"type":"turn/start","seq":0,"time":0,"data":{}}'
TURN = (
    '{"seq":{"int":"0"},"type":{"text":"turn/start"},"time":{"int":"5"},"data":{"text":"{}"},'
    '"source_event_seqs":null,"surface_op":null,"ignorable":null}'
)
APPEND = '{"type":"user/message","seq":0,"surfaceOp":"append","data":{"content":[]}}'
CHUNK = (
    '{"type":"assistant/chunk","seq":0,"time":0,'
    '"data":{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":""}}}'
)
HEADER = '{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}'
WRONG = [
    ("fold → nodes [1], generation 0", APPEND),
    ("fold → nodes [0], generation 1", APPEND),
    ("fold → nodes [0], generation 0, shadowed [0]", APPEND),
    ("fold → refused: seq-not-contiguous, at 0", APPEND),
    ("fold → refused: event-shapeless, at 1", "null"),
    ("fold → refused: surface-op-missing, at 0", "null"),
    ("fold → refused: event-shapeless", "null"),
    ("window at 1 → nodes [0], generation 0", APPEND),
    ("window at 0 → nodes [1], generation 0", APPEND),
    ("project → null", APPEND),
    ("messages → []", APPEND),
    ("messages.linear-fallback → []", APPEND),
    ("classify → eligible, surface", APPEND),
    ("classify → none", APPEND),
    ("transcript → seqs [], messages []", APPEND),
    ("transcript → seqs [0], messages []", APPEND),
    ("tutorial → []", '{"type":"user/message","content":"a"}'),
    ("surface.live at 0", '{"push":null} // → refused: event-shapeless'),
    ("surface.live at 0", f'{{"push":{APPEND}}} // → done\n{{"observe":true}} // → nodes [], generation 0'),
    ("surface.live at 0", '{"validate":null} // → done'),
    ("seqs.encode@19 → 010002", "[0,1]"),
    ("seqs.encode@17 → refused: seqs-value-not-seq", "[0,1]"),
    ("seqs.decode@19 at 9 → [0, 1]", '"0002"'),
    ("seqs.decode@19 at 9 → refused: seqs-tag-unknown, at 1", '"0502"'),
    ("request-header → null", '{"type":"request/header","data":{"header":{"config":{}}}}'),
    ("request-header.equal → true", '{"config":{}}\n{"config":{},"system":"a"}'),
    ("closers → []", '{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}'),
    ("closers → refused: event-shapeless, at 0", '{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}'),
    ("chunks.pack@jsonl → []", APPEND),
    ("chunks.pack@sqlite → [1]", APPEND),
    ("chunks.unpack@jsonl → refused: chunk-seq0", '{"type":"text-chunks"}'),
    ('chunks.unpack@jsonl → [[1, 0, ""]]', CHUNK),
    ('chunks.unpack@sqlite → [[0, 0, "a"]]', CHUNK),
    ("admit@restored → 2 events, first live 1", '{"type":"session/end-seed","seq":0,"time":0,"data":{}}'),
    ("admit@restored → 1 events, first live 0", '{"type":"session/end-seed","seq":0,"time":0,"data":{}}'),
    ("admit@borrowed → refused: event-envelope, at 1", '{"type":"note","seq":0,"time":0}'),
    ('admit@borrowed → 0 events, first live 0, header {"version":0}', "{}"),
    ('admit@borrowed → 0 events, first live 0, header {"version":0,"id":"s","createdAt":5}', "{}"),
    ("admit@restored → refused: header-id", '{"header":{"version":1,"id":"t"}}'),
    ("fork → 0 events, first live 0", '{"header":{"id":"p"},"events":[]}'),
    ("fork → refused: fork-exists", '{"header":{"id":"p"},"events":[],"boundary":7}'),
    ("jsonl.scan → seqs [0], whole", HEADER),
    ("jsonl.scan → seqs [], torn from line 1", HEADER),
    ("jsonl.scan → seqs [], torn from line 2", f"{HEADER}\n{{bad"),
    ("jsonl.scan → seqs [], whole", f"{HEADER} // no line feed"),
    ("jsonl.scan → refused: jsonl-empty", HEADER),
    ("jsonl.scan → refused: jsonl-line, at 2", f'{HEADER}\n{{bad\n{{"type":"turn/end"}}'),
    ("jsonl.scan@zstd → seqs [], torn from byte 94", '{"lines":[{"header":{}}]}'),
    ("jsonl.scan@zstd → refused: zstd-frame, at 1", '{"lines":[{"header":{}}],"checksum":"wrong"}'),
    ("normalise → []", '{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}'),
    ("normalise → refused: legacy-mode-set, at 1", '{"type":"mode/set","seq":0,"time":0,"data":{}}'),
    ("jsonl.load → seqs [], closers [0], whole", HEADER),
    ("jsonl.load → seqs [], closers [], whole", f"{HEADER}\n{{bad"),
    ("jsonl.load → refused: jsonl-identity, at 0", HEADER.replace('"s"', '"t"')),
    ("jsonl.path → _no-cwd/t/session.jsonl", '{"session":"s","compression":"none"}'),
    ("sqlite.open@17 → opened", '{"prepared":["DROP TABLE events"]}'),
    ("sqlite.open@17 → refused: db-schema-version", '{"sql":["CREATE TABLE t (x)"]}'),
    ("rows.encode@17 → []", TIMED),
    ("rows.encode@19 → refused: seqs-value-not-seq, at 1", TIMED.replace("}}", '},"sourceEventSeqs":[-1]}')),
    ("rows.decode@17 → []", TURN),
    ("rows.decode@17 → undecidable", TURN),
    ("rows.decode@17 → refused: row-type-empty", TURN),
    ("rows.scan@17 at 0 → kept [0], torn from 1", TURN),
    ("rows.scan@17 at 0 → kept [], torn nothing", TURN),
    ("rows.scan@17 at 1 → kept [], torn from 1", TURN),
    ("session.live", '{"append":{"type":"turn/start","data":{}}} // → {"seq":1}'),
    ("backend", '{"load":"s"} // → refused: session-exists'),
    ("backend", '{"list":true} // → {"headers":[{}]}'),
    ("session.live", '{"observe":["nodes"]} // → {"nodes":[0]}'),
]


@pytest.mark.parametrize(("heading", "body"), WRONG)
def test_a_wrong_example_is_found(heading, body):
    (example,) = examples_of(f"```jsonc\n// {heading}\n{body}\n```\n", "page.md")
    assert faults_of(example)


@pytest.mark.parametrize(
    "block",
    [
        '{"type":"turn/start","seq":0}',
        "// what this shows\n{}",
        '// surface.live at 0\n{"observe":true}',
        f"// fold\n{APPEND}",
        "// classify → shiny\n{}",
    ],
)
def test_a_block_beside_the_convention_is_found(block):
    def read_and_ask() -> None:
        for example in examples_of(f"```jsonc\n{block}\n```\n", "page.md"):
            faults_of(example)

    with pytest.raises(AssertionError):
        read_and_ask()
