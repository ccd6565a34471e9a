"""The file of a token: of this user alone, and of no one's guess."""

import os
import stat
from pathlib import Path

import pytest

from plimsoll.errors import InputError, MachineError
from plimsoll.web.security.token_file import read_token, write_token
from tests.worded.says import Says

TOKEN = "0123456789abcdef" * 2


def written(folder: Path, content: str, mode: int = 0o600) -> Path:
    path = folder / "mine"
    path.write_text(content)
    path.chmod(mode)
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = write_token(tmp_path, TOKEN)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_uid == os.geteuid()
    assert read_token(path) == TOKEN


def test_no_file_that_is_there_is_written_over(tmp_path: Path, says: Says) -> None:
    (tmp_path / "token").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(MachineError) as caught:
        write_token(tmp_path, TOKEN)
    assert caught.value == says("token")
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o602])
def test_others_may_neither_read_nor_write_it(tmp_path: Path, mode: int, says: Says) -> None:
    with pytest.raises(InputError) as raised:
        read_token(written(tmp_path, TOKEN, mode))
    assert raised.value == says("chmod 600", "--token-file", "600")
    assert raised.value.where == "--token-file"
    assert raised.value.remedy.startswith("chmod 600")


@pytest.mark.parametrize("content", ["", "\n", TOKEN[:-1], "é" * 40, "a\tb" * 20, "two words " * 8])
def test_what_is_no_token(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError) as raised:
        read_token(written(tmp_path, content))
    assert content.strip() == "" or content not in str(raised.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_it_is_not_another_users(tmp_path: Path, says: Says) -> None:
    path = written(tmp_path, TOKEN)
    os.chown(path, 65534, 65534)
    with pytest.raises(InputError) as caught:
        read_token(path)
    assert caught.value == says("--token-file")


def test_what_is_no_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(InputError):
            read_token(path)
