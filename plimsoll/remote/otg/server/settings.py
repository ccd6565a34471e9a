"""Where the API listens, and to whom."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plimsoll.web.endpoint import ListenEndpoint


@dataclass(frozen=True)
class OtgSettings:
    """REST at one endpoint, gRPC at another of the same address; None leaves gRPC out.

    `token` is what clients must bring; None lets everybody in who reaches the endpoints.
    With `certificate` and `key`, PEM files, both are served over TLS.
    """

    rest: ListenEndpoint
    grpc_port: int | None
    token: str | None = None
    host_names: frozenset[str] = frozenset()
    certificate: Path | None = None
    key: Path | None = None

    @property
    def host(self) -> str:
        """The address as it stands in URLs."""
        return f"[{self.rest.address}]" if ":" in self.rest.address else self.rest.address

    @property
    def rest_location(self) -> str:
        """What a snappi client is given as its location for HTTP; it holds the token."""
        scheme = "https" if self.certificate else "http"
        token = f"/{self.token}" if self.token else ""
        return f"{scheme}://{self.host}:{self.rest.port}{token}"

    @property
    def grpc_location(self) -> str | None:
        """And for gRPC."""
        return None if self.grpc_port is None else f"{self.host}:{self.grpc_port}"
