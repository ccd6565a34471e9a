"""Mixes of frame sizes."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from plimsoll.traffic.imix import Imix, SizeShare, describe_mix, sizes_in_order
from tests.worded.says import Says

_IMIX: TypeAdapter[Any] = TypeAdapter(Imix)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("simple", (64, 594, 1518)), ("csit", (64, 570, 1518)), ("vsperf", (64, 512, 1518))],
)
def test_named_mixes_are_seven_to_four_to_one(name: str, sizes: tuple[int, ...]) -> None:
    assert Counter(sizes_in_order(name)) == dict(zip(sizes, (7, 4, 1), strict=True))


def test_a_genome_is_sent_as_it_stands() -> None:
    assert sizes_in_order(_IMIX.validate_python("acbgi")) == (64, 256, 128, 1518, 9000)


def test_weights_are_reduced_and_like_sizes_added() -> None:
    mix = _IMIX.validate_python(
        [{"size": 64, "weight": 10}, {"size": 128, "weight": 40}, {"size": 64, "weight": 10}]
    )
    assert Counter(sizes_in_order(mix)) == {64: 1, 128: 2}


@given(st.dictionaries(st.integers(64, 9216), st.integers(1, 40), min_size=1, max_size=6))
def test_each_size_is_spread_evenly(weights: dict[int, int]) -> None:
    """In any first n frames no size is off its share by as much as the sizes there are."""
    shares = tuple(SizeShare(size=size, weight=weight) for size, weight in weights.items())
    order = sizes_in_order(shares)
    total = sum(weights.values())
    assert total % len(order) == 0
    for sent in range(1, len(order) + 1):
        seen = Counter(order[:sent])
        for size, weight in weights.items():
            assert abs(seen[size] - sent * weight / total) < len(weights)
    assert {size: count * total // len(order) for size, count in Counter(order).items()} == weights


def test_sizes_and_weights_are_reported(says: Says) -> None:
    text = describe_mix(sizes_in_order("simple"))
    # (7 * 64 + 4 * 594 + 1518) / 12
    assert text == says("7", "64", "4", "594", "1", "1518", "361.8")


@pytest.mark.parametrize(
    ("given_mix", "facts"),
    [
        ("simpel", ("simpel",)),
        ("", ("6985",)),
        ("aaz", ("aaz", "6985")),
        ("a" * 4097, ("4097", "4096")),
        (
            [{"size": 64, "weight": 4096}, {"size": 65, "weight": 1}],
            ("4097", "4096"),
        ),
    ],
)
def test_mixes_that_cannot_be_sent_are_refused(
    given_mix: object, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as caught:
        _IMIX.validate_python(given_mix)
    assert caught.value.error_count() == 1
    assert caught.value == says(*facts)


@pytest.mark.parametrize(
    "given_mix", [[], [{"size": 64, "weight": 0}], [{"weight": 1}], 7, [{"size": 64}] * 65]
)
def test_mixes_that_are_none_are_refused(given_mix: object) -> None:
    with pytest.raises(ValidationError):
        _IMIX.validate_python(given_mix)
