"""Servers that are no API server, or never come to an end: what they say is unknown."""

import itertools
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pytest

from plimsoll.errors import MachineError
from plimsoll.host.kubernetes.api_client import ApiAnswer, ApiClient, connect
from plimsoll.host.kubernetes.bounded_retry import LONGEST_WAIT_S
from plimsoll.tune.cluster.api_cluster import ApiCluster
from plimsoll.tune.cluster.cluster_audit import audit_cluster
from plimsoll.tune.cluster.kinds import NODE, POD
from plimsoll.tune.host.view.unread import Unread
from tests.this_thread import in_this_thread
from tests.unit.tune.cluster.api_server import kubeconfig
from tests.unit.tune.cluster.clusters import intent
from tests.worded.says import Says

pytest.importorskip("kubernetes", reason="the extra kube is not installed")

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
TRUNCATED = HEAD + b'Content-Length: 5000\r\n\r\n{"kind": "List", "items": ['
NO_GZIP = HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\njunk"
REDIRECTED = (
    b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nConnection: close\r\n"
    b"Content-Length: 0\r\n\r\n"
)
BUSY = (
    b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 3600\r\nConnection: close\r\n"
    b"Content-Length: 2\r\n\r\n{}"
)
NO_HTTP = b"220 mail ready\r\n"
RESET = b""


@contextmanager
def _answering(answer: bytes) -> Iterator[str]:
    """The URL of a server that answers so, whatever it is asked; with RESET it hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_serve, args=(listening, answer), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def _serve(listening: socket.socket, answer: bytes) -> None:
    while True:
        try:
            asked, _ = listening.accept()
        except OSError:
            return
        with asked, suppress(OSError):
            asked.recv(65536)
            asked.sendall(answer)
            if answer == RESET:
                asked.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _view(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ApiCluster:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    path = folder / "config"
    path.write_text(kubeconfig(url))
    return ApiCluster(connect(kubeconfig=str(path)))


@pytest.mark.parametrize(
    ("answer", "facts"),
    [
        (TRUNCATED, ("IncompleteRead",)),
        (NO_GZIP, ()),
        (RESET, ()),
        (NO_HTTP, ("220",)),
    ],
    ids=["truncated", "no-gzip", "reset", "no-http"],
)
def test_an_answer_that_no_api_server_gives_leaves_all_unknown(
    answer: bytes,
    facts: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    says: Says,
) -> None:
    with _answering(answer) as url:
        view = _view(url, tmp_path, monkeypatch)
        done = audit_cluster(view, intent())
        found = view.listed(NODE)
    assert {each.verdict for each in done.findings} == {"unknown"}
    assert isinstance(found, Unread)
    assert found.cause == "unreadable"
    assert found.reason == says(*facts)


def test_a_server_that_is_elsewhere_is_told_before_anything_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        _answering(REDIRECTED) as url,
        pytest.raises(MachineError, match=r"redirects to http://127\.0\.0\.1:1/") as error,
    ):
        _view(url, tmp_path, monkeypatch)
    assert "kubeconfig" in str(error.value.remedy)


def test_a_server_that_is_always_busy_is_waited_for_in_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", in_this_thread(time.sleep, waited.append))
    with _answering(BUSY) as url:
        view = _view(url, tmp_path, monkeypatch)
        done = audit_cluster(view, intent())
        found = view.listed(NODE)
    assert sum(waited) == LONGEST_WAIT_S
    assert {each.verdict for each in done.findings} == {"unknown"}
    assert isinstance(found, Unread)
    assert found.reason == "429 Too Many Requests"


class _Pages:
    """An API client that never comes to a list's end."""

    server = "https://api"

    def __init__(self, tokens: Iterator[str], names: int = 0) -> None:
        self._tokens = tokens
        self._names = names
        self.asked = 0

    def get(self, path: str, query: Sequence[tuple[str, str]] = ()) -> ApiAnswer:
        self.asked += 1
        items = [{"metadata": {"name": f"p{at}"}} for at in range(self._names)]
        metadata = {"continue": next(self._tokens)}
        document: dict[str, Any] = {"kind": "PodList", "apiVersion": "v1", "metadata": metadata}
        return ApiAnswer(200, {**document, "items": items})


def _reason(pages: _Pages, clock: Callable[[], float] = lambda: 0.0) -> str:
    found = ApiCluster(cast(ApiClient, pages), clock).listed(POD)
    assert isinstance(found, Unread)
    assert found.cause == "unreadable"
    return found.reason


@pytest.mark.parametrize("tokens", [("a",), ("a", "b", "c")])
def test_a_token_that_comes_again_ends_the_list(tokens: tuple[str, ...], says: Says) -> None:
    pages = _Pages(itertools.cycle(tokens))
    assert _reason(pages) == says()
    assert pages.asked == len(tokens) + 1


def test_pages_without_end_are_bounded(says: Says) -> None:
    pages = _Pages(map(str, itertools.count()))
    assert _reason(pages) == says("4000")
    assert pages.asked == 4000


def test_entries_without_end_are_bounded(says: Says) -> None:
    pages = _Pages(map(str, itertools.count()), names=1000)
    assert _reason(pages) == says("200000")
    assert pages.asked == 200


def test_the_time_of_all_lists_together_is_bounded(says: Says) -> None:
    ticks = itertools.count(step=100)
    pages = _Pages(map(str, itertools.count()))
    view = ApiCluster(cast(ApiClient, pages), lambda: float(next(ticks)))
    for _ in range(2):
        found = view.listed(POD)
        assert isinstance(found, Unread)
        assert found.reason == says("15")
    assert isinstance(view.listed(NODE), Unread)
    assert pages.asked == 9
