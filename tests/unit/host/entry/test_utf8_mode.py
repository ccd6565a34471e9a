"""A program in a locale of another encoding begins anew, once."""

import locale
import os
from types import SimpleNamespace

import pytest

from plimsoll.host.entry import entry_point
from plimsoll.host.entry.entry_point import TERMINAL_VARIABLE, continue_in_utf8_mode

Begun = list[tuple[str, list[str], dict[str, str]]]
WORDS = ["python3", "-P", "-m", "plimsoll.cli", "runs"]


def interpreter(**flags: int) -> SimpleNamespace:
    return SimpleNamespace(
        flags=SimpleNamespace(**{"utf8_mode": 0, "ignore_environment": 0, **flags}),
        executable="/usr/bin/python3",
        orig_argv=WORDS,
        stdout=SimpleNamespace(encoding="koi8-r"),
    )


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> Begun:
    calls: Begun = []
    monkeypatch.setattr(os, "execve", lambda *given: calls.append(given))
    monkeypatch.setattr(locale, "getencoding", lambda: "KOI8-R")
    monkeypatch.setattr(entry_point, "sys", interpreter())
    monkeypatch.delenv("PYTHONUTF8", raising=False)
    return calls


def test_it_is_the_same_program_in_that_mode(begun: Begun, monkeypatch: pytest.MonkeyPatch) -> None:
    continue_in_utf8_mode()
    ((program, words, environment),) = begun
    assert program == "/usr/bin/python3"
    assert words == WORDS
    assert environment == {**os.environ, "PYTHONUTF8": "1", TERMINAL_VARIABLE: "koi8-r"}


@pytest.mark.parametrize("name", ["UTF-8", "utf8", "utf_8"])
def test_utf8_is_left_alone(begun: Begun, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(locale, "getencoding", lambda: name)
    continue_in_utf8_mode()
    assert begun == []


@pytest.mark.parametrize("chosen", ["0", "1"])
def test_what_the_user_has_chosen_stays(
    begun: Begun, monkeypatch: pytest.MonkeyPatch, chosen: str
) -> None:
    monkeypatch.setenv("PYTHONUTF8", chosen)
    continue_in_utf8_mode()
    assert begun == []


@pytest.mark.parametrize("flag", ["utf8_mode", "ignore_environment"])
def test_it_never_begins_for_ever(begun: Begun, monkeypatch: pytest.MonkeyPatch, flag: str) -> None:
    monkeypatch.setattr(entry_point, "sys", interpreter(**{flag: 1}))
    continue_in_utf8_mode()
    assert begun == []


def test_a_program_that_cannot_begin_anew_goes_on(
    begun: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(os, "execve", fail)
    continue_in_utf8_mode()
    assert begun == []
