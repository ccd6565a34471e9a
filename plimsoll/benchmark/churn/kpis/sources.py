"""Where a component's metrics are read: by way of the API server, or from a socket."""

from __future__ import annotations

import os
import socket
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Protocol

from plimsoll.benchmark.churn.api.writing_client import WritingClient
from plimsoll.errors import MachineError

_TIMEOUT_S = 30.0
_MOST_BYTES = 64 << 20


class MetricsSource(Protocol):
    """Gives a component's metrics as text, now. Raises MachineError."""

    def read(self) -> str:
        """What it says."""


class ApiServerMetrics:
    """The API server's own."""

    def __init__(self, client: WritingClient) -> None:
        self._client = client

    def read(self) -> str:
        """What it says. Raises MachineError, also where this user may not ask."""
        try:
            return self._client.text("/metrics")
        except MachineError:
            raise
        except Exception as error:
            raise MachineError(
                f"its metrics cannot be read: {error}"[:400],
                where=self._client.server,
                remedy="allow this user to get the path /metrics, or give cluster.prometheus",
            ) from error


class SocketMetrics:
    """Those of a component that listens on a Unix socket."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> str:
        """What it says. Raises MachineError."""
        connection = _SocketConnection(self._path)
        try:
            connection.request("GET", "/metrics")
            response = connection.getresponse()
            if response.status != 200:
                raise self._failed(f"it answers {response.status}")
            return response.read(_MOST_BYTES).decode(errors="replace")
        except (OSError, HTTPException) as error:
            raise self._failed(str(error)) from error
        finally:
            connection.close()

    def _failed(self, reason: str) -> MachineError:
        return MachineError(
            f"its metrics cannot be read: {reason}",
            where=str(self._path),
            remedy="look whether the component still runs",
        )


class _SocketConnection(HTTPConnection):
    """HTTP over a Unix socket, whose path may be longer than an address is."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=_TIMEOUT_S)
        self._path = path

    def connect(self) -> None:
        """Connect to the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(_TIMEOUT_S)
        folder = os.open(self._path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            # An address has 107 bytes, which the path of a run may exceed.
            self.sock.connect(f"/proc/self/fd/{folder}/{self._path.name}")
        finally:
            os.close(folder)
