"""From an experiment to a server: its lab and generator up, and the API over them."""

from __future__ import annotations

import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.live_traffic.experiment_traffic import live_traffic
from plimsoll.benchmark.live_traffic.live_trial import LiveSettings
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.errors import InputError
from plimsoll.host.processes.affinity import quick_to_answer
from plimsoll.host.processes.tcp_peer import loopback_peer_uid
from plimsoll.remote.otg.flows.ends import Tester
from plimsoll.remote.otg.model.published import (
    Refusal,
    content_of,
    message_of,
    messages,
    parse_json,
)
from plimsoll.remote.otg.server.grpc_service import (
    MAX_REQUEST_BYTES,
    OPERATIONS,
    Operation,
    make_server,
)
from plimsoll.remote.otg.server.settings import UNKNOWN_USER, OtgSettings
from plimsoll.remote.otg.session.session import OtgSession
from plimsoll.traffic.frames.packet import MAX_FRAME_SIZE, MIN_FRAME_SIZE
from plimsoll.web.quiet_server import QuietServer, listening, quiet_config
from plimsoll.web.security.access import same
from plimsoll.web.security.guard import is_own_name

# A request for metrics waits for the end of the interval that is under way.
_LIVE = LiveSettings(interval_s=0.2, shares_cpus=True)
_STATUS = {"validation": 400, "internal": 500}
_Endpoint = Callable[[Request], Awaitable[Response]]


def serve_otg(
    experiment: Experiment,
    settings: OtgSettings,
    *,
    locations: Mapping[str, int],
    largest_frame_size: int,
    tell: Callable[[str], None],
    ready: Callable[[], None],
) -> None:
    """Serve the API over the experiment's lab until a signal.

    Its profile and search play no part. `locations` are names of ports in configurations,
    `largest_frame_size` is what flows may send (bytes with FCS). `ready` is called when clients
    may come.
    """
    if not MIN_FRAME_SIZE <= largest_frame_size <= MAX_FRAME_SIZE:
        raise InputError(
            f"{largest_frame_size} bytes is no frame size",
            where="--largest-frame",
            remedy=f"give {MIN_FRAME_SIZE} to {MAX_FRAME_SIZE} bytes with FCS",
        )
    plan = replace(TestbedConfig.of(experiment), largest_frame_size=largest_frame_size)
    with (
        listening(settings.rest) as listener,
        live_traffic(plan, command="otg", settings=_LIVE, tell=tell) as traffic,
        quick_to_answer(),
    ):
        tester = Tester(
            port_count=len(traffic.ports),
            paths=tuple(traffic.paths),
            line_rate_bps=traffic.line_rate_bps,
            locations=_checked(locations, len(traffic.ports)),
            largest_frame_size=largest_frame_size,
        )
        serve_until_signal(OtgSession(traffic, tester), settings, listener, ready)


def _checked(locations: Mapping[str, int], port_count: int) -> Mapping[str, int]:
    for name, port in locations.items():
        if not 0 <= port < port_count:
            raise InputError(
                f"{name}={port}: there is no port {port}",
                where="--location",
                remedy=f"give a port from 0 to {port_count - 1}",
            )
    return locations


# Both servers over one session: until SIGINT or SIGTERM, and leaving nothing.
def serve_until_signal(
    session: OtgSession,
    settings: OtgSettings,
    listener: socket.socket,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Answer until SIGINT or SIGTERM, which is then raised anew for the handler before it.

    `ready` is called when both are there.
    """
    # Seconds of generated code, before the first client waits for it.
    messages()
    server = make_server(session, settings) if settings.grpc_port is not None else None
    config = quiet_config(
        make_application(session, settings), certificate=settings.certificate, key=settings.key
    )
    try:
        if server is not None:
            server.start()
        ready()
        QuietServer(config).run(sockets=[listener])
    finally:
        if server is not None:
            server.stop(grace=None).wait()
        session.close()


# The API over HTTP, as an ASGI application.
def make_application(session: OtgSession, settings: OtgSettings) -> Starlette:
    """Each operation at its path, and below the token where one is needed."""
    return Starlette(
        routes=[
            Route(
                f"{prefix}{operation.path}",
                _endpoint(operation, session, settings),
                methods=[operation.method],
            )
            for operation in OPERATIONS
            for prefix in ("", "/{token}")
        ]
    )


def _endpoint(operation: Operation, session: OtgSession, settings: OtgSettings) -> _Endpoint:
    async def answer(request: Request) -> Response:
        status, problem = _refusal(request, settings)
        if problem:
            return _error(status, "validation", [problem])
        body = await _body(request)
        if body is None:
            problem = f"the request has more than {MAX_REQUEST_BYTES} bytes"
            return _error(413, "validation", [problem])
        return await run_in_threadpool(_performed, operation, session, body)

    return answer


def _performed(operation: Operation, session: OtgSession, body: bytes) -> Response:
    try:
        content = parse_json(operation.request, body) if operation.request else {}
        answer = operation.perform(session, content)
        if isinstance(answer, bytes):
            return Response(answer, media_type="application/octet-stream")
        # By the message, so that numbers have the form that protobuf gives them.
        answer = content_of(message_of(operation.response, answer))
        return Response(json.dumps(answer), media_type="application/json")
    except Refusal as refusal:
        return _error(_STATUS[refusal.kind], refusal.kind, list(refusal.errors))


def _error(status: int, kind: str, errors: list[str]) -> JSONResponse:
    return JSONResponse({"code": status, "kind": kind, "errors": errors}, status_code=status)


def _refusal(request: Request, settings: OtgSettings) -> tuple[int, str]:
    """Why a request is not even read; empty where it may be."""
    hosts = request.headers.getlist("host")
    if len(hosts) != 1 or not is_own_name(hosts[0], settings.rest, settings.host_names):
        return 421, "this server does not go by that name (allow it by plimsoll serve otg --host)"
    if settings.token is None:
        if not settings.answers(loopback_peer_uid(_client(request), request.scope["server"])):
            return 403, UNKNOWN_USER
    elif not _has_token(request, settings.token):
        return (
            401,
            "the token is missing or wrong (use the location that the server printed)",
        )
    # No page of a browser may send either of these for another site without asking first.
    if "origin" in request.headers:
        return 403, "browsers do not use this API"
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method != "GET" and kind != "application/json":
        return 415, "the content type is not application/json"
    return 200, ""


def _client(request: Request) -> tuple[str, int]:
    return (request.client.host, request.client.port) if request.client else ("", 0)


def _has_token(request: Request, token: str) -> bool:
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    given = bearer if scheme.lower() == "bearer" else request.path_params.get("token", "")
    return same(given, token)


async def _body(request: Request) -> bytes | None:
    """The whole body; None where it is too long."""
    parts, length = [], 0
    async for part in request.stream():
        length += len(part)
        if length > MAX_REQUEST_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)
