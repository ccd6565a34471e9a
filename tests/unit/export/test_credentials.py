from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.export.credentials import Credentials, read_credentials
from tests.worded.says import Says


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text("jo:pass:word\n")
    path.chmod(0o600)
    return path


def test_a_file_comes_before_the_environment(file: Path) -> None:
    environment = {"PLIMSOLL_EXPORT_USER": "ann", "PLIMSOLL_EXPORT_PASSWORD": "x"}
    assert read_credentials(file, environment) == Credentials("jo", "pass:word")
    assert read_credentials(None, environment) == Credentials("ann", "x")
    assert read_credentials(None, {}) is None


def test_a_secret_is_not_shown() -> None:
    assert "pass" not in repr(Credentials("jo", "pass"))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_file_that_others_get_at_is_refused(file: Path, mode: int, says: Says) -> None:
    file.chmod(mode)
    with pytest.raises(InputError) as raised:
        read_credentials(file, {})
    assert raised.value == says(f"{mode:o}", "chmod 600")
    assert raised.value.remedy == f"chmod 600 {file}"


@pytest.mark.parametrize("content", ["", "jo", "jo:", ":word", "jo:a\nann:b\n"])
def test_a_file_of_another_form_is_reported_without_what_it_holds(
    file: Path, content: str, says: Says
) -> None:
    file.write_text(content)
    with pytest.raises(InputError) as raised:
        read_credentials(file, {})
    assert raised.value == says("user:password")
    assert "word" not in str(raised.value).replace("user:password", "")


def test_a_file_that_is_not_there_is_reported(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        read_credentials(tmp_path / "none", {})
    assert caught.value == says("none", "user:password")


@pytest.mark.parametrize("name", ["PLIMSOLL_EXPORT_USER", "PLIMSOLL_EXPORT_PASSWORD"])
def test_half_of_them_is_reported(name: str, says: Says) -> None:
    with pytest.raises(InputError) as raised:
        read_credentials(None, {name: "x"})
    assert raised.value == says("environment", "PLIMSOLL_EXPORT_USER", "PLIMSOLL_EXPORT_PASSWORD")
    assert raised.value.where == "environment"
