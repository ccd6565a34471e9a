"""An exec session by Kubernetes' own client, over TLS, to a server that speaks its protocol.

The server is not Kubernetes': it upgrades the request to a web socket and joins a command on this
machine to its channels, as an API server and a kubelet do together.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from aiohttp import WSMsgType, web

from plimsoll.cluster.pods.cluster_client import ClusterClient, ClusterUnreachable
from plimsoll.cluster.pods.exec_stream import StreamEnded
from plimsoll.cluster.pods.gathering import Gathering
from plimsoll.cluster.pods.place import ClusterPlace
from plimsoll.record.run.run_directory import RunDirectory
from tests.integration.cluster.credentials import LOOPBACK, Authority

ROOT = Path(__file__).parents[4]
RUN = "20260101T000000-demo"
STDIN, STDOUT, STDERR, STATUS = 0, 1, 2, 3


class ExecServer:
    """Serves `exec`, each session with the command that the request names."""

    def __init__(self, folder: Path, protocols: tuple[str, ...]) -> None:
        self.authority = Authority("test")
        self.requests: list[web.Request] = []
        self.port = 0
        self._protocols = protocols
        self._tls = self._context(folder)
        self._loop = asyncio.new_event_loop()
        self._runner: web.AppRunner | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(30)

    def end(self) -> None:
        if self._loop.is_closed() or not self._thread.is_alive():
            return
        assert self._runner is not None
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)

    def _context(self, folder: Path) -> ssl.SSLContext:
        identity = self.authority.for_server()
        (folder / "server.pem").write_bytes(identity.certificate + identity.key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem")
        return context

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_get("/api/v1/namespaces/{namespace}/pods/{pod}/exec", self._exec)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        site = web.TCPSite(self._runner, str(LOOPBACK), 0, ssl_context=self._tls)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def _exec(self, request: web.Request) -> web.WebSocketResponse:
        self.requests.append(request)
        if request.match_info["pod"] == "gone":
            raise web.HTTPNotFound
        socket = web.WebSocketResponse(protocols=self._protocols, max_msg_size=0)
        await socket.prepare(request)
        process = await asyncio.create_subprocess_exec(
            *request.query.getall("command"),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        outputs = [
            asyncio.create_task(_forward(process.stdout, STDOUT, socket)),
            asyncio.create_task(_forward(process.stderr, STDERR, socket)),
        ]
        inputs = asyncio.create_task(_take(socket, process))
        await asyncio.gather(*outputs)
        status = await process.wait()
        word = "Success" if status == 0 else "Failure"
        await socket.send_bytes(bytes([STATUS]) + json.dumps({"status": word}).encode())
        await socket.close()
        inputs.cancel()
        return socket


async def _forward(
    stream: asyncio.StreamReader, channel: int, socket: web.WebSocketResponse
) -> None:
    # In small messages, many of which go into one record of TLS.
    while block := await stream.read(1000):
        for start in range(0, len(block), 100):
            await socket.send_bytes(bytes([channel]) + block[start : start + 100])


async def _take(socket: web.WebSocketResponse, process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    async for message in socket:
        if message.type is WSMsgType.BINARY and message.data[0] == STDIN:
            process.stdin.write(message.data[1:])
            await process.stdin.drain()
    process.stdin.close()


@pytest.fixture(params=[("v5.channel.k8s.io",), ("v4.channel.k8s.io",)], ids=["v5", "v4"])
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ExecServer]:
    started = ExecServer(tmp_path, request.param)
    yield started
    started.end()


@pytest.fixture
def client(server: ExecServer, tmp_path: Path) -> ClusterClient:
    (tmp_path / "ca.crt").write_bytes(server.authority.certificate)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "lab",
        "contexts": [
            {"name": "lab", "context": {"cluster": "lab", "user": "me", "namespace": "bench"}}
        ],
        "clusters": [
            {
                "name": "lab",
                "cluster": {
                    "server": f"https://{LOOPBACK}:{server.port}",
                    "certificate-authority": str(tmp_path / "ca.crt"),
                },
            }
        ],
        "users": [{"name": "me", "user": {"token": "the-token"}}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return ClusterClient.connect(ClusterPlace("lab", None), str(path))


def test_a_command_is_run_as_requested(client: ClusterClient, server: ExecServer) -> None:
    command = [sys.executable, "-c", "print(input().upper())"]
    stream = client.run_in("plimsoll-1", "record", command)
    stream.write(b"to a pod\n")
    assert stream.read_line(30) == b"TO A POD"
    with pytest.raises(StreamEnded, match="Success"):
        stream.read_line(30)
    stream.close()
    (request,) = server.requests
    assert request.match_info["namespace"] == "bench"
    assert request.match_info["pod"] == "plimsoll-1"
    assert request.query["container"] == "record"
    assert request.headers["Authorization"] == "Bearer the-token"


def test_a_command_that_fails_says_why(client: ClusterClient) -> None:
    stream = client.run_in("plimsoll-1", "record", [sys.executable, "-c", "raise SystemExit('no')"])
    with pytest.raises(StreamEnded, match=r"Failure.*it said: no"):
        stream.read_line(30)
    stream.close()


def test_a_record_comes_over_it(client: ClusterClient, tmp_path: Path) -> None:
    there, here = tmp_path / "there", RunDirectory(tmp_path / "here" / RUN)
    (there / RUN / "metrics").mkdir(parents=True)
    here.path.mkdir(parents=True)
    (there / RUN / "journal.jsonl").write_text('{"a": 1}\n' * 10_000)
    content = bytes(range(256)) * 4000
    (there / RUN / "metrics" / "trial-0001.parquet").write_bytes(content)
    server = [sys.executable, "-m", "plimsoll.cluster.pods.record_server", str(there)]
    stream = client.run_in("plimsoll-1", "record", server)
    gathering = Gathering(here, lambda _: None)
    gathering.fetch(stream)
    assert here.journal.read_text() == '{"a": 1}\n' * 10_000
    assert (here.metrics / "trial-0001.parquet").read_bytes() == content
    # And back: a pod that is new takes along what is here.
    (there / RUN / "metrics" / "trial-0001.parquet").unlink()
    gathering.begin(stream, with_record=True)
    assert (there / RUN / "metrics" / "trial-0001.parquet").read_bytes() == content
    assert (there / "begin").exists()
    stream.close()


def test_a_pod_that_is_gone_is_not_reached(client: ClusterClient, server: ExecServer) -> None:
    with pytest.raises(ClusterUnreachable, match="404"):
        client.run_in("gone", "record", ["true"])
    server.end()
    with pytest.raises(ClusterUnreachable):
        client.run_in("plimsoll-1", "record", ["true"])
