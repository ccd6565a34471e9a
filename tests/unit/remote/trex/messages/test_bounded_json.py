"""JSON from outside, within bounds."""

import json
from typing import Any

import pytest

from plimsoll.remote.trex.messages.json_rpc import bounded_json
from tests.worded.says import Says


@pytest.mark.parametrize(
    "document",
    [{}, [], 1, "x, [y] {z}", None, {"a": [1, 2.5, {"b": "ü"}]}, [[[[]]]], [0] * 99],
)
def test_what_is_within_bounds_is_read(document: Any) -> None:
    assert bounded_json(json.dumps(document).encode(), 100) == document


@pytest.mark.parametrize(
    "content", [b"[" + b"[]," * 50 + b"1]", b"[" + b"1," * 100 + b"1]", b'{"a":{},' * 50 + b"}"]
)
def test_more_values_are_not_read_at_all(content: bytes, says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        bounded_json(content, 100)
    assert caught.value == says("100")


@pytest.mark.parametrize(("begin", "end"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_has_a_bound(begin: bytes, end: bytes, says: Says) -> None:
    inner = b"1"
    assert bounded_json(begin * 64 + inner + end * 64, 1000)
    for depth in (66, 900, 100_000):
        with pytest.raises(ValueError) as caught:
            bounded_json(begin * depth + inner + end * depth, 1_000_000)
        assert caught.value == says("64")


def test_brackets_in_texts_do_not_count_as_nesting() -> None:
    assert bounded_json(json.dumps("[" * 900).encode(), 1000) == "[" * 900


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"NaN", b"[Infinity]", b"1" * 5000])
def test_what_is_no_json(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        bounded_json(content, 100)
