"""What is the same server, and what may be sent a secret."""

import pytest

from plimsoll.host.http.origin import Origin
from tests.worded.says import Says


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://host", "https://host:443/path?query"),
        ("http://host:80/", "http://host"),
        ("https://HOST:6443", "https://host:6443/x"),
        ("https://[::1]:8443/", "https://[::1]:8443"),
        ("https://user:secret@host", "https://host"),
    ],
)
def test_the_same_server(one: str, other: str) -> None:
    assert Origin.of(one) == Origin.of(other)


@pytest.mark.parametrize(
    "other", ["http://host", "https://host:8443", "https://host.example", "https://host:80"]
)
def test_another_server(other: str) -> None:
    assert Origin.of("https://host") != Origin.of(other)


@pytest.mark.parametrize("url", ["", "/path", "host:443", "https://", "ftp://host", "https://h:x"])
def test_no_server(url: str, says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        Origin.of(url)
    assert caught.value == says()


@pytest.mark.parametrize(
    ("url", "keeps"),
    [
        ("https://host", True),
        ("wss://host", True),
        ("http://127.0.0.1:9090", True),
        ("http://127.8.9.1", True),
        ("http://[::1]:9090", True),
        ("http://localhost", True),
        ("http://host", False),
        ("http://192.0.2.1", False),
        ("http://localhost.example", False),
        ("ws://host", False),
    ],
)
def test_where_a_secret_may_go(url: str, keeps: bool) -> None:
    assert Origin.of(url).keeps_secrets is keeps
