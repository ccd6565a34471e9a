"""Where a server listens: on the loopback unless an address is given, or on a Unix socket."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import InputError, MachineError
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.text.named_program import NOTHING, AllowedPrograms

_LOOPBACK = "127.0.0.1"
_MOST = 65535
_UNIX = "unix:"
# sun_path of sockaddr_un, its closing zero included.
_LONGEST_PATH_BYTES = 107


class ServedEndpoint:
    """A TCP port at an address, or a Unix socket."""


@dataclass(frozen=True, slots=True)
class ListenEndpoint(ServedEndpoint):
    """An address of this machine and a TCP port."""

    address: str
    port: int


@dataclass(frozen=True, slots=True)
class UnixEndpoint(ServedEndpoint):
    """The absolute path of a socket's file."""

    path: Path


def parse_endpoint(text: str, option: str = "--metrics-port") -> ListenEndpoint:
    """A port, alone or after an address: 9464, 0.0.0.0:9464, [::1]:9464.

    Raises InputError, placed at the option.
    """
    address, _, port = text.rpartition(":")
    bare = address.removeprefix("[").removesuffix("]") if address else _LOOPBACK
    try:
        ipaddress.ip_address(bare)
        number = int(port) if port.isascii() and port.isdigit() else 0
    except ValueError:
        number = 0
    if not 0 < number <= _MOST:
        raise InputError(
            f"{text!r} is not a port",
            where=option,
            remedy="write a port from 1 to 65535, such as 9464, or with the address to listen on: "
            "0.0.0.0:9464",
        )
    return ListenEndpoint(bare, number)


def parse_any_endpoint(text: str, option: str) -> ServedEndpoint:
    """The same, or a Unix socket: unix:/run/lab.sock, unix:lab.sock.

    Raises InputError, placed at the option.
    """
    if not text.startswith(_UNIX):
        return parse_endpoint(text, option)
    path = Path(text.removeprefix(_UNIX)).absolute()
    if text == _UNIX or not path.name or "\0" in text or len(bytes(path)) > _LONGEST_PATH_BYTES:
        raise InputError(
            f"{text[:200]!r} names no socket",
            where=option,
            remedy=f"write unix: and a path of up to {_LONGEST_PATH_BYTES} bytes",
        )
    return UnixEndpoint(path)


_SECRET_BYTES = 32


@dataclass(frozen=True)
class ServeSettings:
    """`runs_root` holds the runs; what experiments name lies in `experiments_root`.

    `host_names` are further names by which browsers may call this server. `token` is what opens
    it over TCP; None lets in everybody who reaches the endpoint. At a Unix socket the user at its
    other end counts instead. `programs` is what experiments may have run.
    """

    runs_root: Path
    experiments_root: Path
    endpoint: ServedEndpoint
    host_names: frozenset[str] = frozenset()
    token: str | None = None
    programs: AllowedPrograms = NOTHING

    @property
    def address(self) -> str:
        """Where to point a browser; by way of a Unix socket that is up to its other end."""
        if not isinstance(self.endpoint, ListenEndpoint):
            return "http://localhost/"
        host = self.endpoint.address
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.endpoint.port}/"


def is_loopback(endpoint: ListenEndpoint) -> bool:
    """Whether only this machine reaches it."""
    return ipaddress.ip_address(endpoint.address).is_loopback


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(_SECRET_BYTES)


_OPTION = "--listen"
_BACKLOG = 128
_MODE = 0o600


@contextmanager
def listening_on_unix(path: Path, ledger: Ledger) -> Iterator[socket.socket]:
    """A socket that listens at `path` for the length of a `with`.

    Its file is noted in the ledger, which removes it after a kill. Raises MachineError where it
    cannot be made.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        try:
            # The file has this mode from its first moment on (unix(7), sockfs's inode).
            os.fchmod(listener.fileno(), _MODE)
            # Fails where there is any file, a link that leads nowhere included.
            listener.bind(str(path))
            made = path.lstat()
            ledger.note_path(path)
            listener.listen(_BACKLOG)
        except OSError as error:
            raise _cannot(path, error) from error
        try:
            yield listener
        finally:
            _remove(path, made, ledger)


def _remove(path: Path, made: os.stat_result, ledger: Ledger) -> None:
    """Unless it has been replaced: then it is another program's, and the ledger's no more."""
    with suppress(FileNotFoundError):
        found = path.lstat()
        if (found.st_dev, found.st_ino) == (made.st_dev, made.st_ino):
            path.unlink()
    # A ledger that has been undone by now knows of nothing.
    with suppress(MachineError):
        ledger.forget_path(path)


def _cannot(path: Path, error: OSError) -> MachineError:
    try:
        mode = path.lstat().st_mode
    except OSError:
        reason, remedy = (
            error.strerror or str(error),
            "choose another path, in a folder that exists",
        )
    else:
        if not stat.S_ISSOCK(mode):
            reason, remedy = "another file is there", "choose another path"
        elif _has_listener(path):
            reason, remedy = "another process listens there", "end it, or choose another path"
        else:
            reason = "a socket is there, on which nothing listens"
            remedy = "remove it where no other program needs it, or choose another path"
    return MachineError(f"cannot listen on {path}: {reason}", where=_OPTION, remedy=remedy)


def _has_listener(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return False
        except OSError:
            # Of another kind, or closed to us: there may be one.
            pass
    return True
