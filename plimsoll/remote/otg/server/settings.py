"""Where the API listens, and to whom."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.host.processes.tcp_peer import starters
from plimsoll.web.endpoint import ListenEndpoint

# What others read.
UNKNOWN_USER = (
    "this server answers the user who started it; start it with --token for others, who use the "
    "location that it prints then"
)


@dataclass(frozen=True)
class OtgSettings:
    """REST at one endpoint, gRPC at another of the same address; None leaves gRPC out.

    `token` is what clients must bring; without one only `users` of this machine are answered.
    With `certificate` and `key`, PEM files, both are served over TLS.
    """

    rest: ListenEndpoint
    grpc_port: int | None
    token: str | None = None
    host_names: frozenset[str] = frozenset()
    certificate: Path | None = None
    key: Path | None = None
    users: frozenset[int] = field(default_factory=starters)

    def answers(self, user: int | None) -> bool:
        """Whether a client of that user id, None if it is not known, needs no token."""
        return self.token is None and user in self.users

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
