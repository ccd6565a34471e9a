"""Forms: systemd.exec(5), EnvironmentFile= and Environment=; systemd.syntax(7)."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.tune.host.cpus.irqbalance_configuration import (
    file_assignments,
    service_environment,
    service_settings,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=b", "b"),
        (" A = b c \n", "b c"),
        ("A=b # c\n", "b # c"),
        ("A=", ""),
        ("A=b\nA=\n", ""),
        ('A="b \'c" \n', "b 'c"),
        ("A='b\nc'", "b\nc"),
        ('A=\'b\' "c"d"\n', 'bcd"'),
        ("A=b\\\nc", "bc"),
        ("A=b\\c", "bc"),
        (r'A="b\$\c"', r"b$\c"),
        ("; A=c\n# A=d\nA=b\n#A=e", "b"),
        ("A\nexport A=c\nA=b", "b"),
        ("A=b\r\nB=c\r\n", "b"),
    ],
)
def test_what_an_environment_file_assigns(text: str, value: str) -> None:
    assert file_assignments(text)["A"] == value


def test_a_comment_goes_on_up_to_systemd_253() -> None:
    text = "# A=b \\\nA=c\n"
    assert file_assignments(text) == {"A": "c"}
    assert file_assignments(text, to_253=True) == {}


def test_settings_are_those_of_the_service() -> None:
    text = "A=1\n[Unit]\nA=2\n[Service]\n A = 3 \n; A=4\nB=5 \\\r\n# 6\r\n7\r\n[Install]\nA=8\n"
    assert list(service_settings(text)) == [("A", "3"), ("B", "5  7")]


def test_files_come_after_drop_ins_and_what_is_unset_last() -> None:
    drop_ins = [("d", "[Service]\nEnvironment=X_A=1 X_B=1 X_C=1 Y=1\nUnsetEnvironment=X_C X_B=1\n")]
    found = service_environment({"f": "X_B=2\n", "g": "X_D=3\n"}, drop_ins, about="X_")
    assert found == {"X_A": ("d", "1"), "X_B": ("f", "2"), "X_D": ("g", "3")}


@given(st.text(alphabet="A= \t\n\r\\\"'#;x", max_size=60))
def test_no_text_raises(text: str) -> None:
    file_assignments(text)
    file_assignments(text, to_253=True)
    with contextlib.suppress(ValueError):
        service_environment({}, [("d", f"[Service]\nEnvironment=A{text}")], about="A")
