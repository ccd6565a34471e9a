import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.record.index.run_notes import parse_tag, parse_tag_key
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("kernel=6.1", ("kernel", "6.1")),
        (" lab/rack = a b ", ("lab/rack", "a b")),
        ("build=x=y", ("build", "x=y")),
        ("ort=Köln", ("ort", "Köln")),
        ("k" * 63 + "=" + "v" * 256, ("k" * 63, "v" * 256)),
    ],
)
def test_a_tag_is_a_key_and_a_value(text: str, tag: tuple[str, str]) -> None:
    assert parse_tag(text) == tag


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("kernel", ("kernel", "key=value")),
        ("kernel=", ("kernel", "key=value")),
        ("kernel= ", ("kernel", "key=value")),
        ("=6.1", ("63", "0-9")),
        ("", ("63", "0-9")),
        ("-x=1", ("-x",)),
        ("a b=1", ("a b", "0-9")),
        ("ö=1", ("ö", "0-9")),
        ("k" * 64 + "=1", ("63",)),
        ("k=" + "v" * 257, ("257",)),
        ("k=a\x1b[31mb", ("a\\x1b[31mb",)),
        ("k=a\nb", ()),
        ("k=a\u202eb", ("a\\u202eb",)),
        ("k=\udce9", ("\\udce9",)),
        ("k\x1b=1", ("k\\\\x1b", "0-9")),
    ],
)
def test_what_is_no_tag_is_refused(text: str, facts: tuple[str, ...], says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_tag(text)
    assert caught.value == says(*facts)


@given(st.text())
def test_whatever_is_taken_can_be_shown_and_is_bounded(text: str) -> None:
    try:
        key, value = parse_tag(text)
    except InputError:
        return
    assert parse_tag_key(key) == key
    assert value.isprintable()
    assert 0 < len(value) <= 256
