"""The shorthand for files: which bytes it stands for, which places it names, and what it refuses."""

from __future__ import annotations

import pytest
import zstandard

from conformance.file_contents import expand_expected, expand_file
from conformance.shorthand import ShorthandError
from conformance.zstd_frames import frame_of

HEADER = b'{"type":"session","version":0,"id":"s","createdAt":1,"delegationDepth":0}\n'
START = b'{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}\n'


def data_of(**request: object) -> bytes:
    expanded = expand_file({"compression": "none", **request})
    assert expanded.keys() == {"hex", "compression"}
    return bytes.fromhex(expanded["hex"])


@pytest.mark.parametrize(
    ("request_", "data"),
    [
        ({"lines": []}, b""),
        ({"lines": [{"header": {}}]}, HEADER),
        ({"lines": [{"header": {}}, {"turn/start": 1}]}, HEADER + START),
        ({"lines": [{"header": {}}], "tail": {"turn/start": 1}}, HEADER + START[:-1]),
        ({"lines": [{"header": {"id": "t"}, "without": ["version"]}]},
         b'{"type":"session","id":"t","createdAt":1,"delegationDepth":0}\n'),
        ({"lines": ["", "é", {"hex": "00ff"}, {"bytes": "a\xff"}]}, b"\n\xc3\xa9\n\x00\xff\na\xff\n"),
        ({"lines": [{"type": "x", "seq": 1.5}]}, b'{"type":"x","seq":1.5}\n'),
        ({"lines": [{"nested": "0", "times": 2, "rest": "!"}]},
         b'{"type":"a","seq":7,"time":0,"data":[{"a":[{"a":0}]}]}!\n'),
        ({"text": "a\nb"}, b"a\nb"),
        ({"frames": [{"lines": [{"header": {}}]}, {"lines": [{"turn/start": 1}]}]},
         frame_of(HEADER) + frame_of(START)),
        ({"frames": [{"hex": "28b5"}, {"text": "ab", "cut": 1}]}, b"\x28\xb5" + frame_of(b"ab")[:-1]),
    ],
)  # fmt: skip
def test_the_bytes(request_, data):
    assert data_of(**request_) == data


def test_bytes_that_are_given_stay():
    request = {"hex": "00", "compression": "none"}
    assert expand_file(request) == request


@pytest.mark.parametrize(
    "request_",
    [
        {"lines": [], "hex": ""},
        {"lines": [], "frames": []},
        {"lines": [], "text": ""},
        {"lines": {}},
        {"lines": [7]},
        {"lines": [{"hex": "0"}]},
        {"lines": [{"bytes": "\u0100"}]},
        {"lines": [{"header": 1}]},
        {"lines": [{"header": {}, "without": ["x"]}]},
        {"lines": [{"header": {}, "seq": 1}]},
        {"lines": [{"nested": "0"}]},
        {"lines": [{"nonsense": 1}]},
        {"frames": {}},
        {"frames": [7]},
        {"frames": [{"hex": "00", "cut": 1}]},
        {"frames": [{"lines": [], "level": 3}]},
        {"frames": [{"lines": [], "checksum": "none"}]},
        {"frames": [{"lines": [], "block": 0}]},
        {"frames": [{"text": "ab", "rle": True}]},
    ],
)
def test_what_is_no_file_is_refused(request_):
    with pytest.raises(ShorthandError):
        expand_file({"compression": "none", **request_})


def test_places_and_events_of_an_expectation():
    request = {"lines": [{"header": {}}, {"turn/start": 1}], "tail": "x"}
    expect = {"result": {"events": [{"turn/start": 1}], "tornFrom": {"line": 2}}}
    result = expand_expected(request, expect)["result"]
    assert result["tornFrom"] == len(HEADER + START)
    assert result["events"] == [{"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}}]
    frames = {"frames": [{"lines": [{"header": {}}]}, {"lines": []}]}
    either = {"either": [{"result": {"tornFrom": {"frame": 1}}}, {"crashed": True}], "reason": "why"}
    expanded = expand_expected(frames, either)
    assert expanded["either"] == [{"result": {"tornFrom": len(frame_of(HEADER))}}, {"crashed": True}]
    assert expand_expected(request, {"rejected": {"at": 1}}) == {"rejected": {"at": 1}}


@pytest.mark.parametrize(
    "place", [{"line": 3}, {"line": -1}, {"frame": 0}, {"line": 0, "frame": 0}, {"byte": 1}]
)
def test_a_place_that_is_not_there_is_refused(place):
    request = {"lines": [{"header": {}}, {"turn/start": 1}]}
    with pytest.raises(ShorthandError, match="names no line or frame"):
        expand_expected(request, {"result": {"tornFrom": place}})


@pytest.mark.parametrize("content", [b"", b"a", b"ab" * 100_000])
@pytest.mark.parametrize("how", [{}, {"checksum": "absent"}, {"block": 7_000}])
def test_a_decoder_reads_the_frames(content, how):
    assert zstandard.ZstdDecompressor().decompress(frame_of(content, **how)) == content


def test_a_decoder_reads_repeated_bytes_and_refuses_a_wrong_checksum():
    assert zstandard.ZstdDecompressor().decompress(frame_of(b"a" * 9, rle=True)) == b"a" * 9
    with pytest.raises(zstandard.ZstdError):
        zstandard.ZstdDecompressor().decompress(frame_of(b"a", checksum="wrong"))
