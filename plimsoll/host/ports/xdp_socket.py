"""Whether AF_XDP works on an interface: a socket bound to it for a moment (linux/if_xdp.h)."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import socket
import struct
import time

_AF_XDP = 44
_SOL_XDP = 283
_RX_RING, _UMEM_REG, _FILL_RING, _COMPLETION_RING = 2, 4, 5, 6
_COPY_MODE = 1 << 1
_CHUNK_BYTES = 4096
_RING = 64
# The kernel gives a closed socket's queue back in deferred work, which on a crowded machine
# comes hundreds of milliseconds later; until then the next bind finds it busy.
_RELEASE_PATIENCE_S = 1.0
_RELEASE_POLL_S = 0.02
_REASONS = {
    errno.EAFNOSUPPORT: "the kernel has no AF_XDP",
    errno.EPERM: "CAP_NET_RAW is missing",
    errno.EBUSY: "another program uses its queue by AF_XDP",
    errno.ENODEV: "there is no such interface",
    errno.ENETDOWN: "it is down",
    errno.EINVAL: "the kernel refuses the queue",
    errno.ENOBUFS: "RLIMIT_MEMLOCK is too low",
    errno.EOPNOTSUPP: "its driver does not support it",
}


def why_no_xdp_socket(name: str, queue: int = 0) -> str | None:
    """Why an AF_XDP socket cannot be bound to that queue of the interface; None if it can.

    The socket is bound in copy mode, which every driver allows and which neither needs an
    XDP program nor disturbs what else uses the interface, and closed again. A busy queue
    is tried again for a second, for a socket that has just been closed.
    """
    deadline = time.monotonic() + _RELEASE_PATIENCE_S
    while True:
        try:
            _try_bind(name, queue)
        except OSError as error:
            code = error.errno or 0
            if code == errno.EBUSY and time.monotonic() < deadline:
                time.sleep(_RELEASE_POLL_S)
                continue
            return _REASONS.get(code, os.strerror(code) if code else str(error))
        return None


def _try_bind(name: str, queue: int) -> None:
    """Bind a socket to the queue and close it. Raises OSError."""
    index = socket.if_nametoindex(name)
    with socket.socket(_AF_XDP, socket.SOCK_RAW, 0) as probe:
        _bind(probe, index, queue)


def _bind(probe: socket.socket, index: int, queue: int) -> None:
    """Give the socket a piece of memory and its rings, and bind it. Raises OSError."""
    chunks = 2 * _RING
    memory = mmap.mmap(-1, chunks * _CHUNK_BYTES)
    anchor = ctypes.c_char.from_buffer(memory)
    try:
        # struct xdp_umem_reg: addr, len, chunk_size, headroom, flags.
        area = (ctypes.addressof(anchor), chunks * _CHUNK_BYTES, _CHUNK_BYTES, 0, 0)
        probe.setsockopt(_SOL_XDP, _UMEM_REG, struct.pack("=QQIII4x", *area))
        for ring in (_FILL_RING, _COMPLETION_RING, _RX_RING):
            probe.setsockopt(_SOL_XDP, ring, _RING)
        # struct sockaddr_xdp: family, flags, ifindex, queue, and no shared memory.
        address = struct.pack("=HHIII", _AF_XDP, _COPY_MODE, index, queue, 0)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.bind(probe.fileno(), address, len(address)) != 0:
            raise OSError(ctypes.get_errno(), "bind")
    finally:
        del anchor
        memory.close()
