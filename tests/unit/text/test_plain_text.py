import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.text.plain_text import plain_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("demo-64 B, ä → 食", "demo-64 B, ä → 食"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("two\nlines\r", r"two\nlines\r"),
        ("\x9b31m", r"\x9b31m"),
        ("abc\u202egnp.exe", r"abc\u202egnp.exe"),
        ("a\u200bb", r"a\u200bb"),
        # A byte of a file name that is no UTF-8, as os.fsdecode gives it.
        ("caf\udce9", r"caf\udce9"),
    ],
)
def test_what_would_drive_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert plain_text(text) == shown


def test_long_text_is_cut_with_a_sign_that_it_was() -> None:
    assert plain_text("x" * 11, 10) == "x" * 9 + "…"
    assert plain_text("x" * 10, 10) == "x" * 10


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_whatever_comes_is_printable_and_bounded(text: str, most: int) -> None:
    shown = plain_text(text, most)
    assert shown.isprintable()
    assert len(shown) <= most
    shown.encode()
