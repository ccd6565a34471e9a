"""The origin of a URL (RFC 6454): the one server that a credential is for."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port. The same host on another port, or without TLS, is another origin."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: str) -> Origin:
        """The origin of an absolute URL. Raises ValueError where it has none."""
        parts = urlsplit(url)
        port = _DEFAULT_PORTS.get(parts.scheme) if parts.port is None else parts.port
        if not parts.hostname or port is None:
            raise ValueError("not an absolute URL of HTTP")
        return cls(parts.scheme, parts.hostname, port)

    @property
    def keeps_secrets(self) -> bool:
        """Whether what is sent there is encrypted, or does not leave this machine."""
        return self.scheme in ("https", "wss") or self._is_here

    @property
    def _is_here(self) -> bool:
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"
