"""Clients that are slow on purpose, and many of them, against a real server on loopback."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from plimsoll.web.quiet_server import BoundedProtocol, quiet_config

LONGEST_S = 0.2
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def at_once(request: Request) -> Response:
    """Whatever else is sent."""
    return PlainTextResponse("here")


async def whole(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def slowly(_: Request) -> Response:
    async def parts() -> AsyncIterator[bytes]:
        yield b"begin "
        await asyncio.sleep(3 * LONGEST_S)
        yield b"end"

    return StreamingResponse(parts())


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(BoundedProtocol, "most_connections", 3)
    methods = ["GET", "POST"]
    routes = [
        Route("/", at_once, methods=methods),
        Route("/whole", whole, methods=methods),
        Route("/slowly", slowly),
    ]
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(quiet_config(Starlette(routes=routes)))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedProtocol, "longest_request_s", LONGEST_S)


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        yield connection


def until_hung_up(connection: socket.socket) -> bytes:
    found = b""
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return found


def answered(connection: socket.socket, request: bytes, end: bytes) -> bool:
    """Whether the answer ends so, before the server hangs up."""
    connection.sendall(request)
    found = b""
    while not found.endswith(end):
        piece = connection.recv(65536)
        if not piece:
            return False
        found += piece
    return True


@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST /whole HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf",
        b"POST /whole HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ],
)
def test_half_a_request_is_hung_up_on(port: int, begun: bytes) -> None:
    with connected(port) as connection:
        connection.sendall(begun)
        assert until_hung_up(connection) == b""


@pytest.mark.usefixtures("_impatient")
def test_the_rest_of_a_request_that_has_been_answered_is_not_taken_for_ever(port: int) -> None:
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n"
    with connected(port) as connection:
        assert answered(connection, request, b"here")
        with pytest.raises(ConnectionError):
            send_for_ever(connection)


def send_for_ever(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"x")


@pytest.mark.usefixtures("_impatient")
def test_an_answer_may_take_longer(port: int) -> None:
    request = b"GET /slowly HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with connected(port) as connection:
        connection.sendall(request)
        assert b"end" in until_hung_up(connection)


def test_whole_requests_are_answered_one_after_the_other(port: int) -> None:
    head = b"POST /whole HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
    with connected(port) as connection:
        assert all(answered(connection, GET, b"here") for _ in range(3))
        connection.sendall(head)
        assert answered(connection, b"four", b"\r\n\r\n4")


def test_connections_beyond_those_that_are_taken_are_hung_up_on(port: int) -> None:
    with connected(port) as one, connected(port) as two, connected(port) as three:
        assert all(answered(each, GET, b"here") for each in (one, two, three))
        with connected(port) as beyond:
            assert until_hung_up(beyond) == b""
    # Once it has heard that they have gone.
    while not is_answered(port):
        pass


def is_answered(port: int) -> bool:
    with connected(port) as connection:
        try:
            return answered(connection, GET, b"here")
        except ConnectionError:
            return False
