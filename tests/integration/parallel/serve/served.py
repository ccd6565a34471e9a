"""`plimsoll serve` as a user starts it, and requests to it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.integration.command import ROOT, until
from tests.integration.warm_start import run_warm

SIMULATED = """\
name: {name}
lab: {{kind: simulated, model: {{kind: fixed-capacity, capacity: 50kpps}}}}
profile: {{streams: [{{name: load, role: load}}, {{name: probe, role: latency, rate: 1kpps}}]}}
trial: {{drain: 100ms, warmup: null}}
search: {{minimum: 10kpps, maximum: 20kpps, duration: 1s, validation: {{duration: {validation}}}}}
"""
# Simulated seconds take far less than a second each; these last until they are stopped.
ENDLESS = "7d"


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Served:
    """A server, its folders, and requests to it from this machine."""

    folder: Path
    port: int
    process: subprocess.Popen[str]
    entry: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """As written: neither path nor headers are tidied up on the way."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        given = {**self.headers, **(headers or {})}
        connection.putrequest(method, path, skip_host="Host" in given, skip_accept_encoding=True)
        content = b"" if body is None else json.dumps(body).encode()
        if body is not None:
            given.setdefault("Content-Type", "application/json")
            given["Content-Length"] = str(len(content))
        for name, value in given.items():
            connection.putheader(name, value)
        connection.endheaders(content)
        answer = connection.getresponse()
        found = Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        connection.close()
        return found

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, headers=headers)

    def key(self) -> str:
        """What our pages carry, and other sites cannot read."""
        found = re.search(r'name="plimsoll-key" content="([^"]+)"', self.get("/").text)
        assert found
        return found[1]

    def post(self, path: str, body: object, **headers: str) -> Answer:
        """As our own pages do."""
        given = {"Origin": self.address, "X-Plimsoll-Key": self.key(), **headers}
        return self.request("POST", path, body, given)

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(300)


def environment(folder: Path) -> dict[str, str]:
    """With the checkout's Python for the runs that the server starts, too."""
    state = {"PLIMSOLL_STATE": str(folder / "state")}
    return {**os.environ, "PYTHONPATH": str(ROOT), **state}


def plimsoll(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    return run_warm(words, folder, environment(folder))


def write_simulated(folder: Path, name: str, validation: str = "2s") -> Path:
    """An experiment whose DUT is simulated."""
    path = folder / f"{name}.yaml"
    path.write_text(SIMULATED.format(name=name, validation=validation))
    return path


def run_simulated(folder: Path, name: str, *words: object) -> Path:
    """A finished run in the folder's runs."""
    file = write_simulated(folder, name)
    done = plimsoll(folder, "run", file, "--runs", folder / "runs", *words)
    assert done.returncode == 0, done.stderr
    (run,) = (folder / "runs").glob(f"*-{name}")
    return run


@contextmanager
def served(folder: Path, *words: object) -> Iterator[Served]:
    """A server of the folder's runs and experiments; ended by SIGKILL where a test left it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "plimsoll.cli", "serve", "--runs", folder / "runs",
         "--experiments", folder, *(words or ("--listen", str(port)))],
        cwd=folder,
        env={**environment(folder), "COLUMNS": "300"},
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        found = re.fullmatch(r"open (http://\S+)\n", said)
        assert found, said + process.stderr.read()
        bound = re.search(r":(\d+)/", found[1])
        assert bound
        port = int(bound[1])
        until(lambda: _answers(port), "the server")
        yield Served(folder, port, process, found[1])
    finally:
        process.kill()
        process.communicate()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True
