"""Stands between two memif peers and hangs up on both while both go on running."""

import contextlib
import select
import socket
from pathlib import Path
from threading import Thread
from typing import Self

# A control message of memif is 128 bytes, and carries one descriptor at most.
MESSAGE_BYTES = 128
SOCKET = (socket.AF_UNIX, socket.SOCK_SEQPACKET)


class MemifRelay:
    """Passes on the control messages of a memif connection; frames do not go through it."""

    def __init__(self, listens_at: Path, server: Path) -> None:
        self._server = server
        self._ends: list[socket.socket] = []
        self._listener = socket.socket(*SOCKET)
        self._listener.bind(str(listens_at))
        self._listener.listen()
        self._thread = Thread(target=self._relay, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hang_up()

    def hang_up(self) -> None:
        """Break the connection: what a peer sees when the other is killed."""
        for end in (self._listener, *self._ends):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _relay(self) -> None:
        """One connection after the other: a client that is not answered soon tries again."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with client, socket.socket(*SOCKET) as server:
                    server.connect(str(self._server))
                    self._ends = [client, server]
                    others = {client: server, server: client}
                    while all(
                        self._pass_on(end, others[end]) for end in select.select(others, [], [])[0]
                    ):
                        pass

    @staticmethod
    def _pass_on(source: socket.socket, target: socket.socket) -> bool:
        """Pass on one message; False when either end hung up."""
        try:
            message, descriptors, _, _ = socket.recv_fds(source, MESSAGE_BYTES, 1)
            if not message:
                return False
            socket.send_fds(target, [message], descriptors)
        except OSError:
            return False
        for descriptor in descriptors:
            socket.close(descriptor)
        return True
