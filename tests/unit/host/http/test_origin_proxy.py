"""A proxy that leads to one server: what goes through it, and what does not."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import urllib3

from plimsoll.host.http.origin import Origin
from plimsoll.host.http.origin_proxy import OriginProxy


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was sent."""

    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        content = f"{self.requestline}\n{self.headers}".encode() + body
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def echo() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)


def through(proxy: OriginProxy, url: str, body: bytes = b"") -> urllib3.BaseHTTPResponse:
    parts = urllib3.util.parse_url(proxy.url)
    login = urllib3.make_headers(proxy_basic_auth=parts.auth)
    pool = urllib3.ProxyManager(f"http://127.0.0.1:{parts.port}", proxy_headers=login)
    return pool.request("PUT", url, body=body, retries=False, headers={"X-One": "1", **login})


def spoken(proxy: OriginProxy, request: bytes) -> bytes:
    """What it answers to bytes, until it hangs up."""
    port = urllib3.util.parse_url(proxy.url).port
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        try:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(65536):
                answer += piece
        except OSError as error:
            # Whichever call it is that comes after it hung up with bytes unread.
            if error.errno not in (errno.ECONNRESET, errno.EPIPE, errno.ENOTCONN):
                raise
    return answer


def test_requests_reach_the_server_without_what_is_the_proxys_own() -> None:
    body = b"x" * 3_000_000
    with echo() as server, OriginProxy([Origin.of(server)]) as proxy:
        answer = through(proxy, f"{server}/a?b=c", body)
        head, _, echoed = answer.data.partition(b"\n\n")
    assert echoed == body
    assert head.startswith(b"PUT /a?b=c HTTP/1.1\n")
    assert b"X-One: 1" in head
    assert b"proxy-" not in head.lower()
    assert proxy.refused is None


def test_a_tunnel_reaches_the_server() -> None:
    with echo() as server, OriginProxy([Origin.of(server.replace("http", "https"))]) as proxy:
        host = server.removeprefix("http://")
        login = urllib3.make_headers(proxy_basic_auth=urllib3.util.parse_url(proxy.url).auth)
        opened = (
            f"CONNECT {host} HTTP/1.1\r\nProxy-Authorization: {login['proxy-authorization']}\r\n"
        )
        inner = "PUT /in HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"
        answer = spoken(proxy, f"{opened}\r\n{inner}".encode())
    assert answer.startswith(b"HTTP/1.1 200 Connected\r\n\r\nHTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"hi")


@pytest.mark.parametrize("method", ["PUT {0}/x", "CONNECT {1}"])
def test_no_other_server_is_reached(method: str) -> None:
    with echo() as server, echo() as other, OriginProxy([Origin.of(server)]) as proxy:
        login = urllib3.make_headers(proxy_basic_auth=urllib3.util.parse_url(proxy.url).auth)
        line = method.format(other, other.removeprefix("http://"))
        request = f"{line} HTTP/1.1\r\nProxy-Authorization: {login['proxy-authorization']}\r\n\r\n"
        answer = spoken(proxy, request.encode())
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert proxy.refused is not None
    assert other.removeprefix("http://") in proxy.refused


@pytest.mark.parametrize("login", ["", "Proxy-Authorization: Basic cGxpbXNvbGw6Z3Vlc3M=\r\n"])
def test_no_one_else_gets_through(login: str) -> None:
    with echo() as server, OriginProxy([Origin.of(server)]) as proxy:
        answer = spoken(proxy, f"PUT {server}/ HTTP/1.1\r\n{login}\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 407 ")


@pytest.mark.parametrize(
    "request_bytes",
    [b"", b"\r\n\r\n", b"PUT\r\n\r\n", b"\x16\x03\x01\x00", b"PUT \xff HTTP/1.1\r\n\r\n",
     b"PUT http://h/ HTTP/1.1\r\n" + b"A: b\r\n" * 20_000],
)  # fmt: skip
def test_what_is_no_request_is_hung_up_on(request_bytes: bytes) -> None:
    with echo() as server, OriginProxy([Origin.of(server)]) as proxy:
        assert spoken(proxy, request_bytes) == b""
        assert through(proxy, f"{server}/").status == 200


def test_a_server_that_is_not_there_is_said() -> None:
    with OriginProxy([Origin.of("http://127.0.0.1:1")]) as proxy:
        assert through(proxy, "http://127.0.0.1:1/").status == 502


@pytest.mark.parametrize(("leads_there", "status"), [(True, 200), (False, 502)])
def test_the_way_there_may_be_by_the_environments_proxy(
    leads_there: bool, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another of ours stands in for it, which wants its own secret."""
    with echo() as server:
        tunnelled = [Origin.of(server.replace("http", "https"))] if leads_there else []
        with OriginProxy(tunnelled) as outer, OriginProxy([Origin.of(server)]) as proxy:
            monkeypatch.setenv("http_proxy", outer.url)
            monkeypatch.setenv("no_proxy", "")
            assert through(proxy, f"{server}/", b"by way of").status == status
