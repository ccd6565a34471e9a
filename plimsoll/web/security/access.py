"""The token: in the address that is printed at the start, then in a cookie of the browser."""

from __future__ import annotations

import hmac
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from plimsoll.web.serve_settings import ServeSettings

PARAMETER = "token"


def entry_address(settings: ServeSettings) -> str:
    """The address to print: with the token where one is needed."""
    if settings.token is None:
        return settings.address
    return f"{settings.address}?{urlencode({PARAMETER: settings.token})}"


def cookie_name(settings: ServeSettings) -> str:
    """Cookies know no ports: servers on one host have one each."""
    return f"plimsoll-{settings.endpoint.port}"


def may_enter(request: Request, settings: ServeSettings) -> bool:
    """Whether no token is needed, or the cookie or `Authorization: Bearer` has it."""
    if settings.token is None:
        return True
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    given = bearer if scheme.lower() == "bearer" else request.cookies.get(cookie_name(settings), "")
    return same(given, settings.token)


def entering(request: Request, settings: ServeSettings) -> Response | None:
    """For an address with the right token: the cookie, and on to the address without it."""
    if settings.token is None or request.method not in ("GET", "HEAD"):
        return None
    if not same(request.query_params.get(PARAMETER, ""), settings.token):
        return None
    left = [(k, v) for k, v in request.query_params.multi_items() if k != PARAMETER]
    # Of one slash alone: what begins with two is another site's address.
    path = "/" + request.url.path.lstrip("/")
    response = RedirectResponse(path + (f"?{urlencode(left)}" if left else ""), status_code=303)
    response.set_cookie(
        cookie_name(settings), settings.token, httponly=True, samesite="lax", path="/"
    )
    return response


def same(given: str, expected: str) -> bool:
    """Compared in a time that says nothing of where they differ."""
    return hmac.compare_digest(given.encode(), expected.encode())
