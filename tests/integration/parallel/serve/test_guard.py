"""Who may ask the server, and what it never gives: names, tokens, forged requests, paths."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.web.endpoint import ListenEndpoint, is_loopback
from tests.integration.parallel.serve.served import (
    Served,
    environment,
    plimsoll,
    run_simulated,
    served,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("served")
    run_simulated(made, "base")
    (made / "secret").write_text("the secret")
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with served(folder) as running:
        yield running


@pytest.fixture
def run(folder: Path) -> str:
    (path,) = (folder / "runs").glob("*-base")
    return path.name


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "[::1]:9", "LOCALHOST"])
def test_it_answers_to_its_own_names(server: Served, host: str) -> None:
    assert server.get("/", Host=host.format(port=server.port)).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example",
     "10.1.2.3", "127.0.0.1@evil.example", "localhost:80:80", ""],
)  # fmt: skip
def test_a_name_that_was_rebound_to_us_gets_nothing(server: Served, host: str) -> None:
    answer = server.get("/", Host=host.format(port=server.port))
    assert answer.status in (400, 421)
    assert "<html" not in answer.text


@pytest.mark.parametrize("path", ["/experiments/start", "/runs/{run}/stop", "/runs/{run}/resume"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        # A server of another user on this machine: the same site, another origin.
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost:{port}"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:{port}.evil.example"},
    ],
)
def test_what_other_sites_have_a_browser_send_is_refused(
    server: Served, run: str, path: str, headers: dict[str, str]
) -> None:
    given = {name: v.format(port=server.port) for name, v in headers.items()}
    answer = server.request("POST", path.format(run=run), {"text": ""}, given)
    assert answer.status == 403


def test_a_form_of_another_site_is_no_json(server: Served) -> None:
    answer = server.post("/experiments/start", {}, **{"Content-Type": "text/plain"})
    assert answer.status == 400
    assert answer.json["mistakes"][0]["message"] == "is not a JSON object"


@pytest.mark.parametrize(
    "path",
    ["/runs/{run}/files/../../../secret", "/runs/{run}/files/..%2f..%2f..%2fsecret",
     "/runs/{run}/files/%2e%2e/%2e%2e/secret", "/runs/{run}/files//etc/passwd",
     "/runs/{run}/files/%2fetc/passwd", "/runs/{run}/files/out", "/runs/{run}/files/away/secret",
     "/runs/{run}/files/metrics", "/runs/{run}/files/a%00b", "/runs/{run}/files/pipe",
     "/runs/../files/secret", "/runs/..%2f..%2fsecret/", "/runs/../../secret/", "/runs/%2e%2e/",
     "/runs/.serve/", "/runs/{run}/iteration-0001/sample-1/", "/assets/..%2fapp.js",
     "/assets/%2fetc%2fpasswd", "/experiments/new?file=../secret",
     "/experiments/new?file=/etc/passwd",
     "/metrics?run=../secret", "/compare?run=/etc&run=..", "/compare?run=*&run=[ab]"],
)  # fmt: skip
def test_no_path_leads_out_of_the_runs(server: Served, run: str, path: str) -> None:
    here = server.runs / run
    for link, target in (("out", server.folder / "secret"), ("away", server.folder)):
        if not (here / link).is_symlink():
            (here / link).symlink_to(target)
    if not (here / "pipe").exists():
        os.mkfifo(here / "pipe")
    answer = server.get(path.format(run=run))
    assert answer.status in (400, 404)
    assert "the secret" not in answer.text
    assert "root:" not in answer.text


def test_a_file_is_saved_as_it_is_and_never_shown(server: Served, run: str) -> None:
    answer = server.get(f"/runs/{run}/files/journal.jsonl")
    assert answer.body == (server.runs / run / "journal.jsonl").read_bytes()
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_list_of_files_has_each_once_and_no_links(server: Served, run: str) -> None:
    (server.runs / run / "elsewhere").symlink_to("/etc/passwd")
    text = server.get(f"/runs/{run}/files/").text
    here = server.runs / run
    real = [p for p in here.rglob("*") if p.is_file() and not p.is_symlink()]
    named = [text.count(f'/files/{p.relative_to(here)}"') for p in real]
    assert named == [1] * len(real)
    assert "elsewhere" not in text


def test_pages_allow_our_own_scripts_alone(server: Served, run: str) -> None:
    for path in ("/", f"/runs/{run}/", "/experiments/new", "/nowhere"):
        policy = server.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy


def test_a_report_has_an_origin_of_its_own(server: Served, run: str) -> None:
    policy = server.get(f"/runs/{run}/report").headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts allow-downloads;")
    assert "allow-same-origin" not in policy


def test_names_from_a_run_are_no_markup(folder: Path, server: Served) -> None:
    run = run_simulated(folder, "tagged", "--tag", "x=<script>alert(1)</script>")
    for path in ("/", f"/runs/{run.name}/"):
        text = server.get(path).text
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)" in text


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)]
)
def test_a_signal_ends_it_and_its_streams_and_frees_the_port(folder: Path, number: int) -> None:
    with served(folder) as running:
        stream = socket.create_connection(("127.0.0.1", running.port))
        (run,) = (folder / "runs").glob("*-base")
        head = f"GET /runs/{run.name}/events HTTP/1.1\r\nHost: localhost\r\n"
        stream.sendall(f"{head}Cookie: {running.headers['Cookie']}\r\n\r\n".encode())
        assert stream.recv(16).startswith(b"HTTP/1.1 200")
        assert running.end(number) == 0
        stream.close()
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", running.port))


def test_a_port_that_is_taken(folder: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = plimsoll(folder, "serve", "--listen", port)
    assert done.returncode == 3
    assert f"cannot listen on 127.0.0.1, port {port}" in done.stderr


def test_a_port_that_is_none(folder: Path) -> None:
    done = plimsoll(folder, "serve", "--listen", "example.com:80")
    assert done.returncode == 2
    assert "--listen" in done.stderr


def test_without_its_libraries_it_says_how_to_get_them(folder: Path) -> None:
    blocked = folder / "blocked"
    blocked.mkdir()
    (blocked / "starlette.py").write_text("raise ModuleNotFoundError(name='starlette')\n")
    place = environment(folder)
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll.cli", "serve", "--listen", "1"],
        env={**place, "PYTHONPATH": f"{blocked}{os.pathsep}{place['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "build EXTRAS=serve" in done.stderr


def test_only_the_loopback_may_do_without_a_token() -> None:
    assert not is_loopback(ListenEndpoint("0.0.0.0", 1))  # noqa: S104
    assert not is_loopback(ListenEndpoint("::", 1))
    assert not is_loopback(ListenEndpoint("192.0.2.1", 1))
    assert is_loopback(ListenEndpoint("127.0.0.1", 1))
    assert is_loopback(ListenEndpoint("::1", 1))
