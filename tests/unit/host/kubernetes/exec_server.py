"""A server of exec sessions over TLS, which is not Kubernetes'.

It upgrades the request to a web socket and joins a command on this machine to its channels, as an
API server and a kubelet do together.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from collections.abc import Mapping
from pathlib import Path

import yaml
from aiohttp import WSMsgType, web

from tests.integration.cluster.credentials import LOOPBACK, Authority

ROOT = Path(__file__).parents[4]
STDIN, STDOUT, STDERR, STATUS = 0, 1, 2, 3


class ExecServer:
    """Serves `exec`, each session with the command that the request names."""

    def __init__(
        self,
        folder: Path,
        protocols: tuple[str, ...] = ("v5.channel.k8s.io",),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.authority = Authority("test")
        self.requests: list[web.Request] = []
        self.port = 0
        self._folder = folder
        self._protocols = protocols
        self._environment = environment
        self._tls = self._context(folder)
        self._loop = asyncio.new_event_loop()
        self._runner: web.AppRunner | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        assert self._ready.wait(60)

    def kubeconfig(self) -> Path:
        """One whose context `lab` is the namespace `bench` here."""
        (self._folder / "ca.crt").write_bytes(self.authority.certificate)
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
                        "server": f"https://{LOOPBACK}:{self.port}",
                        "certificate-authority": str(self._folder / "ca.crt"),
                    },
                }
            ],
            "users": [{"name": "me", "user": {"token": "the-token"}}],
        }
        path = self._folder / "kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return path

    def end(self) -> None:
        if self._loop.is_closed() or not self._thread.is_alive():
            return
        assert self._runner is not None
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)

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
            env=self._environment,
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
