"""A command that runs in a container: its standard input and output, over one web socket.

The protocol is Kubernetes' own (v4.channel.k8s.io, v5.channel.k8s.io): each message begins with
the number of its channel. The package's own reader is not used: it waits for the socket even
where TLS holds a message already, and then for ever.
"""

from __future__ import annotations

import select
import ssl
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from plimsoll.errors import MachineError, PlimsollError
from plimsoll.host.http.origin import REDIRECTIONS, Redirected
from plimsoll.host.kubernetes.client_settings import SERVER_SETTING

_STDIN, _STDOUT, _STDERR = 0, 1, 2
_STATUS = 3
_LONGEST_TAIL = 2000
# Below what proxies between us and the kubelet hold at once.
_BLOCK_BYTES = 1 << 15
_PROTOCOLS = "v5.channel.k8s.io,v4.channel.k8s.io"


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
            remedy="resume the run with --resume",
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


# The web socket of a command in a container, to the API server and nowhere else.
#
# It is connected here and not by the package, which sends the token again to whatever host a
# redirection names, encrypted or not.
def connect_exec(
    client: Any, namespace: str, pod: str, container: str | None, command: Sequence[str]
) -> Any:
    """A connected WebSocket. Raises the package's ApiException, and Redirected.

    `client` is what `configured_client` returns.
    """
    from kubernetes.client.exceptions import ApiException  # noqa: PLC0415
    from websocket import WebSocket, WebSocketException  # noqa: PLC0415

    url = str(client.configuration.host) + _path(namespace, pod, container, command)
    socket: Any = WebSocket(sslopt=_tls(client.configuration))
    try:
        socket.connect(
            # http becomes ws, and https wss.
            url.replace("http", "ws", 1),
            header=_headers(client),
            redirect_limit=0,
            **_proxy(client.configuration, url),
        )
    except (WebSocketException, OSError, ValueError) as error:
        _check_redirection(socket, url)
        raise ApiException(status=0, reason=str(error)) from None
    _check_redirection(socket, url)
    return socket


def _path(namespace: str, pod: str, container: str | None, command: Sequence[str]) -> str:
    place = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(pod, safe='')}/exec"
    query = [("command", word) for word in command]
    query += [("container", container)] if container else []
    query += [("stdin", "true"), ("stdout", "true"), ("stderr", "true"), ("tty", "false")]
    return f"{place}?{urlencode(query)}"


def _headers(client: Any) -> list[str]:
    login: dict[str, str] = {}
    client.update_params_for_auth(login, [], ["BearerToken"])
    return [f"{name}: {value}" for name, value in login.items()] + [
        f"sec-websocket-protocol: {_PROTOCOLS}"
    ]


def _tls(settings: Any) -> dict[str, Any]:
    """As the package has it."""
    import certifi  # noqa: PLC0415 - of the package

    options: dict[str, Any] = {"cert_reqs": ssl.CERT_NONE}
    if settings.verify_ssl:
        authorities = settings.ssl_ca_cert or certifi.where()
        options = {"cert_reqs": ssl.CERT_REQUIRED, "ca_certs": authorities}
    given = {
        "check_hostname": settings.assert_hostname if settings.verify_ssl else None,
        "certfile": settings.cert_file,
        "keyfile": settings.key_file,
        "server_hostname": settings.tls_server_name,
    }
    return options | {name: value for name, value in given.items() if value is not None}


def _proxy(settings: Any, url: str) -> Mapping[str, Any]:
    if not (settings.proxy or settings.proxy_headers):
        return {}
    from kubernetes.stream.ws_client import websocket_proxycare  # noqa: PLC0415

    return dict(websocket_proxycare({}, settings, url, None))


def _check_redirection(socket: Any, url: str) -> None:
    """Raise Redirected where the server's answer was one."""
    answer = socket.handshake_response
    if answer is not None and answer.status in REDIRECTIONS:
        location = answer.headers.get("location")
        raise Redirected(url, answer.status, location, setting=SERVER_SETTING)
