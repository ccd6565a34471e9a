"""A client of TRex's protocol, as small as can be, and of our own."""

from __future__ import annotations

import itertools
import json
import struct
import time
import zlib
from typing import Any

import zmq


class RpcError(Exception):
    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error.get("specific_err", error["message"]))
        self.code = error["code"]


class TrexClient:
    """Requests over ZeroMQ, zipped as TRex's client does."""

    def __init__(self, port: int, timeout_s: float = 20.0) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REQ)
        self._socket.setsockopt(zmq.RCVTIMEO, int(1000 * timeout_s))
        self._socket.connect(f"tcp://127.0.0.1:{port}")
        self._numbers = itertools.count(1)
        self.api_h: str | None = None
        self.handlers: dict[int, str] = {}

    def close(self) -> None:
        self._context.destroy(linger=0)

    def raw(self, message: bytes) -> bytes:
        self._socket.send(message)
        answer = self._socket.recv()
        assert isinstance(answer, bytes)
        return answer

    def call(self, method: str, **params: Any) -> Any:
        if self.api_h is not None:
            params["api_h"] = self.api_h
        if (port := params.get("port_id")) in self.handlers:
            params.setdefault("handler", self.handlers[port])
        request = {
            "jsonrpc": "2.0",
            "id": next(self._numbers),
            "method": method,
            "params": params,
        }
        content = json.dumps(request).encode()
        answer = self.raw(struct.pack(">II", 0xABE85CEA, len(content)) + zlib.compress(content))
        if answer[:4] == struct.pack(">I", 0xABE85CEA):
            answer = zlib.decompress(answer[8:])
        found = json.loads(answer)
        if "error" in found:
            raise RpcError(found["error"])
        return found["result"]

    def sync(self) -> None:
        self.api_h = self.call("api_sync_v2", name="STL", major=5, minor=1)["api_h"]

    def acquire(self, port: int) -> None:
        self.handlers[port] = self.call(
            "acquire", port_id=port, user="me", session_id=7, force=True
        )


class TrexSubscriber:
    """Who is roused when there are events, and then fetches them."""

    def __init__(self, client: TrexClient, port: int) -> None:
        self._client = client
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.SUB)
        self._socket.setsockopt(zmq.SUBSCRIBE, b"")
        self._socket.connect(f"tcp://127.0.0.1:{port}")

    def close(self) -> None:
        self._context.destroy(linger=0)

    def wait_for(self, kind: int, ports: set[int], timeout_s: float = 60.0) -> dict[int, Any]:
        """The data of an event of that kind of each of these ports."""
        found: dict[int, Any] = {}
        deadline = time.monotonic() + timeout_s
        while found.keys() != ports:
            assert time.monotonic() < deadline, f"no event {kind} of {ports - found.keys()}"
            # As TRex's client does, it asks now and then without being roused as well.
            if self._socket.poll(500):
                self._socket.recv()
            for event in self._client.call("get_async_events", session_id=7, user="sub")["data"]:
                if event["type"] == kind:
                    found[event["data"]["port_id"]] = event["data"]
        return found
