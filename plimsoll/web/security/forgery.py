"""Requests that change something come from our own pages, whatever else a browser has open."""

from __future__ import annotations

from starlette.requests import Request

from plimsoll.web.security.access import IdentityProof

_READING = ("GET", "HEAD")
# What a browser never adds by itself to a request of another page: a header with the token, and
# a connection to a Unix socket.
_DELIBERATE = ("token", "peer")


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
