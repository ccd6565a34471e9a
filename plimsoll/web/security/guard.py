"""The guard in front of the application: every request passes it, every answer leaves by it."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plimsoll.web.security.access import entering, may_enter
from plimsoll.web.security.forgery import is_forged
from plimsoll.web.security.headers import guarded_headers
from plimsoll.web.security.host_names import is_own_name
from plimsoll.web.serve_settings import ServeSettings


class Guard:
    """ASGI middleware. Refuses foreign names, missing tokens and forged requests."""

    def __init__(self, app: ASGIApp, settings: ServeSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
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
        entry = entering(request, settings)
        if entry is not None:
            return entry
        if not may_enter(request, settings):
            return _refused(401, "Open the address with the token that plimsoll serve has printed.")
        if is_forged(request, settings):
            return _refused(403, "This request did not come from a page of this server. Reload it.")
        return None


def _refused(status: int, reason: str) -> Response:
    return PlainTextResponse(reason + "\n", status_code=status)
