"""A server on loopback that redirects, and the one it redirects to: two origins.

Both keep whatever reaches them.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.integration.cluster.credentials import Authority


@dataclass
class Origin:
    """Answers 200 to all with `{}`, unless it has an answer by path or redirects.

    `location` says where, for the path and query of a request.
    """

    url: str
    location: Callable[[str], str] | None = None
    status: int = 307
    answers: Mapping[str, bytes] = field(default_factory=dict)
    # Each request as it came: request line, headers, body.
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0

    @property
    def received(self) -> bytes:
        return b"\n".join(self.requests)


@contextmanager
def origin(*, host: str = "127.0.0.1", certificate: Path | None = None) -> Iterator[Origin]:
    """One that listens; with `certificate`, which has its key, by TLS."""
    server = ThreadingHTTPServer((host, 0), BaseHTTPRequestHandler)
    server.daemon_threads = True
    scheme = "https" if certificate else "http"
    served = Origin(f"{scheme}://{host}:{server.server_address[1]}")
    server.RequestHandlerClass = _handler(served)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def make_certificates(folder: Path) -> tuple[Path, Path]:
    """(authority, server's certificate with its key), for 127.0.0.1."""
    authority, own = folder / "ca.pem", folder / "own.pem"
    issuer = Authority("origins of a test")
    identity = issuer.for_server()
    authority.write_bytes(issuer.certificate)
    own.write_bytes(identity.certificate + identity.key)
    return authority, own


def _handler(served: Origin) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            served.connections += 1
            super().setup()

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            served.requests.append(f"{self.requestline}\n{self.headers}".encode() + body)
            found = served.answers.get(self.path.partition("?")[0])
            location = served.location if found is None else None
            self.send_response(served.status if location else 200)
            if location:
                self.send_header("Location", location(self.path))
            content = found or b"{}"
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

        def log_message(self, *_: object) -> None:
            pass

    return Handler
