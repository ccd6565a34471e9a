"""YAML with comments: whatever they say, it reads back as the same."""

from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.text.bounded_yaml import Noted, commented_yaml

DOCUMENT = {
    "name": Noted("a", "said"),
    "lab": {"ports": [{"devargs": "0000:87:00.0"}, Noted({"netdev": "on"}, "second")]},
    "paths": Noted([[0, 1], [1, 0]], "both"),
    "warmup": Noted(None, "none"),
}
WRITTEN = """\
# first
#
# last

name: a # said

lab:
  ports:
    - devargs: 0000:87:00.0
    # second
    - netdev: 'on'

paths: [[0, 1], [1, 0]] # both

warmup: null # none
"""


def test_it_is_written_for_people() -> None:
    assert commented_yaml(DOCUMENT, ["first", "", "last"]) == WRITTEN


def _plain(value: Any) -> Any:
    if isinstance(value, Noted):
        return _plain(value.value)
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


# Surrogates are in no file.
_texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
_scalars = st.none() | st.booleans() | st.integers() | _texts
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)
_noted = st.builds(Noted, _values, _texts)


@given(st.dictionaries(_texts, _values | _noted, min_size=1, max_size=4))
def test_what_is_written_reads_back(document: dict[str, Any]) -> None:
    assert yaml.safe_load(commented_yaml(document)) == _plain(document)
