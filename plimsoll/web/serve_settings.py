"""What `plimsoll serve` is to serve, where, and to whom."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.web.endpoint import ListenEndpoint

_SECRET_BYTES = 32


@dataclass(frozen=True)
class ServeSettings:
    """`runs_root` holds the runs; what experiments name lies in `experiments_root`.

    `host_names` are further names by which browsers may call this server. `token` is what they
    must bring; None lets everybody in who reaches the endpoint. `form_key` is drawn anew for
    each process: pages carry it, other sites cannot read it.
    """

    runs_root: Path
    experiments_root: Path
    endpoint: ListenEndpoint
    host_names: frozenset[str] = frozenset()
    token: str | None = None
    form_key: str = field(default_factory=lambda: secrets.token_urlsafe(_SECRET_BYTES))

    @property
    def address(self) -> str:
        """Where to point a browser."""
        host = self.endpoint.address
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.endpoint.port}/"


def is_loopback(endpoint: ListenEndpoint) -> bool:
    """Whether only this machine reaches it."""
    return ipaddress.ip_address(endpoint.address).is_loopback


def new_token() -> str:
    """A token that no one guesses."""
    return secrets.token_urlsafe(_SECRET_BYTES)
