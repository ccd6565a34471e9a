"""What a found object lacks of an expected one. Expectations by hand."""

from typing import Any

import pytest

from plimsoll.tune.cluster.objects.expected_object import Meanings, differences
from plimsoll.tune.cluster.objects.text_meaning import (
    cpu_set,
    json_fields,
    tuned_sections,
    yaml_fields,
)
from plimsoll.tune.kubernetes.kube_object import parse_quantity
from tests.worded.says import Says


def message(expected: Any, found: Any, meanings: Meanings | None = None) -> list[str]:
    return [str(each) for each in differences(expected, found, meanings or Meanings())]


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": {"b": "x"}}, {"a": {"b": "x", "c": []}, "d": None}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": [{"b": 1}]}, {"a": [{"z": 0}, {"b": 1, "c": 2}]}),
        ({"a": {}}, {}),
        ({"a": None}, {}),
        ({}, {"a": 1}),
        ({"a": 1}, {"a": 1.0}),
    ],
)
def test_what_is_not_expected_does_not_count(expected: Any, found: Any) -> None:
    assert message(expected, found) == []


@pytest.mark.parametrize(
    ("expected", "found", "facts"),
    [
        ({"a": {"b": "x"}}, {"a": {"b": "y"}}, ("a.b",)),
        ({"a": {"b": "x"}}, {}, ("a.b",)),
        ({"a": {"b": "x"}}, {"a": None}, ("a.b",)),
        ({"a": {"b": "x"}}, {"a": [1]}, ("[1]", '{"b', 'x"}')),
        ({"a": [1, 2]}, {"a": [1]}, ("2",)),
        ({"a": [1]}, {"a": [1, 2]}, ("2",)),
        ({"a": [1]}, {"a": "1"}, ("1", "[1]")),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, ('{"b', "1}")),
        ({"a": 1}, {"a": True}, ("1",)),
        ({"a": False}, {"a": 0}, ("0",)),
        ({"a": 1}, {"a": "1"}, ("1",)),
        ({"a": ""}, {"a": "x"}, ()),
        ({"a.b/c": 1}, {"a": {"b/c": 1}}, ('["a.b/c"]', "1")),
        ({"a": 1}, [], ('{"a', "1}")),
    ],
)
def test_each_kind_of_difference_names_its_place(
    expected: Any, found: Any, facts: tuple[str, ...], says: Says
) -> None:
    (said,) = message(expected, found)
    assert said == says(*facts)


def test_long_values_are_cut() -> None:
    (text,) = message({"a": "x"}, {"a": "y" * 5000})
    assert len(text) < 200


def test_entries_of_a_list_are_found_by_their_key() -> None:
    keys = Meanings(keys={"pages": ("size", "node")})
    expected = {"pages": [{"size": "1G", "count": 4}, {"size": "2M", "node": 1, "count": 8}]}
    found = {"pages": [{"size": "2M", "node": 1, "count": 9}, {"size": "1G", "count": 4}]}
    assert message(expected, found, keys) == ["pages[2M, 1].count is 9, not 8"]
    assert message(expected, {"pages": found["pages"][1:]}, keys) == [
        'pages lacks {"size": "2M", "node": 1, "count": 8}'
    ]


def test_more_counts_where_the_whole_is_meant(says: Says) -> None:
    whole = Meanings(keys={"p": ("n",)}, whole=frozenset({"s", "p"}))
    assert message({"s": {"a": ""}}, {"s": {"a": "", "b": ""}}, whole) == [says('{"b')]
    assert message({"p": [{"n": 1}]}, {"p": [{"n": 1}, {"n": 2}]}, whole) == [says('{"n', "2}")]


def short_of(expected: Any, found: Any, meanings: Meanings | None = None) -> list[str]:
    """What is not beyond the expected."""
    given = differences(expected, found, meanings or Meanings())
    return [str(each) for each in given if not each.beyond]


def test_a_value_further_on_is_beyond_and_no_other_is(says: Says) -> None:
    levels = Meanings(rising={"a": ("low", "mid", "high"), "b": (False, True)})
    assert message({"a": "mid"}, {"a": "high"}, levels) == [says("high", "mid")]
    assert short_of({"a": "mid"}, {"a": "high"}, levels) == []
    assert short_of({"a": "mid"}, {"a": "low"}, levels) == [says("low", "mid")]
    assert short_of({"a": "mid"}, {"a": "top"}, levels) == [says("top", "mid")]
    assert short_of({"a": "mid"}, {}, levels) == [says("mid")]
    assert short_of({"b": False}, {"b": True}, levels) == []
    assert short_of({"b": True}, {"b": False}, levels) == [says()]
    assert short_of({"b": False}, {"b": 1}, levels) == [says("1")]


def test_one_more_in_a_list_is_beyond_and_one_less_is_not() -> None:
    assert short_of({"a": [1]}, {"a": [1, 2]}) == []
    assert short_of({"a": [1, 2]}, {"a": [1]}) == ["a lacks 2"]


def test_in_a_list_of_what_is_withheld_one_less_is_beyond(says: Says) -> None:
    withheld = Meanings(withheld=frozenset({"a"}))
    assert message({"a": [1, 2]}, {"a": [1]}, withheld) == ["a lacks 2"]
    assert short_of({"a": [1, 2]}, {"a": [1]}, withheld) == []
    assert short_of({"a": [1]}, {"a": [1, 2]}, withheld) == [says("2")]


def test_a_wildcard_is_any_value_and_more_than_the_expected(says: Says) -> None:
    any_value = Meanings(wildcards=frozenset({"a"}))
    assert message({"a": ["x", "y"]}, {"a": ["*"]}, any_value) == [says()]
    assert short_of({"a": ["x", "y"]}, {"a": ["*"]}, any_value) == []
    assert short_of({"a": ["x"]}, {"a": ["*"]}) == ["a lacks x"]


def test_an_entry_with_more_than_is_expected_is_reported_with_its_place(says: Says) -> None:
    """Of two that will do, the nearer one; without fields that are not expected, and with."""
    expected = {"rules": [{"verbs": ["use"]}]}
    wide, narrow = {"verbs": ["use", "get"]}, {"verbs": ["use"], "names": ["x"]}
    assert message(expected, {"rules": [wide]}) == [says("rules[0].verbs")]
    assert message(expected, {"rules": [wide, narrow]}) == []
    whole = Meanings(whole=frozenset({"rules"}))
    assert message(expected, {"rules": [wide, narrow]}, whole) == [
        says('["use", "get"]', "rules", '{"verbs')
    ]
    assert short_of(expected, {"rules": [{"verbs": ["get"]}]}, whole) == [
        says("rules", '{"verbs', '["use"]}')
    ]


def test_a_field_that_is_not_set_has_its_default(says: Says) -> None:
    defaults = Meanings(defaults={"a.b": False, "a.c": True})
    assert message({"a": {"b": False}}, {}, defaults) == []
    assert message({"a": {"c": False}}, {"a": {}}, defaults) == [says("a.c")]


@pytest.mark.parametrize(
    ("read", "expected", "found"),
    [
        (cpu_set, "0,1,4-5", "0-1,4,5"),
        (cpu_set, "3", 3),
        (parse_quantity, "4", "4000m"),
        (parse_quantity, "1Gi", "1024Mi"),
        (json_fields, '{"a": 1}', '{"b": 2, "a": 1}'),
        (yaml_fields, "a: {b: 1}\n", "# ours\na:\n  b: 1\n  c: 2\n"),
        (tuned_sections, "[main]\nsummary=x\n[sysctl]\na=1\n", "[sysctl]\n# of b\na = 1\nb=2\n"),
    ],
)
def test_texts_that_mean_the_same_are_the_same(read: Any, expected: Any, found: Any) -> None:
    assert message({"f": expected}, {"f": found}, Meanings(reads={"f": read})) == []


@pytest.mark.parametrize(
    ("read", "expected", "found", "facts"),
    [
        (cpu_set, "0-3", "0-2", ("0-2", "0-3")),
        (json_fields, '{"a": 1}', '{"a": 2}', ("f.a", "2", "1")),
        (json_fields, '{"a": 1}', "{", ()),
        (json_fields, '{"a": 1}', "[" * 100_000, ()),
        (json_fields, '{"a": 1}', "[]", ()),
        (json_fields, '{"a": 1}', {"a": 1}, ()),
        (json_fields, '{"a": 1}', "1" * 2_000_000, ()),
        (yaml_fields, "a: 1", "a: &x 1", ("1",)),
        (cpu_set, "0-3", "0-x", ("0-x",)),
        (parse_quantity, "4", "four", ("four",)),
        (tuned_sections, "[s]\nx=1", "[s]\nx=2", ("f.s.x", "2", "1")),
        (tuned_sections, "[s]\nx=a=b", "", ("f.s.x", "a=b")),
    ],
)
def test_texts_that_mean_something_else_differ(
    read: Any, expected: Any, found: Any, facts: tuple[str, ...], says: Says
) -> None:
    (only,) = message({"f": expected}, {"f": found}, Meanings(reads={"f": read}))
    assert only == says(*facts)


def test_a_meaning_may_be_that_of_any_field_of_a_mapping() -> None:
    any_amount = Meanings(reads={"r.*": parse_quantity})
    assert (
        message({"r": {"example.com/a": "1"}}, {"r": {"example.com/a": "1000m"}}, any_amount) == []
    )
