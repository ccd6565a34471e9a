"""Names and numbers out of the kernel's files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.observe.reading.host_files import number_after, printable


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (b"eth0", "eth0"),
        ("d\u00e9v".encode(), "d\u00e9v"),
        (b"a\x1b[2Jb", "a\\x1b[2Jb"),
        (b"a\xffb\x00", "a\\xffb\\x00"),
        ("\u202eevil".encode(), "\\u202eevil"),
    ],
)
def test_what_cannot_be_printed_is_escaped(name: bytes, text: str) -> None:
    assert printable(name) == text


@given(st.binary())
def test_any_name_can_be_printed(name: bytes) -> None:
    assert printable(name).isprintable()


def test_a_number_is_that_of_the_whole_word() -> None:
    text = b"a_pgpgin 1\npgpgin_b 2\npgpgin 345\nother 6\n"
    assert number_after(b"\npgpgin ", text) == 345


def test_a_word_that_is_not_there_has_no_number() -> None:
    with pytest.raises(ValueError, match="not found"):
        number_after(b"\npgpgin ", b"a 1\nb 2\n")
