"""A DPDK process as its telemetry socket shows it: it answers, hangs, or dies."""

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

GREETING = {"version": "DPDK 23.11.0", "pid": 1, "max_output_len": 16384}
_PATIENCE_S = 60


class TelemetryServer:
    """Serves any number of clients. `answers` maps commands to JSON values, or to raw bytes."""

    def __init__(self, path: Path, answers: Mapping[str, object]) -> None:
        self.path = path
        self.answers = dict(answers)
        self.commands: list[str] = []
        self.clients = 0
        self._answering = threading.Event()
        self._answering.set()
        self._connections: list[socket.socket] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(path))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def hang(self) -> None:
        """Take commands, and answer none until it goes on."""
        self._answering.clear()

    def go_on(self) -> None:
        self._answering.set()

    def die(self) -> None:
        """All at once, as a process that crashes."""
        self._answering.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        for connection in self._connections:
            connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(_PATIENCE_S)
        for each in (self._listener, *self._connections):
            each.close()
        self.path.unlink()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.clients += 1
            self._connections.append(connection)
            self._threads.append(threading.Thread(target=self._serve, args=(connection,)))
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            self._send(connection, json.dumps(GREETING).encode())
            while command := connection.recv(1024).decode():
                self.commands.append(command)
                self._send(connection, self._answer(command))
        except OSError:
            return

    def _send(self, connection: socket.socket, message: bytes) -> None:
        self._answering.wait(_PATIENCE_S)
        connection.send(message)

    def _answer(self, command: str) -> bytes:
        answer = self.answers.get(command)
        if isinstance(answer, bytes):
            return answer
        return json.dumps({command.partition(",")[0]: answer}).encode()


@contextmanager
def telemetry_server(path: Path, answers: Mapping[str, object]) -> Iterator[TelemetryServer]:
    server = TelemetryServer(path, answers)
    try:
        yield server
    finally:
        if path.exists():
            server.die()
