"""An API server for tests: it lists what it is given, as a real one answers, and nothing else.

List responses, `continue` tokens and Status objects as in the Kubernetes API's concepts. It can
be made to answer as no real one would; tests/integration/test_tune_cluster.py asks a real one.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from plimsoll.tune.cluster.kinds import ALL_KINDS

TOKEN = "sha256~only-for-this-test"  # noqa: S105


class ApiServer(ThreadingHTTPServer):
    """Serves `given` to who has the token; `refused` are (status, reason) by plural.

    With `messages` by plural, those are the words of the refusal. A page holds `page` objects at
    most, whatever was requested. `requested` are the requests.
    """

    daemon_threads = True

    def __init__(self, given: list[dict[str, Any]], page: int = 500) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.given = given
        self.page = page
        self.refused: dict[str, tuple[int, str]] = {}
        self.messages: dict[str, Any] = {}
        self.answers: dict[str, bytes] = {}
        self.requested: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: ApiServer

    def do_GET(self) -> None:
        self.server.requested.append(self.path)
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        plural = parts.path.rpartition("/")[2]
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self._fail(401, "Unauthorized")
        elif parts.path in self.server.answers:
            self._send(200, self.server.answers[parts.path])
        elif parts.path == "/version":
            self._send(200, b'{"gitVersion": "v1.31.0"}')
        elif plural in self.server.refused:
            self._fail(*self.server.refused[plural], self.server.messages.get(plural))
        else:
            self._list(parts.path, query)

    def _list(self, path: str, query: dict[str, str]) -> None:
        kinds = [kind for kind in ALL_KINDS if kind.path == path]
        if not kinds:
            self._fail(404, "Not Found")
            return
        kind = kinds[0]
        name = query.get("fieldSelector", "").removeprefix("metadata.name=")
        found = [
            # Entries of a real list have neither kind nor apiVersion.
            {field: value for field, value in each.items() if field not in ("kind", "apiVersion")}
            for each in self.server.given
            if (each["kind"], each["apiVersion"]) == (kind.name, kind.api_version)
            and name in ("", each["metadata"]["name"])
            and kind.namespace in (None, each["metadata"].get("namespace"))
        ]
        start = int(query.get("continue", "0"))
        size = min(self.server.page, int(query["limit"]))
        end = start + size
        more = {"continue": str(end)} if end < len(found) else {}
        document = {
            "kind": f"{kind.name}List",
            "apiVersion": kind.api_version,
            "metadata": more,
            "items": found[start:end],
        }
        self._send(200, json.dumps(document).encode())

    def _fail(self, status: int, reason: str, message: Any = None) -> None:
        body = {"kind": "Status", "status": "Failure", "reason": reason, "code": status}
        body |= {"message": message} if message is not None else {}
        self._send(status, json.dumps(body).encode(), reason)

    def _send(self, status: int, content: bytes, reason: str | None = None) -> None:
        self.send_response(status, reason)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@contextmanager
def api_server(given: list[dict[str, Any]], page: int = 500) -> Iterator[ApiServer]:
    """A server that is there until the block ends."""
    server = ApiServer(given, page)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def kubeconfig(server: str, token: str = TOKEN) -> str:
    """A kubeconfig with the contexts `here`, which is current, and `nowhere`."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [
            {"name": "here", "cluster": {"server": server}},
            {"name": "nowhere", "cluster": {"server": "http://127.0.0.1:1"}},
        ],
        "users": [{"name": "me", "user": {"token": token}}],
        "contexts": [
            {"name": name, "context": {"cluster": name, "user": "me"}}
            for name in ("here", "nowhere")
        ],
    }
    return json.dumps(document)
