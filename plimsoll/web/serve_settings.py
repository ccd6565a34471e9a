"""What `plimsoll serve` is to serve, where, and to whom."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass
from pathlib import Path

from plimsoll.text.named_program import NOTHING, AllowedPrograms
from plimsoll.web.endpoint import ListenEndpoint, ServedEndpoint

_SECRET_BYTES = 32


@dataclass(frozen=True)
class ServeSettings:
    """`runs_root` holds the runs; what experiments name lies in `experiments_root`.

    `host_names` are further names by which browsers may call this server. `token` is what opens
    it over TCP; None lets in everybody who reaches the endpoint. At a Unix socket the user at its
    other end counts instead. `programs` is what experiments may have run.
    """

    runs_root: Path
    experiments_root: Path
    endpoint: ServedEndpoint
    host_names: frozenset[str] = frozenset()
    token: str | None = None
    programs: AllowedPrograms = NOTHING

    @property
    def address(self) -> str:
        """Where to point a browser; by way of a Unix socket that is up to its other end."""
        if not isinstance(self.endpoint, ListenEndpoint):
            return "http://localhost/"
        host = self.endpoint.address
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self.endpoint.port}/"


def is_loopback(endpoint: ListenEndpoint) -> bool:
    """Whether only this machine reaches it."""
    return ipaddress.ip_address(endpoint.address).is_loopback


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(_SECRET_BYTES)
