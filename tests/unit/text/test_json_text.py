"""JSON is read as JSON, and its mistakes have lines."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from plimsoll.errors import InputError
from plimsoll.text.bounded_yaml import MAX_DEEP, json_nodes, load_yaml
from plimsoll.text.document import parse_document, parse_value, read_document
from tests.worded.says import Says


class Stream(BaseModel, extra="forbid"):
    name: str = ""
    rate: int = 1


class Profile(BaseModel, extra="forbid"):
    streams: list[Stream] = []


def _refused(text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_document(Path("a.json"), text).validate(Profile)
    return str(caught.value)


def test_numbers_and_characters_are_json_s(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"streams": [{"name": "\\ud83d\\ude80", "rate": 1e5}]}')
    assert read_document(path).validate(Profile).streams == [Stream(name="🚀", rate=100_000)]
    path.write_text("\ufeff" + path.read_text())
    assert read_document(path).validate(Profile).streams[0].rate == 100_000
    assert load_yaml('{"a": 1E3, "b": "\\ud83d\\ude80"}') == {"a": 1000.0, "b": "🚀"}
    assert parse_value('[1e3, "\\/"]', "--set a") == [1000.0, "/"]


@pytest.mark.parametrize("break_", ["\n", "\r\n"])
def test_mistakes_have_their_lines(break_: str, says: Says) -> None:
    text = break_.join(["{", '\t"streams" ', "\t:", "[{}, ", '{"rat": 5}]', "}"])
    assert _refused(text) == says("a.json:5", "streams[1].rat")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            '{"streams": [],\n "streams": []}',
            ("streams", "a.json:2"),
        ),
        ('{"streams":\n [{"name": "\\ud83d"}]}', ("a.json:2", "\\ud800")),
        ('{"streams": [{"rate": 1e999}]}', ("a.json:1", "streams[0].rate")),
        ('{"streams": [{"rate": NaN}]}', ("NaN", "a.json:1", "streams[0].rate")),
        ('{"streams": [{"rate": 0200}]}', ("a.json:1", "streams[0].rate", "0200")),
        ('{"a": ' * 101 + "1" + "}" * 101, ("a.json",)),
        ('{"a": ' * 20000 + "1" + "}" * 20000, ("a.json",)),
    ],
)
def test_what_json_does_not_say_is_refused(text: str, facts: tuple[str, ...], says: Says) -> None:
    assert _refused(text) == says(*facts)


def test_half_a_character_in_yaml_is_refused(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_document(Path("a.yaml"), 'a: 1\nb: "\\ud83d\\ude80"\n')
    assert caught.value == says("a.yaml:2")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda below: st.lists(below) | st.dictionaries(st.text(max_size=5), below),
    max_leaves=20,
)


@given(st.dictionaries(st.text(max_size=5), VALUES), st.sampled_from([None, 1, "\t"]))
def test_any_json_is_read_and_its_nodes_are_its_values(
    value: dict[str, object], indent: int | str | None
) -> None:
    text = json.dumps(value, indent=indent)
    found = parse_document(Path("a.json"), text)
    assert found.data == value
    assert _value(json_nodes(text), text) == value


def _value(node: yaml.Node, text: str) -> object:
    """What the node says, and what stands where it says that it stands."""
    there = text[node.start_mark.index : node.end_mark.index]
    assert text.count("\n", 0, node.start_mark.index) == node.start_mark.line
    if isinstance(node, yaml.MappingNode):
        assert json.loads(there) is not None
        return {key.value: _value(each, text) for key, each in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_value(each, text) for each in node.value]
    return json.loads(there)


def test_depth_has_the_bound_of_yaml(says: Says) -> None:
    deep = "[" * MAX_DEEP + "1" + "]" * MAX_DEEP
    assert load_yaml(deep)
    with pytest.raises(ValueError) as caught:
        load_yaml(f"[{deep}]")
    assert caught.value == says()
