"""What another user of this machine gets from the server: neither secrets nor runs."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.host.ledger.shared_directory import SHARED_VARIABLE
from plimsoll.host.state_root import STATE_VARIABLE
from plimsoll.record.run.run_lock import is_held
from tests.free_ports import free_port
from tests.integration.command import finished_trials, until
from tests.integration.parallel.serve.other_user import (
    NOBODY,
    as_nobody,
    needs_root,
    python_as_nobody,
)
from tests.integration.parallel.serve.served import (
    ENDLESS,
    SIMULATED,
    Served,
    environment,
    next_line,
    served,
    started,
)

pytestmark = needs_root

# What the page of 894a23dd gave to everybody on the loopback, and what could be done with it.
ATTACK = """
import json, re, sys, urllib.error, urllib.request
address, text = sys.argv[1], sys.argv[2]
def ask(path, body=None, **headers):
    request = urllib.request.Request(address + path, body, headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
status, page = ask("/", Accept="text/html")
key = re.search(r'name="plimsoll-key" content="([^"]+)"', page)
sent = {"Origin": address, "Content-Type": "application/json"}
if key:
    sent["X-Plimsoll-Key"] = key[1]
began, _ = ask("/experiments/start", json.dumps({"text": text}).encode(), **sent)
print(json.dumps({"page": status, "key": bool(key), "start": began}))
"""
# Over a Unix socket: the status of an answer, or why there is none.
ASK = """
import socket, sys
with socket.socket(socket.AF_UNIX) as connection:
    try:
        connection.connect(sys.argv[1])
    except OSError as error:
        print(type(error).__name__)
    else:
        connection.sendall(b"GET / HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n")
        print(connection.makefile().readline().split()[1])
"""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """One that another user can pass, as /tmp/pytest-of-root cannot be."""
    with tempfile.TemporaryDirectory(prefix="serve-") as made:
        path = Path(made)
        path.chmod(0o755)
        (path / "runs").mkdir()
        yield path
        for lock in path.glob("runs/*/lock"):
            if is_held(lock):
                os.kill(int(lock.read_text()), signal.SIGTERM)
                until(lambda each=lock: not is_held(each), "the run to end")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    """Without a list of programs."""
    with served(folder) as running:
        yield running


@pytest.fixture
def program(folder: Path) -> Path:
    """One that notes who ran it."""
    path = folder / "pktgen"
    path.write_text(f"#!/bin/sh\nid -u >> {folder}/ran\n")
    path.chmod(0o755)
    (folder / "ran").unlink(missing_ok=True)
    return path


def naming(program: object) -> str:
    """An experiment of a simulated lab, with a command before each trial that is `program`."""
    text = SIMULATED.format(name="attack", validation="2s")
    return text.replace("warmup: null", f"warmup: null, before: [{program}]")


def by_pktgen(program: object) -> str:
    """The experiment of the issue, on a lab that needs no card."""
    text = SIMULATED.format(name="attack", validation="2s")
    model = "lab: {kind: simulated, model: {kind: fixed-capacity, capacity: 50kpps}}"
    return text.replace(
        model, f"lab: {{kind: loopback}}\ngenerator: {{kind: pktgen, program: {program}}}"
    )


@pytest.mark.parametrize("experiment", [naming, by_pktgen])
def test_another_user_reads_no_key_and_has_nothing_run(
    server: Served, folder: Path, program: Path, experiment: Callable[[object], str]
) -> None:
    runs = list((folder / "runs").iterdir())
    done = python_as_nobody(ATTACK, server.address, experiment(program))
    assert json.loads(done.stdout) == {"page": 401, "key": False, "start": 401}, done.stderr
    assert as_nobody("cat", server.token_file).returncode != 0
    assert list((folder / "runs").iterdir()) == runs
    assert not (folder / "ran").exists()


def test_another_user_finds_no_secret_in_the_list_of_processes(server: Served) -> None:
    pid = server.process.pid
    said = as_nobody("cat", f"/proc/{pid}/cmdline").stdout
    assert "serve" in said
    assert server.token not in said
    assert server.entry.partition("=")[2] not in said
    assert as_nobody("cat", f"/proc/{pid}/environ").returncode != 0


@pytest.mark.parametrize("experiment", [naming, by_pktgen])
def test_without_a_list_no_program_of_an_experiment_is_run(
    server: Served, folder: Path, program: Path, experiment: Callable[[object], str]
) -> None:
    text = experiment(program)
    checked = server.post("/experiments/check", {"text": text}).json["mistakes"]
    line = next(n for n, each in enumerate(text.splitlines(), 1) if str(program) in each)
    (mistake,) = [each for each in checked if "not on the list" in each["message"]]
    assert mistake["line"] == line
    assert "--allow-program" in mistake["remedy"]
    answer = server.post("/experiments/start", {"text": text})
    assert answer.status == 400
    assert "not on the list" in answer.text
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    "lab",
    [
        "{kind: external, ports: [{devargs: 'net_failsafe0,exec(id)'}, {devargs: net_null1}]}",
        "{kind: external, ports: [{devargs: 'net_pcap0,tx_pcap=/etc/x'}, {devargs: net_null1}]}",
    ],
)
def test_no_driver_runs_a_shell_or_writes_files_for_an_experiment(server: Served, lab: str) -> None:
    text = SIMULATED.format(name="attack", validation="2s").replace(
        "{kind: simulated, model: {kind: fixed-capacity, capacity: 50kpps}}", lab
    )
    answer = server.post("/experiments/start", {"text": text})
    assert answer.status == 400
    assert "not on the list" in answer.text


def test_a_listed_program_is_run_and_no_other(server: Served, folder: Path, program: Path) -> None:
    other, link = folder / "other", folder / "link"
    other.write_text(f"#!/bin/sh\ntouch {folder}/other-ran\n")
    other.chmod(0o755)
    link.symlink_to(program)
    endless = naming(link).replace("duration: 2s", f"duration: {ENDLESS}")
    with served(folder, "--allow-program", program) as listing:
        assert listing.post("/experiments/start", {"text": naming(other)}).status == 400
        address = listing.post("/experiments/start", {"text": endless}).json["address"]
        run = folder / "runs" / address.split("/")[2]
        until(lambda: len(finished_trials(run)) > 0, "a finished trial")
        # What is run is the listed path, whatever the link leads to by then.
        recorded = (run / "experiment.yaml").read_text()
        assert str(program) in recorded
        assert str(link) not in recorded
        _stop(listing, address, run)
        # A run directory may come from anywhere: to go on with it needs the list as well.
        (folder / "ran").unlink()
        refused = server.post(f"{address}resume", {})
        assert refused.status == 500
        assert "not on the list" in refused.text
        assert server.get(address).status == 200
        assert not (folder / "ran").exists()
        assert listing.post(f"{address}resume", {}).status == 200
        until((folder / "ran").exists, "another trial")
        _stop(listing, address, run)
    assert set((folder / "ran").read_text().split()) == {"0"}
    assert not (folder / "other-ran").exists()


def _stop(server: Served, address: str, run: Path) -> None:
    assert server.post(f"{address}stop", {}).status == 200
    until(lambda: not is_held(run / "lock"), "the run to end")


# --- a Unix socket


@contextmanager
def at_socket(folder: Path) -> Iterator[Path]:
    path = folder / "lab.sock"
    with started(folder, "--listen", f"unix:{path}") as process:
        assert process.stderr is not None
        assert next_line(process) == f"listening at unix:{path}, to this user and root\n"
        yield path
        process.terminate()
        assert process.wait(300) == 0
        assert process.stderr.read() == ""
    assert not path.exists()


def status_of(path: Path) -> str:
    """As this user, by the same program."""
    done = subprocess.run(
        [sys.executable, "-c", ASK, path], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_at_a_unix_socket_its_user_needs_no_token_and_others_get_nothing(folder: Path) -> None:
    with at_socket(folder) as path:
        assert stat.S_ISSOCK(path.lstat().st_mode)
        assert stat.S_IMODE(path.lstat().st_mode) == 0o600
        assert status_of(path) == "200"
        assert python_as_nobody(ASK, path).stdout.strip() == "PermissionError"
        # Also where the file was opened to all: it is the user that counts.
        path.chmod(0o666)
        assert python_as_nobody(ASK, path).stdout.strip() == "403"
        # Nor does a page of a browser that reaches it by a tunnel.
        assert _posted(path, "http://evil.example") == b"403"
        assert _posted(path, "http://localhost") == b"200"


def _posted(path: Path, origin: str) -> bytes:
    """The status of a request that a page of that site has a browser send."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(
            b"POST /experiments/check HTTP/1.0\r\nHost: localhost\r\nContent-Length: 2\r\n"
            b"Content-Type: application/json\r\nOrigin: " + origin.encode() + b"\r\n\r\n{}"
        )
        return connection.makefile("rb").readline().split()[1]


def test_after_a_kill_the_socket_is_gone_and_can_be_made_again(folder: Path) -> None:
    path = folder / "lab.sock"
    with started(folder, "--listen", f"unix:{path}") as process:
        assert process.stderr is not None
        next_line(process)
        assert path.exists()
        process.kill()
        process.wait()
        until(lambda: not path.exists(), "the janitor")
    with at_socket(folder) as again:
        assert status_of(again) == "200"


# --- without a token


def test_without_a_token_a_user_who_is_not_root_opens_the_loopback_alone(folder: Path) -> None:
    work = folder / "work"
    for each in (work, work / "runs", work / "state"):
        each.mkdir(mode=0o700)
        os.chown(each, NOBODY, NOBODY)
    words = (sys.executable, "-m", "plimsoll.cli", "serve", "--no-token", "--runs", "runs")
    given = {**environment(folder), STATE_VARIABLE: str(work / "state"), "HOME": str(work)}
    # That of the tests is root's.
    given.pop(SHARED_VARIABLE, None)
    if as_nobody(sys.executable, "-c", "import plimsoll", environment=given).returncode:
        pytest.skip("another user cannot read this checkout")
    beyond = as_nobody(*words, "--listen", "0.0.0.0:8380", environment=given, cwd=work)
    assert beyond.returncode == 2
    assert "beyond the loopback a token is always needed" in beyond.stderr
    port = free_port()
    process = subprocess.Popen(
        [*words, "--listen", str(port)], user=NOBODY, group=NOBODY, extra_groups=[], cwd=work,
        env=given, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        assert next_line(process) == f"open http://127.0.0.1:{port}/\n"
        assert process.stderr.readline().startswith("without a token: every user")
        server = Served(work, port, process, "", Path())
        until(lambda: _is_open(port), "the server")
        assert server.get("/").status == 200
        assert server.post("/experiments/check", {"text": ""}).status == 200
        assert server.request("POST", "/experiments/check", {"text": ""}).status == 403
        foreign = {"Origin": "http://evil.example"}
        assert server.request("POST", "/experiments/check", {"text": ""}, foreign).status == 403
        assert server.end() == 0
    finally:
        process.kill()
        process.communicate()


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
