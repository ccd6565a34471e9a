import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.text.plain_text import plain_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("dut-1.lab_2", "dut-1.lab_2"),
        ("a b", "a@20b"),
        ("root@dut", "root@40dut"),
        ("../x", "..@2Fx"),
        # U+00FC is C3 BC in UTF-8.
        ("prüfling", "pr@C3@BCfling"),
    ],
)
def test_what_is_no_plain_sign_is_written_by_its_bytes(text: str, name: str) -> None:
    assert plain_name(text) == name


@given(st.text())
def test_the_name_can_be_read_back(text: str) -> None:
    """So no two texts have the same."""
    name = plain_name(text)
    assert re.fullmatch(r"[A-Za-z0-9._@-]*", name)
    encoded = re.sub(rb"@(..)", lambda found: bytes.fromhex(found[1].decode()), name.encode())
    assert encoded.decode("utf-8", "surrogatepass") == text
