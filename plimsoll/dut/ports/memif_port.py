"""Memif, shared memory between two DPDK processes: its devargs and its socket."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Literal

from plimsoll.errors import InputError
from plimsoll.search.text.wire import FCS_BYTES

# sun_path of sockaddr_un, its closing zero included.
_LONGEST_PATH_BYTES = 107
# Of each driver, the argument that names its socket.
SOCKET_ARGUMENTS = {"net_memif": "socket", "net_vhost": "iface", "net_virtio_user": "path"}
# What ends a value in DPDK's devargs.
_DEVARGS_SYNTAX = frozenset(",=[]\"' ")
# What the driver takes where the devargs do not say.
USUAL_BUFFER_BYTES = 2048
_CACHE_LINE_BYTES = 64
# Of one ring's buffers; the longest ring of those for usual frames takes as much.
_RING_BYTES = 16384 * (USUAL_BUFFER_BYTES + _CACHE_LINE_BYTES)


def memif_devargs(
    role: Literal["server", "client"],
    port: int,
    socket_path: Path,
    ring_size: int,
    buffer_bytes: int = USUAL_BUFFER_BYTES,
) -> str:
    """The vdev of one end of connection `port`; several may share a socket.

    `ring_size` must be a power of two up to 16384. The buffers are the client's to make
    and to be given by both; no frame may be longer. The socket is a file, because an
    abstract one would be open to every user of the machine.
    """
    buffers = "" if buffer_bytes == USUAL_BUFFER_BYTES else f",bsize={buffer_bytes}"
    return (
        f"net_memif{port},role={role},id={port},socket={socket_path},"
        f"socket-abstract=no,rsize={ring_size.bit_length() - 1}{buffers}"
    )


def buffer_bytes_for(frame_size: int) -> int:
    """The buffers that hold a frame of `frame_size` bytes with FCS whole.

    A frame in several buffers arrives damaged or twice with DPDK up to 25.11.
    """
    lines = -(-(frame_size - FCS_BYTES) // _CACHE_LINE_BYTES)
    return max(USUAL_BUFFER_BYTES, lines * _CACHE_LINE_BYTES)


def memif_buffer_bytes(frame_size: int) -> int:
    """A ring's buffers for frames of up to `frame_size` bytes with FCS: an odd number of lines.

    Buffers lie one behind the other. With an even number of cache lines each, and most of all with
    a power of two, short frames at their begins share few sets of the cache, and a long ring goes
    to memory for each frame: 16384 buffers of 2048 bytes carry half of what such of 2112 do
    (`make bench --only dut`).
    """
    lines = buffer_bytes_for(frame_size) // _CACHE_LINE_BYTES
    return (lines | 1) * _CACHE_LINE_BYTES


def longest_ring(buffer_bytes: int) -> int:
    """The longest ring, in frames, whose buffers take no more than 33 MB of shared memory."""
    return 1 << (_RING_BYTES // buffer_bytes).bit_length() - 1


def check_new_socket(path: Path, where: str) -> None:
    """Refuse a path at which no server could create its socket. Raises InputError."""
    problem = _bad_form(path) or _bad_place(path)
    if problem:
        reason, remedy = problem
        raise InputError(f"cannot create the socket {path}: {reason}", where=where, remedy=remedy)


def check_socket_of(devargs: str, where: str) -> None:
    """Refuse a memif or vhost vdev whose socket cannot be, at either end. Raises InputError.

    Whether its peer is there yet is for the driver to find out.
    """
    name, *given = devargs.split(",")
    driver = name.rstrip("0123456789")
    values = dict(each.split("=", 1) for each in given if "=" in each)
    path = values.get(SOCKET_ARGUMENTS.get(driver, ""))
    if path is None:
        return
    length = len(path.encode())
    on_disk = driver != "net_memif" or values.get("socket-abstract") == "no"
    if length > _LONGEST_PATH_BYTES:
        problem = (f"longer than {_LONGEST_PATH_BYTES} bytes", "choose a shorter path")
    elif on_disk and not Path(path).parent.is_dir():
        problem = ("its directory does not exist", f"create {Path(path).parent}")
    else:
        return
    raise InputError(f"no socket can be {path}: {problem[0]}", where=where, remedy=problem[1])


def _bad_form(path: Path) -> tuple[str, str] | None:
    """What is wrong with the path as such, and how to fix it."""
    if len(str(path).encode()) > _LONGEST_PATH_BYTES:
        return f"longer than {_LONGEST_PATH_BYTES} bytes", "choose a shorter path"
    if _DEVARGS_SYNTAX & set(str(path)) or not str(path).isprintable():
        return "DPDK cannot read such a path", "choose one without blanks and any of , = [ ] \" '"
    if not path.is_absolute():
        return "not an absolute path", "begin it with /"
    return None


def _bad_place(path: Path) -> tuple[str, str] | None:
    """What is in the way on disk, and how to fix it."""
    if not path.parent.is_dir():
        return "its directory does not exist", f"create {path.parent}"
    if not path.exists() and not path.is_symlink():
        return None
    if _has_listener(path):
        return "another process listens on it", "stop that process or choose another path"
    return "the file exists, though nothing listens on it", "remove it or choose another path"


def _has_listener(path: Path) -> bool:
    for kind in (socket.SOCK_SEQPACKET, socket.SOCK_STREAM):
        with socket.socket(socket.AF_UNIX, kind) as probe:
            try:
                probe.connect(str(path))
            except OSError:
                continue
            return True
    return False
