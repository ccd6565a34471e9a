"""What a found object lacks of an expected one. Expectations by hand."""

from typing import Any

import pytest

from plimsoll.tune.cluster.objects.difference import Meanings, differences
from plimsoll.tune.cluster.objects.text_meaning import (
    cpu_set,
    json_fields,
    tuned_sections,
    yaml_fields,
)
from plimsoll.tune.kubernetes.quantity import parse_quantity


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
    ("expected", "found", "text"),
    [
        ({"a": {"b": "x"}}, {"a": {"b": "y"}}, "a.b is y, not x"),
        ({"a": {"b": "x"}}, {}, "a.b is not set, and should be x"),
        ({"a": {"b": "x"}}, {"a": None}, "a.b is not set, and should be x"),
        ({"a": {"b": "x"}}, {"a": [1]}, 'a is [1], not {"b": "x"}'),
        ({"a": [1, 2]}, {"a": [1]}, "a lacks 2"),
        ({"a": [1]}, {"a": [1, 2]}, "a has 2, which is not in the intent"),
        ({"a": [1]}, {"a": "1"}, "a is 1, not [1]"),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, 'a lacks {"b": 1}'),
        ({"a": 1}, {"a": True}, "a is true, not 1"),
        ({"a": False}, {"a": 0}, "a is 0, not false"),
        ({"a": 1}, {"a": "1"}, "a is 1, not 1"),
        ({"a": ""}, {"a": "x"}, 'a is x, not ""'),
        ({"a.b/c": 1}, {"a": {"b/c": 1}}, '["a.b/c"] is not set, and should be 1'),
        ({"a": 1}, [], 'is [], not {"a": 1}'),
    ],
)
def test_each_kind_of_difference_names_its_place(expected: Any, found: Any, text: str) -> None:
    assert [each.strip() for each in message(expected, found)] == [text]


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


def test_more_counts_where_the_whole_is_meant() -> None:
    whole = Meanings(keys={"p": ("n",)}, whole=frozenset({"s", "p"}))
    assert message({"s": {"a": ""}}, {"s": {"a": "", "b": ""}}, whole) == [
        's has {"b": ""}, which is not in the intent'
    ]
    assert message({"p": [{"n": 1}]}, {"p": [{"n": 1}, {"n": 2}]}, whole) == [
        'p has {"n": 2}, which is not in the intent'
    ]


def short_of(expected: Any, found: Any, meanings: Meanings | None = None) -> list[str]:
    """What is not beyond the expected."""
    given = differences(expected, found, meanings or Meanings())
    return [str(each) for each in given if not each.beyond]


def test_a_value_further_on_is_beyond_and_no_other_is() -> None:
    levels = Meanings(rising={"a": ("low", "mid", "high"), "b": (False, True)})
    assert message({"a": "mid"}, {"a": "high"}, levels) == ["a is high, not mid"]
    assert short_of({"a": "mid"}, {"a": "high"}, levels) == []
    assert short_of({"a": "mid"}, {"a": "low"}, levels) == ["a is low, not mid"]
    assert short_of({"a": "mid"}, {"a": "top"}, levels) == ["a is top, not mid"]
    assert short_of({"a": "mid"}, {}, levels) == ["a is not set, and should be mid"]
    assert short_of({"b": False}, {"b": True}, levels) == []
    assert short_of({"b": True}, {"b": False}, levels) == ["b is false, not true"]
    assert short_of({"b": False}, {"b": 1}, levels) == ["b is 1, not false"]


def test_one_more_in_a_list_is_beyond_and_one_less_is_not() -> None:
    assert short_of({"a": [1]}, {"a": [1, 2]}) == []
    assert short_of({"a": [1, 2]}, {"a": [1]}) == ["a lacks 2"]


def test_in_a_list_of_what_is_withheld_one_less_is_beyond() -> None:
    withheld = Meanings(withheld=frozenset({"a"}))
    assert message({"a": [1, 2]}, {"a": [1]}, withheld) == ["a lacks 2"]
    assert short_of({"a": [1, 2]}, {"a": [1]}, withheld) == []
    assert short_of({"a": [1]}, {"a": [1, 2]}, withheld) == ["a has 2, which is not in the intent"]


def test_a_wildcard_is_any_value_and_more_than_the_expected() -> None:
    any_value = Meanings(wildcards=frozenset({"a"}))
    assert message({"a": ["x", "y"]}, {"a": ["*"]}, any_value) == [
        "a has *, which is not in the intent"
    ]
    assert short_of({"a": ["x", "y"]}, {"a": ["*"]}, any_value) == []
    assert short_of({"a": ["x"]}, {"a": ["*"]}) == ["a lacks x"]


def test_an_entry_with_more_than_is_expected_is_reported_with_its_place() -> None:
    """Of two that will do, the nearer one; without fields that are not expected, and with."""
    expected = {"rules": [{"verbs": ["use"]}]}
    wide, narrow = {"verbs": ["use", "get"]}, {"verbs": ["use"], "names": ["x"]}
    assert message(expected, {"rules": [wide]}) == [
        "rules[0].verbs has get, which is not in the intent"
    ]
    assert message(expected, {"rules": [wide, narrow]}) == []
    whole = Meanings(whole=frozenset({"rules"}))
    assert message(expected, {"rules": [wide, narrow]}, whole) == [
        'rules has {"verbs": ["use", "get"]}, which is not in the intent'
    ]
    assert short_of(expected, {"rules": [{"verbs": ["get"]}]}, whole) == [
        'rules lacks {"verbs": ["use"]}'
    ]


def test_a_field_that_is_not_set_has_its_default() -> None:
    defaults = Meanings(defaults={"a.b": False, "a.c": True})
    assert message({"a": {"b": False}}, {}, defaults) == []
    assert message({"a": {"c": False}}, {"a": {}}, defaults) == ["a.c is true, not false"]


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
    ("read", "expected", "found", "text"),
    [
        (cpu_set, "0-3", "0-2", "f is 0-2, not 0-3"),
        (json_fields, '{"a": 1}', '{"a": 2}', "f.a is 2, not 1"),
        (json_fields, '{"a": 1}', "{", "f is { (is not JSON), not"),
        (json_fields, '{"a": 1}', "[" * 100_000, "is not JSON"),
        (json_fields, '{"a": 1}', "[]", "f is [] (has no fields), not"),
        (json_fields, '{"a": 1}', {"a": 1}, "(is not text), not"),
        (json_fields, '{"a": 1}', "1" * 2_000_000, "(is too long), not"),
        (yaml_fields, "a: 1", "a: &x 1", "line 1: has an anchor or alias"),
        (cpu_set, "0-3", "0-x", "f is 0-x ("),
        (parse_quantity, "4", "four", "'four' is not a quantity"),
        (tuned_sections, "[s]\nx=1", "[s]\nx=2", "f.s.x is 2, not 1"),
        (tuned_sections, "[s]\nx=a=b", "", "f.s.x is not set, and should be a=b"),
    ],
)
def test_texts_that_mean_something_else_differ(
    read: Any, expected: Any, found: Any, text: str
) -> None:
    (only,) = message({"f": expected}, {"f": found}, Meanings(reads={"f": read}))
    assert text in only


def test_a_meaning_may_be_that_of_any_field_of_a_mapping() -> None:
    any_amount = Meanings(reads={"r.*": parse_quantity})
    assert (
        message({"r": {"example.com/a": "1"}}, {"r": {"example.com/a": "1000m"}}, any_amount) == []
    )
