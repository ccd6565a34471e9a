"""Requests that change something come from our own pages alone, whatever a browser has open."""

from __future__ import annotations

from starlette.requests import Request

from plimsoll.web.security.access import same
from plimsoll.web.serve_settings import ServeSettings

KEY_HEADER = "x-plimsoll-key"
_READING = ("GET", "HEAD")


def is_forged(request: Request, settings: ServeSettings) -> bool:
    """Whether the request would change something and is not proven to be of our pages.

    Proof are the key that our pages carry, in a header that other sites may not send, and
    no Origin but our own.
    """
    if request.method in _READING:
        return False
    origin = request.headers.get("origin")
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if origin is not None and origin != own:
        return True
    return not same(request.headers.get(KEY_HEADER, ""), settings.form_key)
