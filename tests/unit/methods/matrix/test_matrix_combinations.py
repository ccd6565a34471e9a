"""Iterations, samples and their order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from plimsoll.methods.matrix.settings import (
    MatrixSettings,
    Order,
    Sample,
    combinations,
    count,
    described,
    in_order,
)
from tests.worded.says import Says


def _settings(**given: Any) -> MatrixSettings:
    return MatrixSettings.model_validate(given)


def test_a_set_stands_for_its_product_and_the_last_varies_fastest() -> None:
    matrix = _settings(sets=[{"a": [1, 2], "b": ["x", "y"]}])
    assert combinations(matrix) == (
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    )


def test_sets_are_added_and_each_has_what_is_common() -> None:
    matrix = _settings(common={"a": [1], "c": [7, 8]}, sets=[{"b": [2]}, {"a": [3], "c": [9]}])
    assert combinations(matrix) == (
        {"a": 1, "c": 7, "b": 2},
        {"a": 1, "c": 8, "b": 2},
        {"a": 3, "c": 9},
    )


def test_common_parameters_alone_are_a_set() -> None:
    assert combinations(_settings(common={"a": [1, 2]})) == ({"a": 1}, {"a": 2})


def test_nothing_varied_is_one_iteration() -> None:
    assert combinations(_settings(samples=5)) == ({},)


def test_a_combination_in_two_sets_is_run_once() -> None:
    matrix = _settings(sets=[{"a": [1, 2], "b": [0]}, {"b": [0], "a": [2, 3]}])
    assert [each["a"] for each in combinations(matrix)] == [1, 2, 3]


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(), min_size=1))))
def test_there_are_never_more_than_counted(sets: list[dict[str, list[int]]]) -> None:
    matrix = _settings(sets=sets)
    unique = _settings(sets=[{k: list(dict.fromkeys(v)) for k, v in s.items()} for s in sets[:1]])
    assert len(combinations(matrix)) <= count(matrix)
    assert len(combinations(unique)) == count(unique)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("sample", [(1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (2, 3)]),
        ("iteration", [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]),
    ],
)
def test_orders(order: Order, expected: list[tuple[int, int]]) -> None:
    assert list(in_order(2, 3, order, 0)) == [Sample(*each) for each in expected]


def test_the_random_order_is_the_seeds() -> None:
    first, again = (list(in_order(5, 4, "random", 7)) for _ in range(2))
    assert first == again
    assert sorted(first) == list(in_order(5, 4, "iteration", 0))
    assert first != list(in_order(5, 4, "random", 8))
    assert first != list(in_order(5, 4, "sample", 7))


def test_a_combination_in_words() -> None:
    params = {"profile.streams[load].frame_size": 64, "lab.kind": "memif", "x.flags": [1, True]}
    assert described(params) == "frame_size = 64, kind = memif, flags = [1, true]"


@pytest.mark.parametrize(
    ("given", "location"),
    [
        ({"sets": [{"a": []}]}, ("sets", 0, "a")),
        ({"sets": [{"a": 64}]}, ("sets", 0, "a")),
        ({"order": "backwards"}, ("order",)),
        ({"samples": 0}, ("samples",)),
        ({"smaples": 3}, ("smaples",)),
    ],
)
def test_mistakes(given: dict[str, Any], location: tuple[str | int, ...]) -> None:
    with pytest.raises(ValidationError) as raised:
        _settings(**given)
    assert raised.value.errors()[0]["loc"] == location


@pytest.mark.parametrize(
    ("given", "location"),
    [
        ({"common": {"a..b": [1]}}, ("common", "a..b")),
        ({"sets": [{"a": [1]}, {"b[": [1]}]}, ("sets", 1, "b[")),
    ],
)
def test_paths_are_looked_at(
    given: dict[str, Any], location: tuple[str | int, ...], says: Says
) -> None:
    with pytest.raises(ValidationError) as raised:
        _settings(**given)
    error = raised.value.errors()[0]
    assert (*error["loc"], *error["ctx"]["field"]) == location
    assert error["msg"] == says()
