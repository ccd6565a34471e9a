"""A field set in an experiment's text leaves all else as it was."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.text.document import parse_document
from plimsoll.web.experiments.form_fields import with_value


def changed(text: str, path: str, value: str) -> str:
    return with_value(parse_document(Path("e.yaml"), text), text, path, value)


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        ("a: 1 # one\nb: 2\n", "a", "3s", "a: 3s # one\nb: 2\n"),
        ("a: {b: 1, c: 2}\n", "a.b", "5", "a: {b: 5, c: 2}\n"),
        ("a: {b: 1}\n", "a.c", "5", "a: {b: 1, c: 5}\n"),
        ("a: {}\n", "a.c", "5", "a: {c: 5}\n"),
        ("a:\n  b: 1 # x\nz: 1\n", "a.c", "5", "a:\n  b: 1 # x\n  c: 5\nz: 1\n"),
        ("a:\n    b: 1\n", "a.c.d", "5", "a:\n    b: 1\n    c:\n      d: 5\n"),
        ("a: 1", "b", "2", "a: 1\nb: 2\n"),
        ("a: 1\n", "b.c", "2", "a: 1\nb:\n  c: 2\n"),
        ("a: |\n  text\n", "b", "2", "a: |\n  text\nb: 2\n"),
        ("a:\nb: 1\n", "a", "2", "a: 2\nb: 1\n"),
        ("a:\n  - {x: 1}\n", "b", "2", "a:\n  - {x: 1}\nb: 2\n"),
        ("a: 'old'\n", "a", "x: y", 'a: "x: y"\n'),
        ('{"a": 1}\n', "b", "2", '{"a": 1, b: 2}\n'),
    ],
)
def test_one_place_changes(text: str, path: str, value: str, expected: str) -> None:
    assert changed(text, path, value) == expected


@pytest.mark.parametrize(
    ("text", "path"), [("a: [1]\n", "a"), ("a: 1\n", "a.b"), ("a: [1]\n", "a.b")]
)
def test_what_is_no_single_value_is_left_to_the_text(text: str, path: str) -> None:
    with pytest.raises(InputError) as refused:
        changed(text, path, "2")
    assert refused.value.where == "line 1"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1))
def test_any_value_reads_back(value: str) -> None:
    try:
        text = changed("search:\n  maximum: 1 # up to\n", "search.maximum", value)
    except yaml.YAMLError:
        return
    read = yaml.safe_load(text)["search"]["maximum"]
    assert str(read) == value.strip() or yaml.safe_load(value.strip()) == read
    assert text.endswith(" # up to\n")
