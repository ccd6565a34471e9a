"""A process here that is a command in a pod, through Kubernetes' own client and over TLS."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.host.kubernetes.pod_place import PodPlace
from tests.unit.host.kubernetes.exec_server import ROOT, ExecServer
from tests.worded.says import Says

POD = PodPlace("lab", "bench", "observer", "observe")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ExecServer]:
    started = ExecServer(tmp_path)
    yield started
    started.end()


def start(server: ExecServer, place: PodPlace, *command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        place.argv(*command),
        cwd=ROOT,
        env={**os.environ, "KUBECONFIG": str(server.kubeconfig())},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_input_and_output_are_joined_and_its_end_ends_it(server: ExecServer) -> None:
    command = "while True: print(input().upper() * 50_000, flush=True)"
    with start(server, POD, sys.executable, "-c", command) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for word in (b"first", b"second"):
            process.stdin.write(word + b"\n")
            process.stdin.flush()
            assert process.stdout.readline() == word.upper() * 50_000 + b"\n"
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0
    (request,) = server.requests
    assert request.match_info["pod"] == "observer"
    assert request.query["container"] == "observe"


def test_a_command_that_fails_says_why(server: ExecServer) -> None:
    # Its input stays open: it ends by itself.
    with start(server, POD, sys.executable, "-c", "raise SystemExit('no such host')") as process:
        assert process.stderr is not None
        said = process.stderr.read()
        assert process.wait() == 3
    assert b"it said: no such host" in said


def test_a_pod_that_is_gone_is_said_to_be(server: ExecServer) -> None:
    with start(server, PodPlace("lab", "bench", "gone"), "true") as process:
        _, said = process.communicate()
    assert process.returncode == 3
    assert b"404" in said
    assert b"Traceback" not in said


@pytest.mark.parametrize(
    "text",
    [
        "kube://lab/bench",
        "kube://lab/bench/pod/container/more",
        "kube://lab/bench/-pod",
        "kube://lab/bench/Pod",
        "kube://lab/bench/pod?x=1",
        "ssh://lab/bench/pod",
        "kube://[lab/bench/pod",
        "kube://lab/bench/pod/",
    ],
)
def test_what_is_no_pod_is_refused(text: str, says: Says) -> None:
    with pytest.raises(ValueError) as caught:
        PodPlace.parse(text)
    assert caught.value == says()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("kube:///bench/observer", PodPlace(None, "bench", "observer")),
        (
            "kube://a%2Fb:6443/bench/observer/observe",
            PodPlace("a/b:6443", "bench", "observer", "observe"),
        ),
    ],
)
def test_a_place_is_written_as_it_is_read(text: str, place: PodPlace) -> None:
    assert PodPlace.parse(text) == place
    assert str(place) == text
