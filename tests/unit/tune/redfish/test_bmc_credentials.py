"""Credentials come from a private file or the environment, and are never quoted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.tune.redfish.bmc_credentials import BmcCredentials, read_credentials
from tests.worded.says import Says

GIVEN = "s3cret with = and blanks "


def private(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "bmc"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_of_a_file(tmp_path: Path) -> None:
    path = private(tmp_path, f"# the lab's BMC\nuser=reader\npassword={GIVEN}\n")
    assert read_credentials(path, {}) == BmcCredentials("reader", GIVEN)


def test_of_the_environment() -> None:
    given = {"PLIMSOLL_BMC_USER": "reader", "PLIMSOLL_BMC_PASSWORD": GIVEN}
    assert read_credentials(None, given) == BmcCredentials("reader", GIVEN)


def test_none_at_all(says: Says) -> None:
    with pytest.raises(InputError) as caught:
        read_credentials(None, {"PLIMSOLL_BMC_USER": "reader"})
    assert caught.value == says(
        "--bmc", "--bmc-credentials", "PLIMSOLL_BMC_USER", "PLIMSOLL_BMC_PASSWORD"
    )


def test_they_are_not_in_their_representation() -> None:
    assert repr(BmcCredentials("reader", GIVEN)) == "BmcCredentials()"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o601])
def test_a_file_that_others_can_open_is_refused(mode: int, tmp_path: Path, says: Says) -> None:
    path = private(tmp_path, f"user=reader\npassword={GIVEN}\n", mode)
    with pytest.raises(InputError) as caught:
        read_credentials(path, {})
    assert caught.value == says(str(path), "mode", f"{mode:o}", "chmod", "600", "chmod 600")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "user=reader\n",
        "password=s3cret\n",
        "user=\npassword=s3cret\n",
        "user=reader\npassword=s3cret\npassword=s3cret\n",
        "reader s3cret\n",
        "user: reader\npassword: s3cret\n",
        "user=reader\npassword=s3cret\nrealm=x\n",
        "user=reader\npassword=s3cret" + "x" * 5000,
    ],
)
def test_other_forms_are_refused_without_a_quote(text: str, tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        read_credentials(private(tmp_path, text), {})
    assert "s3cret" not in str(caught.value)
    assert caught.value == says("user=NAME", "password=PASSWORD")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path, says: Says) -> None:
    path = private(tmp_path, "")
    path.write_bytes(b"user=\xff\xfe\npassword=x\n")
    with pytest.raises(InputError) as caught:
        read_credentials(path, {})
    assert caught.value == says("bmc", "user=NAME", "password=PASSWORD")


def test_a_file_that_is_not_there(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        read_credentials(tmp_path / "none", {})
    assert caught.value == says("none")


def test_a_pipe_is_refused_at_once(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path, 0o600)
    with pytest.raises(InputError) as caught:
        read_credentials(path, {})
    assert caught.value == says("pipe")
