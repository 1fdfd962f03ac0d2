"""What is kept of the corpus: the same cases as its YAML, for one state of it, and never in the way."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from support import vector_text

from conformance import corpus, corpus_cache, resources
from conformance.corpus import load_corpus
from conformance.errors import VectorError

CASE = vector_text().replace("topic: sample", "topic: surface/replace")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SESSION_CONFORMANCE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def small(tmp_path, monkeypatch, cache):
    """A corpus of one file, in the place of the one that comes with the package."""
    folder = tmp_path / "vectors"
    (folder / "surface").mkdir(parents=True)
    (folder / "surface" / "replace.yaml").write_text(CASE)
    for module in (resources, corpus, corpus_cache):
        monkeypatch.setattr(module, "vectors_dir", lambda: folder)
    return folder


def counted(monkeypatch):
    read = []
    original = corpus.load_file
    monkeypatch.setattr(corpus, "load_file", lambda *args: read.append(args[0]) or original(*args))
    return read


def test_what_is_kept_is_what_was_read(cache):
    read = load_corpus([resources.vectors_dir()])
    assert load_corpus() == read
    (kept,) = cache.glob("corpus-*.json")
    assert len(json.loads(kept.read_text())) == len(read)
    recalled = load_corpus()
    assert recalled == read
    assert repr(recalled) == repr(read), "1 and 1.0 are equal and not the same"


def test_an_unchanged_corpus_is_read_once(small, monkeypatch):
    read = counted(monkeypatch)
    assert [case.id for case in load_corpus()] == ["sample.case-0"]
    assert [case.id for case in load_corpus()] == ["sample.case-0"]
    assert len(read) == 1
    load_corpus([small])
    assert len(read) == 2, "what is named is always read"


@pytest.mark.parametrize("change", ["vectors", "moved", "rules", "package"])
def test_whatever_changes_is_read_again(change, small, tmp_path, monkeypatch):
    load_corpus()
    read = counted(monkeypatch)
    if change == "vectors":
        (small / "surface" / "replace.yaml").write_text(CASE.replace("hello", "bye"))
    elif change == "moved":
        (small / "surface" / "replace.yaml").rename(small / "surface" / "moved.yaml")
        with pytest.raises(VectorError, match="place says surface/moved"):
            load_corpus()
        return
    else:
        name, where = {"rules": ("spec_dir", "rules.yaml"), "package": ("PACKAGE", "loader.py")}[change]
        copy = tmp_path / change
        if change == "rules":
            shutil.copytree(resources.spec_dir(), copy)
            monkeypatch.setattr(corpus_cache, name, lambda: copy)
        else:
            copy.mkdir()
            monkeypatch.setattr(corpus_cache, name, copy)
        load_corpus()
        read.clear()
        with (copy / where).open("a") as stream:
            stream.write("# changed\n")
    load_corpus()
    assert len(read) == 1


@pytest.mark.parametrize("damage", ["", "[{}]", "[1]", '[{"id": 1}]', "{", "[" * 100_000, "\xff"])
def test_a_damaged_file_is_as_good_as_none(damage, small, cache, monkeypatch):
    load_corpus()
    (kept,) = cache.glob("corpus-*.json")
    kept.write_text(damage, "latin-1")
    assert [case.id for case in load_corpus()] == ["sample.case-0"]
    assert json.loads(kept.read_text())[0]["id"] == "sample.case-0"


def test_a_cache_that_cannot_be_had_is_no_error(small, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SESSION_CONFORMANCE_CACHE", str(tmp_path / "file"))
    assert [case.id for case in load_corpus()] == ["sample.case-0"]


def test_old_states_go(small, cache):
    first = []
    for number in range(corpus_cache.KEPT + 2):
        (small / "surface" / "replace.yaml").write_text(CASE + f"# {number}\n")
        load_corpus()
        first = first or list(cache.iterdir())
        for age, path in enumerate(sorted(cache.iterdir(), key=os.path.getmtime, reverse=True)):
            os.utime(path, (1000 - age, 1000 - age))
    assert len(list(cache.iterdir())) == corpus_cache.KEPT
    assert not first[0].exists()
