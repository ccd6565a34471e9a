"""A BMC on loopback, for tests: HTTPS with a certificate of its own authority.

Its answers are made by hand after the vendors' published schemas and attribute lists; none
was recorded from a machine. It keeps its requests.
"""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

USER, PASSWORD = "reader", "correct horse = battery"
ANSWERS = Path(__file__).parent / "answers"


@dataclass
class Bmc:
    """`requested` are (method, path, user and password or "") in order."""

    address: str
    ca_file: Path
    requested: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def methods(self) -> set[str]:
        return {method for method, _, _ in self.requested}


def answers(vendor: str, **attributes: object) -> dict[str, Any]:
    """The resources of answers/<vendor>.json, its Bios with other `attributes`."""
    resources: dict[str, Any] = json.loads((ANSWERS / f"{vendor}.json").read_text())
    for resource in resources.values():
        if "Attributes" in resource:
            resource["Attributes"] |= attributes
    return resources


@contextmanager
def bmc(resources: Mapping[str, Any], folder: Path) -> Iterator[Bmc]:
    """Serve `resources` by path: JSON, or bytes as they are; all but the root wants a password."""
    certificate = folder / "bmc.pem"
    _make_certificate(certificate)
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    served = Bmc(f"https://127.0.0.1:{server.server_address[1]}", certificate)
    server.RequestHandlerClass = _handler(resources, served)
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


def _handler(resources: Mapping[str, Any], served: Bmc) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            who = _who(self.headers.get("Authorization", ""))
            served.requested.append((self.command, self.path, who))
            path = self.path.rstrip("/")
            found = resources.get(path)
            if path != "/redfish/v1" and who != f"{USER}:{PASSWORD}":
                self._send(401, b"{}")
            elif self.command != "GET" or found is None:
                self._send(404, b"{}")
            else:
                self._send(200, found if isinstance(found, bytes) else json.dumps(found).encode())

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = _answer

        def _send(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _who(header: str) -> str:
    return base64.b64decode(header.removeprefix("Basic ")).decode() if header else ""


def _make_certificate(path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a BMC of a test")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
