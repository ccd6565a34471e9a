"""The guard in front of the application: every request passes it, every answer leaves by it.

Which names a browser may call us by. A page of another site can have its own name resolved to our
address (DNS rebinding), and then counts as ours in the browser. It cannot change the name that the
browser sends in Host.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll.web.endpoint import ListenEndpoint, ServedEndpoint, ServeSettings
from plimsoll.web.security.access import ENTRY_PATH, Access, IdentityProof


def is_own_name(host: str, endpoint: ServedEndpoint, names: frozenset[str]) -> bool:
    """Whether `host`, a request's Host header, names this server: `name` or `name:port`.

    That is `localhost`, one of `names`, or an address: the one that is listened on, of the
    loopback, or any where all are listened on. The port may be another: tunnels change it.
    """
    name = _without_port(host).lower()
    if name == "localhost" or name in names:
        return True
    try:
        address = ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    if address.is_loopback or not isinstance(endpoint, ListenEndpoint):
        return address.is_loopback
    bound = ipaddress.ip_address(endpoint.address)
    return bound.is_unspecified or address == bound


def _without_port(host: str) -> str:
    if host.startswith("["):
        name, bracket, port = host.partition("]")
        return f"{name}{bracket}" if not port or _is_port(port.removeprefix(":")) else ""
    name, colon, port = host.partition(":")
    return name if not colon or _is_port(port) else ""


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit()


LOGIN_PATH = "/login"
# What a browser that is not known yet needs to become so, and how that page looks.
_OPEN = frozenset(
    {ENTRY_PATH, LOGIN_PATH, "/assets/report.css", "/assets/app.css", "/assets/mark.svg"}
)
_READING = ("GET", "HEAD")
# What a browser never adds by itself to a request of another page: a header with the token, and
# a connection to a Unix socket.
_DELIBERATE = ("token", "peer")
# Our pages run our own scripts and styles, load from nowhere else, and stand in no foreign frame.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
# A report is a page of a run directory, which may be from anybody: it has an origin of its own,
# so its scripts reach nothing here, and its own policy holds in addition.
REPORT_POLICY = (
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'"
)
_ALWAYS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """ASGI middleware. Refuses foreign names, those who prove nothing, and forged requests."""

    def __init__(
        self,
        app: ASGIApp,
        settings: ServeSettings,
        access: Access,
        login_page: Callable[[Request], Response],
    ) -> None:
        self._app = app
        self._settings = settings
        self._access = access
        self._login_page = login_page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it here."""
        if scope["type"] != "http":
            # There are no others: the server has neither web sockets nor a lifespan.
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(guarded_headers(headers))
            await send(message)

        answer = self._answer(Request(scope))
        await (answer or self._app)(scope, receive, guarded)

    def _answer(self, request: Request) -> Response | None:
        """What is answered instead of the application; None where it may."""
        settings = self._settings
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not is_own_name(hosts[0], settings.endpoint, settings.host_names):
            return _refused(
                421, "This server does not go by that name. Allow it with: plimsoll serve --host"
            )
        proof = self._access.proof(request)
        if proof is None and not (self._access.needs_login and request.url.path in _OPEN):
            return self._unknown(request)
        if is_forged(request, proof):
            return _refused(403, "This request did not come from a page of this server. Reload it.")
        return None

    def _unknown(self, request: Request) -> Response:
        """For those who prove nothing: a page to people, a line to programs."""
        if not self._access.needs_login:
            return _refused(403, "This socket answers the user who runs the server, and root.")
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            return self._login_page(request)
        return _refused(
            401,
            "Log in with the token: in a browser by reloading the page, in a program by the header "
            "Authorization: Bearer TOKEN. plimsoll serve has printed where it is.",
            {"www-authenticate": "Bearer"},
        )


def _refused(status: int, reason: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(reason + "\n", status_code=status, headers=headers)


# Requests that change something come from our own pages, whatever else a browser has open.
def is_forged(request: Request, proof: IdentityProof | None) -> bool:
    """Whether another site's page may have had a browser send this, which changes something.

    Browsers name the page's site in Origin, and no page can change that. It must be ours, and may
    be missing where a browser cannot have sent the proof.
    """
    if request.method in _READING:
        return False
    origin = request.headers.get("origin")
    if origin is None:
        return proof not in _DELIBERATE
    return origin != f"{request.url.scheme}://{request.headers.get('host', '')}"


# What every answer forbids the browser to do with it.
def guarded_headers(given: Mapping[str, str]) -> dict[str, str]:
    """Those to add to an answer that has `given` ones already."""
    defaults = {
        **_ALWAYS,
        "content-security-policy": PAGE_POLICY,
        "cache-control": "no-store",
    }
    return {name: value for name, value in defaults.items() if name not in given}
