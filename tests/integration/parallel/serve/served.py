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
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.free_ports import free_port
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
    token_file: Path
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
        """JSON in the server's `headers` and these."""
        given = {**self.headers, **(headers or {})}
        if body is not None:
            given.setdefault("Content-Type", "application/json")
        content = None if body is None else json.dumps(body).encode()
        return self.send(method, path, content, given)

    def send(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        """As written: neither path nor headers are tidied up on the way."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        given = dict(headers)
        connection.putrequest(method, path, skip_host="Host" in given, skip_accept_encoding=True)
        if content is not None:
            given["Content-Length"] = str(len(content))
        for name, value in given.items():
            connection.putheader(name, value)
        connection.endheaders(content or b"")
        answer = connection.getresponse()
        found = Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        connection.close()
        return found

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, headers=headers)

    @property
    def token(self) -> str:
        return self.token_file.read_text().strip()

    @property
    def bearer(self) -> dict[str, str]:
        """What scripts send."""
        return {"Authorization": f"Bearer {self.token}"}

    def log_in(self, token: str, path: str = "/", **headers: str) -> Answer:
        """As the form of the login page does."""
        form = urlencode({"token": token, "next": path}).encode()
        given = {"Content-Type": "application/x-www-form-urlencoded", "Origin": self.address}
        return self.send("POST", "/login", form, {**given, **headers})

    def new_session(self) -> str:
        """A cookie, as a browser sends it, of a session that the token has opened."""
        return self.log_in(self.token).headers["set-cookie"].partition(";")[0]

    def post(self, path: str, body: object, **headers: str) -> Answer:
        """As our own pages do."""
        return self.request("POST", path, body, {"Origin": self.address, **headers})

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
def started(folder: Path, *words: object) -> Iterator[subprocess.Popen[str]]:
    """`plimsoll serve` of the folder's runs and experiments, with a state directory of its own.

    Ended by SIGKILL where a test left it, after which its janitor has cleaned up.
    """
    # Short enough for a ledger, which a test's folder need not be.
    with tempfile.TemporaryDirectory(prefix="serve-") as state:
        process = subprocess.Popen(
            [sys.executable, "-m", "plimsoll.cli", "serve", "--runs", folder / "runs",
             "--experiments", folder, *map(str, words)],
            cwd=folder,
            env={**environment(folder), "PLIMSOLL_STATE": state, "COLUMNS": "300"},
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            process.communicate()
            until(lambda: not any(Path(state).glob("serve-*")), "the janitor")


def next_line(process: subprocess.Popen[str]) -> str:
    """What it says next, but for what was left on the machine by runs that were killed."""
    assert process.stderr is not None
    return next((line for line in process.stderr if not line.startswith("removed ")), "")


@contextmanager
def served(folder: Path, *words: object) -> Iterator[Served]:
    """Such a server at a port, and requests of a browser that has logged in."""
    place = () if "--listen" in words else ("--listen", free_port())
    with started(folder, *place, *words) as process:
        assert process.stderr is not None
        said = next_line(process)
        found = re.fullmatch(r"open (http://\S+)\n", said)
        assert found, said
        bound = re.search(r":(\d+)/", found[1])
        where = re.search(r"the token in (/.*)\n", process.stderr.readline())
        assert bound
        assert where
        port = int(bound[1])
        until(lambda: _answers(port), "the server")
        running = Served(folder, port, process, found[1], Path(where[1]))
        running.headers["Cookie"] = running.new_session()
        yield running


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True
