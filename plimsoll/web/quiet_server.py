"""An HTTP server next to polled CPUs: it sleeps but for requests, and leaves nothing."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, cast

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from plimsoll.errors import MachineError
from plimsoll.web.endpoint import ListenEndpoint


# HTTP of clients that may be slow on purpose: a request comes within a time, or not at all.
#
# uvicorn waits for ever for the rest of a request and takes any number of connections, each of
# which is a descriptor and some memory.
class BoundedProtocol(H11Protocol):
    """One connection. Answers may take as long as they like: pages are followed live."""

    # Of all clients together; what comes beyond is hung up on at once.
    most_connections: ClassVar[int] = 256
    # From its first byte, or from the connection's beginning, to its last.
    longest_request_s: ClassVar[float] = 60.0

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Expect a request, where there is room."""
        super().connection_made(cast(asyncio.Transport, transport))
        if len(self.connections) > self.most_connections:
            self.transport.abort()
        else:
            self._expect()

    def data_received(self, data: bytes) -> None:
        """Whether or not its answer has gone: one that is refused at once may be sent for ever."""
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._expect()
        else:
            self._stop_expecting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing comes any more."""
        self._stop_expecting()
        super().connection_lost(exc)

    def _expect(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.longest_request_s, self.transport.abort)

    def _stop_expecting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


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


_OPTION = "--listen"
_BACKLOG = 128
# How often it wakes up to see whether it is to end. uvicorn's own tenth of a second is ten visits
# a second to CPUs that may be polled.
_TICK_S = 1.0
# What is under way is cut off after that.
_GRACE_S = 3


class QuietServer(uvicorn.Server):
    """Asleep but for requests and a look each second."""

    async def main_loop(self) -> None:
        """Until the signal."""
        while not await self.on_tick(0):
            await asyncio.sleep(_TICK_S)


def quiet_config(
    application: Starlette, *, certificate: Path | None = None, key: Path | None = None
) -> uvicorn.Config:
    """Of a server that says nothing of itself and logs warnings only; with TLS by a certificate."""
    return uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        http=PeerProtocol,
        server_header=False,
        date_header=False,
        # A Host or a client's address that a proxy claims is not believed.
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )


@contextmanager
def listening(endpoint: ListenEndpoint) -> Iterator[socket.socket]:
    """A socket that listens there, for the length of a `with`.

    Raises MachineError where that cannot be.
    """
    family = socket.AF_INET6 if ":" in endpoint.address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((endpoint.address, endpoint.port))
            listener.listen(_BACKLOG)
        except OSError as error:
            raise MachineError(
                f"cannot listen on {endpoint.address}, port {endpoint.port}: {error.strerror}",
                where=_OPTION,
                remedy="choose another port, or end what listens on it",
            ) from error
        yield listener
