"""Who may ask, and how that is proved: token, session, entry code, or the user at a Unix socket."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Callable
from typing import Literal
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from plimsoll.web.endpoint import ListenEndpoint, ServeSettings
from plimsoll.web.quiet_server import PEER_UID


def same(given: str, expected: str) -> bool:
    """Compared in a time that says nothing of where they differ."""
    return hmac.compare_digest(_bytes(given), _bytes(expected))


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


_BYTES = 32
# Time to open a browser, and not so much that a link in a terminal's history is worth finding.
CODE_LIFETIME_S = 15 * 60
# Since it was last used: a page of a soak that was left open for a week goes on.
_IDLE_S = 7 * 24 * 3600
_MAX_SESSIONS = 1000

_Clock = Callable[[], float]


class EntryCodes:
    """Codes in links, each good for one entry and a quarter of an hour."""

    def __init__(self, clock: _Clock = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def make(self) -> str:
        """A new one."""
        code = secrets.token_urlsafe(_BYTES)
        self._until[code] = self._clock() + CODE_LIFETIME_S
        return code

    def take(self, given: str) -> bool:
        """Whether it is one that is still good; from now on it is not."""
        now = self._clock()
        self._until = {code: until for code, until in self._until.items() if until > now}
        # All are looked at, so that the time that it takes tells nothing of any.
        found = [code for code in self._until if same(given, code)]
        return bool(found) and self._until.pop(found[0]) > now


class Sessions:
    """Those of this process, by ids that have nothing to do with the token and end with it."""

    def __init__(self, clock: _Clock = time.monotonic) -> None:
        self._clock = clock
        # When each was last used, by its id's digest, the longest unused first.
        self._used: dict[bytes, float] = {}

    def begin(self) -> str:
        """The id of a new one. With too many the one that was not used for longest ends."""
        identity = secrets.token_urlsafe(_BYTES)
        self._used[_digest(identity)] = self._clock()
        while len(self._used) > _MAX_SESSIONS:
            del self._used[next(iter(self._used))]
        return identity

    def has(self, given: str) -> bool:
        """Whether it is the id of one."""
        # Found by its digest: the time of a look-up says nothing of the id.
        digest, now = _digest(given), self._clock()
        used = self._used.pop(digest, None)
        if used is None or now - used > _IDLE_S:
            return False
        self._used[digest] = now
        return True


def _digest(identity: str) -> bytes:
    return hashlib.sha256(identity.encode(errors="surrogateescape")).digest()


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
