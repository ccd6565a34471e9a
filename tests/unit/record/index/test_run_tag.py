import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.record.index.run_tag import parse_tag, parse_tag_key


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
    ("text", "said", "remedy"),
    [
        ("kernel", "the tag kernel has no value", "key=value"),
        ("kernel=", "the tag kernel has no value", "key=value"),
        ("kernel= ", "the tag kernel has no value", "key=value"),
        ("=6.1", "'' is not a valid tag key", "begin with a letter or a digit"),
        ("", "'' is not a valid tag key", "begin with a letter or a digit"),
        ("-x=1", "'-x' is not a valid tag key", "begin with a letter or a digit"),
        ("a b=1", "'a b' is not a valid tag key", "A-Z a-z 0-9"),
        ("ö=1", "'ö' is not a valid tag key", "A-Z a-z 0-9"),
        ("k" * 64 + "=1", "is not a valid tag key", "up to 63"),
        ("k=" + "v" * 257, "the value of k has 257 characters", "a note"),
        ("k=a\x1b[31mb", r"cannot be printed: a\x1b[31mb", "control characters"),
        ("k=a\nb", r"cannot be printed: a\nb", "line ends"),
        ("k=a\u202eb", r"cannot be printed: a\u202eb", "control characters"),
        ("k=\udce9", r"cannot be printed: \udce9", "control characters"),
        ("k\x1b=1", r"k\\x1b", "A-Z a-z 0-9"),
    ],
)
def test_what_is_no_tag_is_refused(text: str, said: str, remedy: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_tag(text)
    assert said in caught.value.message
    assert remedy in caught.value.remedy


@given(st.text())
def test_whatever_is_taken_can_be_shown_and_is_bounded(text: str) -> None:
    try:
        key, value = parse_tag(text)
    except InputError:
        return
    assert parse_tag_key(key) == key
    assert value.isprintable()
    assert 0 < len(value) <= 256
