"""What a Prometheus is asked, and one that is not there or answers in other words."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from plimsoll.churn.bed import check_cluster
from plimsoll.churn.kpis.prometheus import (
    PrometheusClient,
    PrometheusSettings,
    Stretch,
    figure_queries,
)
from plimsoll.churn.settings import ChurnExperiment, of_record
from plimsoll.errors import InputError, MachineError
from tests.worded.says import Says


@pytest.fixture
def forbidding() -> Iterator[str]:
    """A proxy that knows no such user."""

    class Forbidding(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(403)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Forbidding)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def experiment(url: str) -> ChurnExperiment:
    cluster = {"kind": "kubeconfig", "prometheus": {"url": url}}
    return of_record({"name": "given", "cluster": cluster})


@pytest.mark.parametrize(("end_s", "expected"), [(120.7, "20s"), (100.2, "1s"), (400.0, "300s")])
def test_ranges_begin_no_earlier_than_the_stretch(end_s: float, expected: str) -> None:
    # Of less than a second there are no scrapes anyway, and PromQL knows no range of 0.
    stretch = Stretch(100.0, end_s)
    assert stretch.range == expected
    queries = figure_queries(PrometheusSettings(url="http://here"), stretch.range)
    assert all(f"[{expected}]" in query for query in queries.values())


def test_one_that_is_not_there_stops_a_run_before_it_begins(says: Says) -> None:
    # Nothing listens on port 1 of this machine.
    with pytest.raises(MachineError) as refused:
        check_cluster(experiment("http://127.0.0.1:1"))
    assert refused.value == says("cluster.prometheus")
    assert refused.value.where == "cluster.prometheus"


def test_who_may_not_ask_is_told_to_look_at_the_token(forbidding: str) -> None:
    client = PrometheusClient(PrometheusSettings(url=forbidding))
    with pytest.raises(MachineError, match="answers 403 Forbidden") as refused:
        client.value("up", 0)
    assert "token" in (refused.value.remedy or "")


@pytest.mark.parametrize("url", ["http://prometheus.lab:9090", "http://192.0.2.1"])
def test_a_token_is_not_sent_in_the_clear(
    url: str, monkeypatch: pytest.MonkeyPatch, says: Says
) -> None:
    monkeypatch.setenv("LAB_TOKEN", "secret")
    settings = PrometheusSettings(url=url, token_variable="LAB_TOKEN")  # noqa: S106 - its name
    with pytest.raises(InputError) as refused:
        PrometheusClient(settings)
    assert refused.value == says("cluster.prometheus.url")
    assert refused.value.where == "cluster.prometheus.url"


@pytest.mark.parametrize("url", ["https://prometheus.lab", "http://127.0.0.1:9090"])
def test_by_tls_and_within_the_machine_it_may(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_TOKEN", "secret")
    PrometheusClient(PrometheusSettings(url=url, token_variable="LAB_TOKEN"))  # noqa: S106


@pytest.fixture
def answering() -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers with what it is given, and 200."""
    given: list[bytes] = []

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(given[0])

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Answering)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", given
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    "said",
    [
        b"<html>",
        b"[" * 100_000,
        b"[]",
        b"{}",
        b'{"data": 5}',
        b'{"data": {"result": [{}]}}',
        b'{"data": {"result": [{"value": [0, "many"]}]}}',
        b'{"data": {"result": {"0": 1}}}',
    ],
)
def test_an_answer_that_is_none_is_an_error(
    answering: tuple[str, list[bytes]], said: bytes
) -> None:
    url, given = answering
    given.append(said)
    client = PrometheusClient(PrometheusSettings(url=url))
    with pytest.raises(MachineError, match="Prometheus") as refused:
        client.value("up", 1.0)
    assert refused.value.where == "cluster.prometheus"


def test_no_value_is_an_answer(answering: tuple[str, list[bytes]]) -> None:
    url, given = answering
    given.append(b'{"data": {"result": []}}')
    assert PrometheusClient(PrometheusSettings(url=url)).value("up", 1.0) is None
