"""Names of the JSONL store: no two ids share one, and none leads out of the store."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from reference_impl.jsonl_path import place_of, project_of, segment_of

SAFE = re.compile(r"[A-Za-z0-9._~-]+")
texts = st.text(st.characters(), min_size=1) | st.text("./\\:~-A0é", min_size=1)


def id_of(segment: str) -> str:
    """The id that a name stands for."""
    units = re.sub(r"~([0-9A-F]{4})", lambda found: chr(int(found[1], 16)), segment)
    return units.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


@given(texts)
def test_an_id_can_be_read_from_its_name(session):
    assert id_of(segment_of(session)) == session


@given(texts, texts)
def test_names_are_safe(session, cwd):
    place = place_of(session, cwd, "none")
    for name in (place.project, place.segment):
        assert SAFE.fullmatch(name)
        assert name not in (".", "..")
    assert len(place.project) <= 255


@given(st.lists(st.sampled_from(["a", "B9", "c d", "é"]), min_size=1))
def test_separators_make_no_difference(names):
    spelled = {
        project_of(f"{first}{separator.join(names)}")
        for first in ("", "/")
        for separator in ("/", "\\", "://")
    }
    assert len(spelled) == 1
