"""Strict YAML: only JSON, everything else refused with its line."""

from __future__ import annotations

import pytest

from conformance import strict_yaml
from conformance.errors import VectorError


def read(text: str | bytes):
    return strict_yaml.loads(text.encode() if isinstance(text, str) else text, "file.yaml")[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("12", 12),
        ("-7", -7),
        ("0.5", 0.5),
        ("1e-3", 0.001),
        ('"12"', "12"),
        ("'no'", "no"),
        ("hello there", "hello there"),
        ("0.1.0-rc.8", "0.1.0-rc.8"),
        ("[1, {a: b}]", [1, {"a": "b"}]),
        ("9007199254740993", 2**53 + 1),
        ("|\n  two\n  lines\n", "two\nlines\n"),
        ("[&a {x: 1}, *a]", [{"x": 1}, {"x": 1}]),
        ('"\\0\\u00e9\\U0001F600"', "\0é😀"),
    ],
)
def test_accepted(text, value):
    found = read(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("a: 1\nb: no", 2, 'write "no"'),
        ("a: Yes", 1, "different things"),
        ("a: ~", 1, "different things"),
        ("a: Null", 1, "different things"),
        ("a: TRUE", 1, "different things"),
        ("a: 1:30", 1, "different things"),
        ("a: 0x1F", 1, "different things"),
        ("a: 0o17", 1, "different things"),
        ("a: 017", 1, "different things"),
        ("a: 1_000", 1, "different things"),
        ("a: +1", 1, "different things"),
        ("a: .5", 1, "different things"),
        ("a: .inf", 1, "different things"),
        ("a: 2024-01-01", 1, "different things"),
        ("a: 2024-01-01T00:00:00Z", 1, "different things"),
        ("a:\n  b:\n", 2, "empty"),
        ("a: 1.0", 1, "no plain number"),
        ("a: 1e3", 1, "no plain number"),
        ("a: 1e400", 1, "no plain number"),
        ("a: -0", 1, "no plain number"),
        ("x: 1\na: 1\na: 2", 3, '"a" appears twice'),
        ("1: a", 1, "not a text"),
        ("on: a", 1, "not a text"),
        ("[a]: b", 1, "key must be a text"),
        ("<<: {a: 1}", 1, "not a text"),
        ("a: !!str 1", 1, "tag"),
        ("a: !custom {b: 1}", 1, "tag"),
        ("a: *nowhere", 1, "alias"),
        ("a: &a [*a]", 1, "alias"),
        ("a: 1\n---\nb: 2", 2, "second YAML document"),
        ("a: [1, 2", 2, "not YAML"),
        ('a: "\\ud83d"', 1, "not YAML"),
        ("a: b: c", 1, "not YAML"),
        ("", 1, "is empty"),
        ("[" * 300, 1, "nested deeper"),
        (b"a: 1\nb: \xff", 2, "not UTF-8"),
        (b"\x00\x01\x02", 1, "not YAML"),
    ],
)
def test_refused_with_its_line(text, line, told):
    with pytest.raises(VectorError) as caught:
        read(text)
    assert str(caught.value).startswith(f"file.yaml:{line}: "), str(caught.value)
    assert told in str(caught.value)


def test_a_flood_of_aliases_is_refused():
    layers = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    layers += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(VectorError, match="aliases expand to more than"):
        read("\n".join(layers))


def test_lines_of_members_are_known():
    value, lines = strict_yaml.loads(b"a: 1\nb:\n  - x\n  - {c: 1,\n     d: 2}\n", "f")
    assert lines.at(value, ["b", 1, "d"]) == 5
    assert lines.at(value, ["b", 0]) == 3
    assert lines.at(value, ["b", 1, "none"]) == 4
    assert lines.of(value["b"][1]) == 4


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(VectorError, match=r"nothing\.yaml: cannot be read: No such file"):
        strict_yaml.load(tmp_path / "nothing.yaml")
