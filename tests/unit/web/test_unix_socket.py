"""The file of a Unix socket: closed to others, never in another's place, gone at the end."""

import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.errors import InputError, MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.state_root import STATE_VARIABLE
from plimsoll.web.endpoint import (
    ListenEndpoint,
    UnixEndpoint,
    listening_on_unix,
    parse_any_endpoint,
)
from tests.worded.says import Says


@pytest.fixture
def ledger(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Ledger]:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path_factory.mktemp("s")))
    made = Ledger.create("serve")
    yield made
    made.undo()


@pytest.fixture
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("u") / "lab.sock"


def test_it_is_of_this_user_alone_and_gone_at_the_end(path: Path, ledger: Ledger) -> None:
    with listening_on_unix(path, ledger):
        assert stat.S_ISSOCK(path.lstat().st_mode)
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600
        # What a janitor removes after a kill.
        assert ledger.record.paths == (str(path),)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
    assert not path.exists()
    assert ledger.record.paths == ()


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        ("file", ("--listen", "lab.sock")),
        ("folder", ("--listen", "lab.sock")),
        ("dangling", ("--listen", "lab.sock")),
        ("listener", ("--listen", "lab.sock")),
        ("datagrams", ("--listen", "lab.sock")),
        ("stale", ("--listen", "lab.sock")),
    ],
)
def test_no_file_that_is_there_is_replaced(
    path: Path, ledger: Ledger, kind: str, facts: tuple[str, ...], says: Says
) -> None:
    other = socket.socket(
        socket.AF_UNIX, socket.SOCK_DGRAM if kind == "datagrams" else socket.SOCK_STREAM
    )
    match kind:
        case "file":
            path.write_text("precious")
        case "folder":
            path.mkdir()
        case "dangling":
            path.symlink_to(path.with_name("nowhere"))
        case _:
            other.bind(str(path))
    if kind == "listener":
        other.listen()
    before = path.lstat().st_ino
    with pytest.raises(MachineError) as raised, listening_on_unix(path, ledger):
        pass
    assert raised.value == says(*facts)
    assert raised.value.where == "--listen"
    assert path.lstat().st_ino == before
    assert ledger.record.paths == ()
    other.close()


def test_a_folder_that_is_not_there(path: Path, ledger: Ledger) -> None:
    lost = path.with_name("nowhere") / "lab.sock"
    with pytest.raises(MachineError, match="No such file"), listening_on_unix(lost, ledger):
        pass


def test_anothers_socket_that_has_taken_its_place_stays(path: Path, ledger: Ledger) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        with listening_on_unix(path, ledger):
            path.unlink()
            other.bind(str(path))
        ledger.undo()
        assert path.exists()


def test_where_a_socket_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_any_endpoint("unix:/run/x", "--listen") == UnixEndpoint(Path("/run/x"))
    assert parse_any_endpoint("unix:x", "--listen") == UnixEndpoint(tmp_path / "x")
    assert parse_any_endpoint("[::1]:9", "--listen") == ListenEndpoint("::1", 9)


@pytest.mark.parametrize("text", ["unix:", "unix:/", "unix:a\0b", "unix:/" + 107 * "x"])
def test_what_names_no_socket(text: str, says: Says) -> None:
    with pytest.raises(InputError) as raised:
        parse_any_endpoint(text, "--listen")
    assert raised.value == says("--listen")
    assert raised.value.where == "--listen"
