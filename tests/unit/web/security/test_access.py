"""What proves that a request may ask, without a server."""

import os
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request

from plimsoll.web.endpoint import ListenEndpoint, ServedEndpoint, ServeSettings, UnixEndpoint
from plimsoll.web.quiet_server import PEER_UID
from plimsoll.web.security.access import Access, own_path
from plimsoll.web.security.guard import is_forged

TOKEN = "0123456789abcdef" * 4
PORT = ListenEndpoint("127.0.0.1", 8380)
SOCKET = UnixEndpoint(Path("/run/lab.sock"))


def access(endpoint: ServedEndpoint = PORT, token: str | None = TOKEN) -> Access:
    return Access(ServeSettings(Path("runs"), Path(), endpoint, token=token))


def request(
    method: str = "GET", scheme: str = "http", state: Any = None, **headers: str
) -> Request:
    given = {"host": "127.0.0.1:8380", **headers}
    return Request(
        {
            "type": "http",
            "method": method,
            "scheme": scheme,
            "path": "/",
            "query_string": b"",
            "headers": [(k.encode(), v.encode("latin-1")) for k, v in given.items()],
            "state": state or {},
        }
    )


def cookie_of(asked: Access, scheme: str = "http") -> str:
    return asked.let_in(request(scheme=scheme), "/").headers["set-cookie"]


def test_a_cookie_of_a_session_is_secure_under_tls_alone() -> None:
    assert "Secure" in cookie_of(access(), "https").split("; ")
    assert "Secure" not in cookie_of(access()).split("; ")


def test_a_session_is_of_its_own_server() -> None:
    first, second = access(), access()
    cookie = cookie_of(first).partition(";")[0]
    assert first.proof(request(cookie=cookie)) == "session"
    assert second.proof(request(cookie=cookie)) is None


def test_a_link_has_a_code_of_its_own_each_time() -> None:
    asked = access()
    first, second = asked.entry_address(), asked.entry_address()
    assert first.startswith("http://127.0.0.1:8380/enter?code=")
    assert first != second
    assert TOKEN not in first
    assert all(asked.take_code(each.partition("=")[2]) for each in (first, second))


@pytest.mark.parametrize(
    ("endpoint", "token", "address"),
    [(PORT, None, "http://127.0.0.1:8380/"), (SOCKET, None, "http://localhost/")],
)
def test_where_nothing_is_to_be_proven_a_link_has_no_code(
    endpoint: ServedEndpoint, token: str | None, address: str
) -> None:
    assert access(endpoint, token).entry_address() == address


@pytest.mark.parametrize(
    ("state", "proof"),
    [
        ({PEER_UID: os.geteuid()}, "peer"),
        ({PEER_UID: 0}, "peer"),
        ({PEER_UID: 65533}, None),
        ({}, None),
        ({PEER_UID: None}, None),
        ({PEER_UID: str(os.geteuid())}, None),
    ],
)
def test_at_a_unix_socket_the_user_counts(state: dict[str, object], proof: str | None) -> None:
    asked = access(SOCKET, None)
    assert asked.proof(request(state=state)) == proof
    assert asked.proof(request(state={}, authorization=f"Bearer {TOKEN}")) is None


def test_over_tcp_the_user_does_not_count() -> None:
    assert access().proof(request(state={PEER_UID: 0})) is None


@pytest.mark.parametrize("path", ["/", "/trend?by=kernel", "/runs/a b/", "/runs/%2f/"])
def test_a_path_of_ours_is_led_to(path: str) -> None:
    assert own_path(path) == path


@pytest.mark.parametrize(
    "path", ["", "x", "//evil.example", "/\\evil.example", "http://evil.example", "/\n/x", "\\"]
)
def test_any_other_is_not(path: str) -> None:
    assert own_path(path) == "/"


OWN = "http://127.0.0.1:8380"


@pytest.mark.parametrize(
    ("proof", "origin", "forged"),
    [
        ("session", OWN, False),
        ("session", None, True),
        ("session", "null", True),
        ("session", "http://127.0.0.1:9999", True),
        ("none", OWN, False),
        ("none", None, True),
        ("token", None, False),
        ("token", "http://evil.example", True),
        ("peer", None, False),
        ("peer", "http://evil.example", True),
        (None, OWN, False),
        (None, None, True),
    ],
)
def test_what_changes_something_is_of_our_pages(
    proof: Any, origin: str | None, forged: bool
) -> None:
    headers = {} if origin is None else {"origin": origin}
    assert is_forged(request("POST", **headers), proof) is forged
    assert not is_forged(request("GET", **headers), proof)
