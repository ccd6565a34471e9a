"""An exec session by Kubernetes' own client, over TLS, to a server that speaks its protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.cluster.pods.cluster_client import ClusterClient, ClusterPlace
from plimsoll.cluster.pods.gathering import Gathering
from plimsoll.host.kubernetes.cluster_errors import ClusterUnreachable
from plimsoll.host.kubernetes.exec_stream import StreamEnded
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.host.kubernetes.exec_server import ExecServer
from tests.worded.says import Says

RUN = "20260101T000000-demo"


@pytest.fixture(params=[("v5.channel.k8s.io",), ("v4.channel.k8s.io",)], ids=["v5", "v4"])
def server(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ExecServer]:
    started = ExecServer(tmp_path, request.param)
    yield started
    started.end()


@pytest.fixture
def client(server: ExecServer) -> ClusterClient:
    return ClusterClient.connect(ClusterPlace("lab", None), str(server.kubeconfig()))


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


def test_a_command_that_fails_says_why(client: ClusterClient, says: Says) -> None:
    stream = client.run_in("plimsoll-1", "record", [sys.executable, "-c", "raise SystemExit('no')"])
    with pytest.raises(StreamEnded) as caught:
        stream.read_line(30)
    assert caught.value == says()
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
