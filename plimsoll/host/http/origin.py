"""The origin of a URL (RFC 6454): the one server that a credential is for."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit, urlunsplit

from plimsoll.errors import MachineError
from plimsoll.text.plain_text import plain_text

_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
REDIRECTIONS = frozenset({301, 302, 303, 307, 308})
_LONGEST = 200


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


# A server that redirects a client which holds a credential.
#
# No such redirection is followed to another origin: the other server would see the credential, or
# its answers would be taken for those of the server that was chosen. API servers have no need of
# redirections, so most clients follow none at all.
class Redirected(MachineError):
    """The answer `status`, with where the server wants the client to go."""

    def __init__(self, url: str, status: int, location: str | None, *, setting: str) -> None:
        """`location` is the answer's header; `setting` is where the user chooses the server."""
        self.status = status
        super().__init__(
            f"the server redirects to {_shown(url, location)} (HTTP {status}), which is not "
            "followed: what it is sent is for this server alone",
            where=_without_query(url),
            remedy=f"if that is the right server, write its address in {setting}",
        )


def _shown(url: str, location: str | None) -> str:
    if not location:
        return "a place that it does not name"
    try:
        return _without_query(urljoin(url, location))
    except ValueError:
        return plain_text(location, _LONGEST)


def _without_query(url: str) -> str:
    """Without what may be secret, or drive a terminal."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return plain_text(urlunsplit((parts.scheme, host, parts.path, "", "")), _LONGEST)
