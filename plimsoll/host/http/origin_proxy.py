"""A proxy on loopback for a client whose redirections cannot be turned off.

It connects to the servers that the client was given and to no other, so that whatever a server
redirects the client to is never reached. TLS is the client's own, from end to end.
"""

from __future__ import annotations

import base64
import hmac
import secrets
import socket
import threading
from collections.abc import Collection
from contextlib import suppress
from io import BufferedIOBase, BufferedReader
from socketserver import StreamRequestHandler, ThreadingTCPServer
from types import TracebackType
from typing import Self
from urllib.parse import SplitResult, unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from plimsoll.host.http.origin import Origin

_USER = "plimsoll"
_SECRET_BYTES = 24
_MAX_HEAD_BYTES = 1 << 16
_PIECE_BYTES = 1 << 16
_CONNECT_S = 30.0
_HEAD_S = 30.0
# How often it looks whether it is to end.
_TICK_S = 0.05
# Of this connection alone, not for the server.
_OWN_HEADERS = (b"proxy-authorization:", b"proxy-connection:", b"connection:")


class OriginProxy:
    """Listens within a `with`. Only who knows its URL, which has a secret, may use it."""

    def __init__(self, origins: Collection[Origin]) -> None:
        self._origins = frozenset(origins)
        self._secret = secrets.token_urlsafe(_SECRET_BYTES)
        # Where it was last requested to connect and did not.
        self.refused: str | None = None

    def __enter__(self) -> Self:
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_TICK_S,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """For the client, with the secret."""
        port = self._server.server_address[1]
        return f"http://{_USER}:{self._secret}@127.0.0.1:{port}"

    def knows(self, header: bytes) -> bool:
        """Whether that value of Proxy-Authorization has the secret."""
        expected = base64.b64encode(f"{_USER}:{self._secret}".encode())
        return hmac.compare_digest(header.strip(), b"Basic " + expected)

    def allows(self, url: str) -> bool:
        """Whether that is one of its servers; else it is remembered as `refused`."""
        try:
            allowed = Origin.of(url) in self._origins
        except ValueError:
            allowed = False
        if not allowed:
            self.refused = url
        return allowed


class _Server(ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, proxy: OriginProxy) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy = proxy

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is none; the base class would write on stderr."""


class _Handler(StreamRequestHandler):
    server: _Server
    timeout = _HEAD_S

    def handle(self) -> None:
        """One connection of the client's: to one server, until either hangs up."""
        try:
            method, target, headers = self._head()
        except (OSError, ValueError):
            return
        tunnel = method == b"CONNECT"
        url = f"https://{target}" if tunnel else target
        login = next((each for each in headers if _is(each, _OWN_HEADERS[0])), b":")
        if not self.server.proxy.knows(login.partition(b":")[2]):
            self._answer(b"407 Proxy Authentication Required")
        elif not self.server.proxy.allows(url):
            self._answer(b"403 Forbidden")
        else:
            self._pass_on(method, url, headers)

    def _head(self) -> tuple[bytes, str, list[bytes]]:
        """Method, target and headers. Raises OSError and ValueError."""
        line, *headers = _lines(self.rfile)
        method, target, _ = line.split(b" ")
        return method, target.decode("ascii"), headers

    def _answer(self, status: bytes) -> None:
        self.wfile.write(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n")

    def _pass_on(self, method: bytes, url: str, headers: list[bytes]) -> None:
        try:
            server = _connected(Origin.of(url))
        except (OSError, ValueError):
            self._answer(b"502 Bad Gateway")
            return
        with server, server.makefile("rb") as answers:
            if method == b"CONNECT":
                self.wfile.write(b"HTTP/1.1 200 Connected\r\n\r\n")
            else:
                server.sendall(_request(method, urlsplit(url), headers))
            self.connection.settimeout(None)
            back = threading.Thread(
                target=self._copy_back, args=(answers, method, url), daemon=True
            )
            back.start()
            # Of what the client sends, a part may have been read with its headers.
            _copy(self.rfile, server)
            _end(server, socket.SHUT_WR)
            back.join()

    def _copy_back(self, answers: BufferedReader, method: bytes, url: str) -> None:
        with suppress(OSError, ValueError):
            if method != b"CONNECT":
                head = _lines(answers)
                self._note_redirection(url, head)
                self.connection.sendall(b"\r\n".join([*head, b"", b""]))
            _copy(answers, self.connection)
        # The client's own end may still be to come, and nothing takes it any more.
        _end(self.connection, socket.SHUT_RDWR)

    def _note_redirection(self, url: str, head: list[bytes]) -> None:
        """For the message: where it leads, the client requests without the proxy's secret."""
        location = next((each[9:] for each in head if _is(each, b"location:")), b"")
        if head[0].split(b" ")[1][:1] == b"3" and location:
            self.server.proxy.allows(urljoin(url, location.strip().decode("latin-1")))


def _lines(source: BufferedIOBase) -> list[bytes]:
    """A request or an answer up to its body. Raises OSError and ValueError."""
    lines: list[bytes] = []
    left = _MAX_HEAD_BYTES
    while not lines or lines[-1]:
        line = source.readline(left)
        left -= len(line)
        if not line.endswith(b"\n"):
            raise ValueError("no whole head")
        lines.append(line.rstrip(b"\r\n"))
    return lines[:-1]


def _is(line: bytes, header: bytes) -> bool:
    return line.lower().startswith(header)


def _request(method: bytes, parts: SplitResult, headers: list[bytes]) -> bytes:
    """As the server itself is requested; one on each connection, as the next may be another's."""
    path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}".encode("ascii")
    kept = [each for each in headers if not any(_is(each, own) for own in _OWN_HEADERS)]
    lines = [method + b" " + path + b" HTTP/1.1", *kept, b"Connection: close", b"", b""]
    return b"\r\n".join(lines)


def _copy(source: BufferedIOBase, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.read1(_PIECE_BYTES):
            target.sendall(piece)


def _end(connection: socket.socket, how: int) -> None:
    with suppress(OSError):
        connection.shutdown(how)


def _connected(origin: Origin) -> socket.socket:
    """By the environment's proxy where it names one for that server. Raises OSError, ValueError."""
    proxy = None if proxy_bypass(origin.host) else getproxies().get(origin.scheme)
    if not proxy:
        return _opened(origin.host, origin.port)
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError("a proxy of that kind is not known here")
    server = _opened(parts.hostname, parts.port or 80)
    try:
        _tunnel(server, parts, origin)
    except BaseException:
        server.close()
        raise
    return server


def _opened(host: str, port: int) -> socket.socket:
    server = socket.create_connection((host, port), timeout=_CONNECT_S)
    server.settimeout(None)
    return server


def _tunnel(server: socket.socket, proxy: SplitResult, origin: Origin) -> None:
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    lines = [f"CONNECT {host}:{origin.port} HTTP/1.1", f"Host: {host}:{origin.port}"]
    if proxy.username is not None:
        login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(login.encode()).decode()}")
    server.sendall("\r\n".join([*lines, "", ""]).encode())
    answer = b""
    # A byte at a time: what follows belongs to the client.
    while not answer.endswith(b"\r\n\r\n") and len(answer) < _MAX_HEAD_BYTES:
        byte = server.recv(1)
        if not byte:
            break
        answer += byte
    if answer.split(b" ")[1:2] != [b"200"]:
        raise OSError("the proxy refuses")
