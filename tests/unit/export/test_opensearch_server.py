"""Where OpenSearch is, who asks it, and by which certificate it is trusted."""

import gzip
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.export.cdm.document import CdmVersion, index_definition
from plimsoll.export.credentials import Credentials
from plimsoll.export.opensearch import server as opensearch_server
from plimsoll.export.opensearch.bulk import prepare_indices
from plimsoll.export.opensearch.server import RetryPolicy, Server, Unavailable
from plimsoll.export.output_file import ExportError
from tests.unit.export.loopback_opensearch import Store, serving
from tests.worded.says import Says

KEY = Credentials("jo", "pass:word")
PATIENCE = RetryPolicy(attempts=2, sleep=lambda _: None)
INDICES = {"run": "cdm-v10dev-run@2026.11", "metric_data": "cdm-v10dev-metric_data@2026.11"}


@pytest.fixture
def store() -> Iterator[Store]:
    with serving() as served:
        yield served


def test_credentials_go_into_the_header(store: Store) -> None:
    Server(store.url, KEY).ask("HEAD", "/x")
    # printf 'jo:pass:word' | base64
    assert store.requests[0].authorization == "Basic am86cGFzczp3b3Jk"


def test_a_body_goes_with_them(store: Store) -> None:
    Server(store.url, KEY).ask("PUT", "/x", b"{}")
    assert store.requests[0].authorization == "Basic am86cGFzczp3b3Jk"
    assert store.requests[0].content_type == "application/json"


def test_without_credentials_none_are_sent(store: Store) -> None:
    Server(store.url).ask("HEAD", "/x")
    assert store.requests[0].authorization is None


@pytest.mark.parametrize(
    "url",
    [
        "opensearch:9200",
        "https://",
        "ftp://host",
        "http://h:port",
        "https://h/?a=b",
        "https://[::1",
    ],
)
def test_a_url_that_is_none_is_reported(url: str, says: Says) -> None:
    with pytest.raises(InputError) as raised:
        Server(url)
    assert raised.value == says("--to", "https://host:9200")
    assert (raised.value.where, raised.value.remedy) == ("--to", "write --to https://host:9200")


def test_credentials_in_the_url_are_refused_and_not_repeated(says: Says) -> None:
    with pytest.raises(InputError) as raised:
        Server("https://jo:hunter2@host:9200")
    assert raised.value == says("--to")
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    "url", ["http://host:9200", "http://192.0.2.1", "http://localhost.example"]
)
def test_a_password_does_not_travel_in_the_clear(url: str, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        Server(url, KEY)
    assert caught.value == says("https://")


@pytest.mark.parametrize("url", ["http://localhost:9200", "http://127.0.0.1", "http://[::1]:1"])
def test_within_the_machine_it_may(url: str) -> None:
    assert Server(url, KEY).url == url


def test_a_ca_file_that_is_not_there_is_reported(tmp_path: Path, says: Says) -> None:
    with pytest.raises(InputError) as raised:
        Server("https://host", ca_file=tmp_path / "ca.pem")
    assert raised.value == says("ca.pem")
    assert raised.value.where == str(tmp_path / "ca.pem")


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[tuple[Store, Path]]:
    """A server with a certificate that it signed itself."""
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    def secure(server: ThreadingHTTPServer) -> None:
        server.socket = context.wrap_socket(server.socket, server_side=True)

    with serving(secure) as store:
        store.url = store.url.replace("http:", "https:")
        yield store, certificate


def test_a_certificate_that_no_one_signed_is_not_trusted(
    secured: tuple[Store, Path], says: Says
) -> None:
    store, _ = secured
    with pytest.raises(InputError) as raised:
        Server(store.url, KEY).ask("HEAD", "/x")
    assert raised.value == says("--ca-file")
    assert store.requests == []


def test_it_is_when_its_authority_is_named(secured: tuple[Store, Path]) -> None:
    store, certificate = secured
    assert Server(store.url, KEY, ca_file=certificate).ask("HEAD", "/x").status == 404


def test_missing_indices_are_reported(store: Store, says: Says) -> None:
    store.indices["cdm-v10dev-run@2026.11"] = {}
    with pytest.raises(InputError) as raised:
        prepare_indices(Server(store.url), INDICES, CdmVersion.V10, PATIENCE, make=False)
    assert raised.value == says("cdm-v10dev-metric_data@2026")
    assert "--make-indices" in raised.value.remedy
    assert [request.method for request in store.requests] == ["HEAD", "HEAD"]


def test_missing_indices_are_made_and_others_left(store: Store) -> None:
    store.indices["cdm-v10dev-run@2026.11"] = {"mine": True}
    made = prepare_indices(Server(store.url), INDICES, CdmVersion.V10, PATIENCE, make=True)
    assert made == ("cdm-v10dev-metric_data@2026.11",)
    assert store.indices == {
        "cdm-v10dev-run@2026.11": {"mine": True},
        "cdm-v10dev-metric_data@2026.11": index_definition("metric_data", CdmVersion.V10),
    }


def test_an_index_that_someone_makes_in_between_is_welcome(store: Store) -> None:
    store.troubles = [(404, {})]
    store.indices["cdmv8dev-run"] = {"theirs": True}
    one = {"run": "cdmv8dev-run"}
    assert prepare_indices(Server(store.url), one, CdmVersion.V8, PATIENCE, make=True) == (
        "cdmv8dev-run",
    )
    assert store.indices == {"cdmv8dev-run": {"theirs": True}}


def test_an_index_that_cannot_be_made_is_reported(store: Store, says: Says) -> None:
    store.troubles = [(404, {}), (400, {})]
    with pytest.raises(ExportError) as caught:
        prepare_indices(
            Server(store.url), {"run": "cdmv8dev-run"}, CdmVersion.V8, PATIENCE, make=True
        )
    assert caught.value == says("cdmv8dev-run", "400")


def test_what_is_no_opensearch_is_reported(store: Store, says: Says) -> None:
    store.troubles = [(405, {})]
    with pytest.raises(ExportError) as caught:
        prepare_indices(
            Server(store.url), {"run": "cdmv8dev-run"}, CdmVersion.V8, PATIENCE, make=True
        )
    assert caught.value == says("cdmv8dev-run", "405")


def test_types_are_those_of_crucibles_indices() -> None:
    """From the table of CommonDataModel's cdm.js."""
    fields = index_definition("metric_data", CdmVersion.V8)["mappings"]["properties"]
    assert fields["metric_data"]["properties"] == {
        "value": {"type": "double"},
        "begin": {"type": "date"},
        "end": {"type": "date"},
        "duration": {"type": "long"},
    }
    assert fields["run"]["properties"] == {"run-uuid": {"type": "keyword"}}
    described = index_definition("metric_desc", CdmVersion.V8)["mappings"]["properties"]
    names = described["metric_desc"]["properties"]["names"]["properties"]
    assert len(names) == 130
    assert {name for name, kind in names.items() if kind != {"type": "keyword"}} == {"num"}
    assert names["num"] == {"type": "double"}
    assert list(described) == ["cdm", "run", "iteration", "sample", "period", "metric_desc"]
    assert described["iteration"]["properties"]["num"] == {"type": "unsigned_long"}


@pytest.mark.parametrize("host", ["127.0.0.1", "nowhere.invalid"])
def test_an_address_where_nothing_listens_is_reported_at_once(host: str, says: Says) -> None:
    with socket.socket() as bound:
        # Bound and not listening: the port is taken, and refuses.
        bound.bind(("127.0.0.1", 0))
        url = f"http://{host}:{bound.getsockname()[1]}"
        with pytest.raises(ExportError) as caught:
            Server(url).ask("HEAD", "/x")
        assert caught.value == says(host)
    assert caught.value.where == url
    assert "server runs" in caught.value.remedy


def test_a_server_that_answered_once_is_waited_for(says: Says) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = Server(f"http://127.0.0.1:{listening.getsockname()[1]}")
        once = threading.Thread(target=answer_one_request, args=[listening])
        once.start()
        assert server.ask("HEAD", "/x").status == 200
        once.join()
    with pytest.raises(Unavailable) as caught:
        server.ask("HEAD", "/x")
    assert caught.value == says()


def answer_one_request(listening: socket.socket) -> None:
    connection, _ = listening.accept()
    with connection:
        connection.recv(1 << 16)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


class Bomb(BaseHTTPRequestHandler):
    """Answers with a megabyte or so that inflates to 256 MiB."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_PUT(self) -> None:
        # A connection that is closed with something unread in it is reset.
        self.rfile.read(int(self.headers["Content-Length"]))
        body = gzip.compress(bytes(256 << 20), compresslevel=1)
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_an_answer_is_inflated_no_further_than_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    inflated: list[int] = []

    def note(content: bytes) -> dict[str, object]:
        inflated.append(len(content))
        return {}

    monkeypatch.setattr(opensearch_server, "_object", note)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Bomb)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        Server(f"http://127.0.0.1:{server.server_address[1]}").ask("PUT", "/x", b"{}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    # Of 256 MiB; what comes before it is an answer to HEAD, which has no body.
    assert max(inflated) == 16 << 20
