"""Whose process is at the other end of a Unix socket."""

from __future__ import annotations

import asyncio
import socket
import struct

from plimsoll.web.bounded_protocol import BoundedProtocol

# In the state of a request's scope; of a connection by TCP there is none.
PEER_UID = "peer_uid"
# struct ucred: pid, uid, gid.
_CREDENTIALS = struct.Struct("iII")


class PeerProtocol(BoundedProtocol):
    """HTTP/1.1 within bounds, with the user's id in each request through a Unix socket."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Look once: who connected stays the same."""
        super().connection_made(transport)
        connection = transport.get_extra_info("socket")
        if connection is not None and connection.family == socket.AF_UNIX:
            self.app_state = {**self.app_state, PEER_UID: peer_uid(connection)}


def peer_uid(connection: socket.socket) -> int:
    """The effective user id of who connected, as the kernel noted it then (unix(7))."""
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(found)[1])
