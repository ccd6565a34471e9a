"""Who may ask: who brings the token, a browser with a session, or the user at a Unix socket."""

from __future__ import annotations

import os
from typing import Literal
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from plimsoll.web.endpoint import ListenEndpoint
from plimsoll.web.peer import PEER_UID
from plimsoll.web.security.comparison import same
from plimsoll.web.security.sessions import EntryCodes, Sessions
from plimsoll.web.serve_settings import ServeSettings

ENTRY_PATH, CODE = "/enter", "code"
# How a request proved that it may ask: by the token in a header, by a browser's cookie, by whose
# socket it came through, or not at all where no token is needed.
IdentityProof = Literal["token", "session", "peer", "none"]


class Access:
    """The one of a server: its token, its codes and its sessions."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        self._codes = EntryCodes()
        self._sessions = Sessions()
        endpoint = settings.endpoint
        # Cookies know no ports: servers on one host have one each.
        self._port = endpoint.port if isinstance(endpoint, ListenEndpoint) else None
        self._cookie = f"plimsoll-{self._port}"

    @property
    def needs_login(self) -> bool:
        """Whether a browser that comes for the first time must prove anything."""
        return self._port is not None and self._settings.token is not None

    def entry_address(self) -> str:
        """An address to point a browser at, which opens once where a token is needed."""
        if not self.needs_login:
            return self._settings.address
        path = self._settings.address.rstrip("/") + ENTRY_PATH
        return f"{path}?{urlencode({CODE: self._codes.make()})}"

    def proof(self, request: Request) -> IdentityProof | None:
        """How the request proves that it may ask; None where it does not."""
        if self._port is None:
            return "peer" if self._is_own_peer(request) else None
        if self._settings.token is None:
            return "none"
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return "token" if self.is_token(bearer.strip()) else None
        return "session" if self._sessions.has(request.cookies.get(self._cookie, "")) else None

    def is_token(self, given: str) -> bool:
        """Whether it is the token."""
        return self._settings.token is not None and same(given, self._settings.token)

    def take_code(self, given: str) -> bool:
        """Whether it is a code that is still good; from now on it is not."""
        return self._codes.take(given)

    def let_in(self, request: Request, path: str) -> Response:
        """On to a path of ours, with the cookie of a new session."""
        response = RedirectResponse(own_path(path), status_code=303)
        response.set_cookie(
            self._cookie,
            self._sessions.begin(),
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
            path="/",
        )
        return response

    def _is_own_peer(self, request: Request) -> bool:
        """Whether the user at the other end is ours, or root."""
        return request.scope.get("state", {}).get(PEER_UID) in (os.geteuid(), 0)


def own_path(path: str) -> str:
    """The path, or the first page where it may lead to another site: //host, or /\\host."""
    plain = path.startswith("/") and path[1:2] not in ("/", "\\") and path.isprintable()
    return path if plain else "/"
