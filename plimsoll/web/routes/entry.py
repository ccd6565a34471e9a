"""How a browser gets its session: by a link that opens once, or by the token in a form."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from plimsoll.web.pages.rendering import render
from plimsoll.web.routes.service import service_of
from plimsoll.web.security.access import CODE, CODE_LIFETIME_S, ENTRY_PATH, own_path
from plimsoll.web.security.guard import LOGIN_PATH

_NEXT, _TOKEN = "next", "token"
_MAX_BODY_BYTES = 8192
# What a browser says of a page that it fetches before anybody opens it.
_AHEAD = ("sec-purpose", "purpose", "x-moz", "x-purpose")


async def enter(request: Request) -> Response:
    """Exchange the code for a session, and on to an address without it."""
    if request.method == "HEAD" or _is_ahead(request):
        return Response(status_code=204)
    access = service_of(request).access
    if access.take_code(request.query_params.get(CODE, "")):
        response = access.let_in(request, "/")
    else:
        # Known browsers are let in there, others read how to log in.
        response = RedirectResponse("/", status_code=303)
    response.headers["referrer-policy"] = "no-referrer"
    return response


async def login(request: Request) -> Response:
    """The form, for those who are not known; on to the page that they came for, for others."""
    access = service_of(request).access
    if access.proof(request) is None:
        return login_page(request)
    return RedirectResponse(own_path(request.query_params.get(_NEXT, "/")), status_code=303)


async def log_in(request: Request) -> Response:
    """Exchange the token for a session."""
    fields = parse_qs(await _body(request))
    path = fields.get(_NEXT, ["/"])[0]
    access = service_of(request).access
    if not access.is_token(fields.get(_TOKEN, [""])[0].strip()):
        return _page(path, wrong=True)
    return access.let_in(request, path)


def login_page(request: Request) -> Response:
    """Instead of a page, for those who are not known.

    Who follows a link of another site's has a session, too, of which the browser says nothing
    then (SameSite=Strict): this page has it ask again, as one of ours.
    """
    at_login = request.url.path == LOGIN_PATH
    query = f"?{request.url.query}" if request.url.query else ""
    path = request.query_params.get(_NEXT, "/") if at_login else request.url.path + query
    linked = request.headers.get("sec-fetch-site") == "cross-site" and not at_login
    return _page(path, linked=linked)


def _page(path: str, *, wrong: bool = False, linked: bool = False) -> Response:
    content = {
        "next": own_path(path),
        "login": LOGIN_PATH,
        "wrong": wrong,
        "linked": linked,
        "minutes": CODE_LIFETIME_S // 60,
    }
    return HTMLResponse(
        render("login.html.j2", content), status_code=401, headers={"www-authenticate": "Bearer"}
    )


def _is_ahead(request: Request) -> bool:
    said = " ".join(request.headers.get(name, "") for name in _AHEAD).lower()
    return "prefetch" in said or "preview" in said or "prerender" in said


async def _body(request: Request) -> str:
    """The form's; nothing of one that is too long."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > _MAX_BODY_BYTES:
            return ""
    return content.decode(errors="replace")


ROUTES = (
    Route(ENTRY_PATH, enter),
    Route(LOGIN_PATH, login),
    Route(LOGIN_PATH, log_in, methods=["POST"]),
)
