"""A command that runs in a container: its standard input and output, over one web socket.

The protocol is Kubernetes' own (v4.channel.k8s.io, v5.channel.k8s.io): each message begins with
the number of its channel. The package's own reader is not used: it waits for the socket even
where TLS holds a message already, and then for ever.
"""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from typing import Any

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.kubernetes.exec_socket import connect_exec

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_STATUS = 3
_LONGEST_TAIL = 2000
# Below what proxies between us and the kubelet hold at once.
_BLOCK_BYTES = 1 << 15


class StreamEnded(PlimsollError):
    """The command ended, or the connection to it broke."""

    exit_code = MachineError.exit_code


class ExecStream:
    """Whole lines and blocks to and from one command. Not for several threads."""

    def __init__(self, socket: Any, name: str) -> None:
        """`socket` is a connected WebSocket, `name` the pod and container for messages."""
        self._socket = socket
        self._name = name
        self._output = bytearray()
        self._errors = b""

    def write(self, data: bytes) -> None:
        """Put it on the command's standard input. Raises StreamEnded."""
        for start in range(0, len(data), _BLOCK_BYTES):
            block = bytes([_STDIN]) + data[start : start + _BLOCK_BYTES]
            try:
                self._socket.send_binary(block)
            except _broken() as error:
                raise self._ended(str(error)) from error

    def read_line(self, timeout_s: float) -> bytes:
        """The next line of its output, without its end. Raises StreamEnded."""
        deadline = time.monotonic() + timeout_s
        while (end := self._output.find(b"\n")) < 0:
            self._receive(deadline)
        line = bytes(self._output[:end])
        del self._output[: end + 1]
        return line

    def read(self, length: int, timeout_s: float) -> bytes:
        """Exactly so many bytes of its output; `timeout_s` is for each part of them."""
        while len(self._output) < length:
            self._receive(time.monotonic() + timeout_s)
        block = bytes(self._output[:length])
        del self._output[:length]
        return block

    def take(self, timeout_s: float) -> bytes:
        """What of its output is there or comes with the next message, perhaps nothing.

        Raises StreamEnded.
        """
        if not self._output:
            self._receive(time.monotonic() + timeout_s)
        block = bytes(self._output)
        self._output.clear()
        return block

    def fileno(self) -> int:
        """Of the connection, to wait for messages where none is `held`."""
        return int(self._socket.sock.fileno())

    @property
    def held(self) -> bool:
        """Whether something is there already, of which the connection's descriptor says nothing."""
        return bool(self._output or self._pending(self._socket.sock))

    def close(self) -> None:
        """Hang up: the command sees the end of its input. Safe to repeat."""
        self._socket.close(timeout=1)

    def _receive(self, deadline: float) -> None:
        """Take one message. Raises StreamEnded."""
        self._wait(deadline)
        try:
            operation, frame = self._socket.recv_data_frame(control_frame=True)
        except _broken() as error:
            raise self._ended(str(error)) from error
        # The closing of a channel, 255 and its number, comes with the command's end as well.
        if operation == _close_operation():
            raise self._ended("the connection was closed")
        if operation in _data_operations() and frame.data:
            self._sort(frame.data[0], frame.data[1:])

    def _wait(self, deadline: float) -> None:
        connection = self._socket.sock
        if connection is None:
            raise self._ended("the connection was closed")
        if self._pending(connection):
            return
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            raise self._ended("it gave no answer in time")

    @staticmethod
    def _pending(connection: Any) -> bool:
        """Whether TLS holds a message, or a part of one."""
        return bool(getattr(connection, "pending", lambda: 0)())

    def _sort(self, channel: int, data: bytes) -> None:
        if channel == _STDOUT:
            self._output += data
        elif channel == _STDERR:
            self._errors = (self._errors + data)[-_LONGEST_TAIL:]
        elif channel == _STATUS:
            raise self._ended(data.decode(errors="replace"))

    def _ended(self, why: str) -> StreamEnded:
        said = self._errors.decode(errors="replace").strip().splitlines()[-1:]
        tail = f"; it said: {said[0]}" if said else ""
        return StreamEnded(
            f"the command there ended: {' '.join(why.split())}{tail}",
            where=self._name,
            remedy="go on with --resume",
        )


def open_exec(
    client: Any, namespace: str, pod: str, container: str | None, command: Sequence[str]
) -> ExecStream:
    """Start a command in a container, by default the pod's first one.

    `client` is what `configured_client` returns; its own connections go on as they are. Raises
    the package's ApiException, and Redirected.
    """
    socket = connect_exec(client, namespace, pod, container, command)
    return ExecStream(socket, f"{pod}/{container}" if container else pod)


def _broken() -> tuple[type[BaseException], ...]:
    from websocket import WebSocketException  # noqa: PLC0415

    return (WebSocketException, OSError)


def _close_operation() -> int:
    from websocket import ABNF  # noqa: PLC0415

    return int(ABNF.OPCODE_CLOSE)


def _data_operations() -> tuple[int, ...]:
    from websocket import ABNF  # noqa: PLC0415

    return (ABNF.OPCODE_BINARY, ABNF.OPCODE_TEXT)
