"""A server on loopback that speaks OpenSearch's bulk protocol and holds us to its grammar.

It stands in for the parts of the API that an export uses: HEAD and PUT of an index, POST of
bulk requests. What it takes, it keeps by index and id, as OpenSearch does.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# What becomes of one document: its status, and the error if there is one.
Outcome = tuple[int, dict[str, str] | None]


@dataclass
class Request:
    method: str
    path: str
    authorization: str | None
    content_type: str | None
    body: bytes


@dataclass
class Store:
    """What the server holds, its requests, and its next answers."""

    indices: dict[str, Any] = field(default_factory=dict)
    documents: dict[tuple[str, str], Any] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    # Answers to come first: an HTTP status and headers; "drop" closes the connection.
    troubles: list[tuple[int, dict[str, str]] | str] = field(default_factory=list)
    # Judges a document; by default it is taken.
    judge: Callable[[str, str, Any], Outcome] = lambda index, identity, body: (201, None)
    most_bytes: int = 10 * 2**20
    url: str = ""

    @property
    def bulk_requests(self) -> list[Request]:
        return [request for request in self.requests if request.path.startswith("/_bulk")]


class BadRequest(Exception):
    """The request is not in the protocol's form."""


def bulk_items(body: bytes) -> list[tuple[str, str, Any]]:
    """Index, id and document of each pair of lines. Raises BadRequest."""
    if not body.endswith(b"\n"):
        raise BadRequest("the bulk request must be terminated by a newline")
    lines = body.decode().split("\n")[:-1]
    if len(lines) % 2:
        raise BadRequest("an action without a document")
    items = []
    for action_line, document_line in zip(lines[::2], lines[1::2], strict=True):
        action = json.loads(action_line)
        if list(action) != ["index"] or set(action["index"]) != {"_index", "_id"}:
            raise BadRequest(f"not an action: {action_line}")
        if not 0 < len(action["index"]["_id"].encode()) <= 512:
            raise BadRequest("an id has 1 to 512 bytes")
        document = json.loads(document_line)
        if not isinstance(document, dict):
            raise BadRequest(f"not a document: {document_line}")
        items.append((action["index"]["_index"], action["index"]["_id"], document))
    return items


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store: Store

    def do_HEAD(self) -> None:
        self._handle()

    def do_PUT(self) -> None:
        self._handle()

    def do_POST(self) -> None:
        self._handle()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on standard error."""

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        self.store.requests.append(
            Request(
                self.command,
                self.path,
                self.headers.get("authorization"),
                self.headers.get("content-type"),
                body,
            )
        )
        if self.store.troubles:
            trouble = self.store.troubles.pop(0)
            if isinstance(trouble, str):
                self.close_connection = True
                self.connection.close()
                return
            status, headers = trouble
            reason = {"type": "trouble", "reason": f"as requested: {status}"}
            self._answer(status, {"error": reason, "status": status}, headers)
            return
        if self.command == "POST":
            self._bulk(body)
        else:
            self._index(body)

    def _index(self, body: bytes) -> None:
        name = self.path.lstrip("/")
        if self.command == "HEAD":
            self._answer(200 if name in self.store.indices else 404, {})
        elif name in self.store.indices:
            error = {"type": "resource_already_exists_exception", "reason": f"[{name}] exists"}
            self._answer(400, {"error": error, "status": 400})
        else:
            self.store.indices[name] = json.loads(body)
            self._answer(200, {"acknowledged": True, "index": name})

    def _bulk(self, body: bytes) -> None:
        if len(body) > self.store.most_bytes:
            self._answer(413, {})
            return
        if self.headers["content-type"] != "application/x-ndjson":
            self._answer(406, {"error": "Content-Type header is not supported", "status": 406})
            return
        try:
            items = bulk_items(body)
        except (BadRequest, ValueError) as error:
            reason = {"type": "illegal_argument_exception", "reason": str(error)}
            self._answer(400, {"error": reason, "status": 400})
            return
        messages = []
        for index, identity, document in items:
            status, error = self.store.judge(index, identity, document)
            if error is None:
                self.store.documents[index, identity] = document
            messages.append({"index": {"status": status, **({"error": error} if error else {})}})
        errors = any("error" in each["index"] for each in messages)
        self._answer(200, {"errors": errors, "items": messages})

    def _answer(
        self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
    ) -> None:
        data = b"" if self.command == "HEAD" else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving(make: Callable[[ThreadingHTTPServer], None] = lambda server: None) -> Iterator[Store]:
    """A store that is served for the length of a `with`; `make` may put TLS before it."""
    store = Store()
    handler = type("OneHandler", (Handler,), {"store": store})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    make(server)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    store.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
