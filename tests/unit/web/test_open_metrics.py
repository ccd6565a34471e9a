"""Live values over HTTP, read by Prometheus' own parser."""

import contextlib
import http.client
import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client.core import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from plimsoll.errors import InputError, MachineError
from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.record.metrics.interval_samples import interval_samples
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.record.metrics.metrics import MetricsWriter
from plimsoll.record.run.journal import TRIAL_STARTED, Journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.samples.metric_type import MetricType
from plimsoll.web import open_metrics as bounded_threads
from plimsoll.web.endpoint import ListenEndpoint, parse_endpoint
from plimsoll.web.open_metrics import metric_name, open_metrics, total_name
from tests.free_ports import free_port
from tests.unit.record.trial_parts import PLANS, second
from tests.worded.says import Says

DASHBOARD = Path(__file__).parents[3] / "docs/grafana/plimsoll.json"
RATE = MetricType("trafficgen", "rx-pps", "throughput", "pps", "sum", counted=True)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    return RunDirectory.create(tmp_path, "live", {})


@pytest.fixture
def endpoint() -> ListenEndpoint:
    return ListenEndpoint("127.0.0.1", free_port())


@contextmanager
def served(run: RunDirectory, endpoint: ListenEndpoint) -> Iterator[None]:
    with open_metrics(endpoint) as live:
        live.show(run)
        yield


def scrape(endpoint: ListenEndpoint) -> list[Sample]:
    return [sample for family in families(endpoint) for sample in family.samples]


def families(endpoint: ListenEndpoint) -> list[Metric]:
    connection = http.client.HTTPConnection(endpoint.address, endpoint.port, timeout=60)
    try:
        accepted = "application/openmetrics-text; version=1.0.0"
        connection.request("GET", "/metrics", headers={"Accept": accepted})
        answer = connection.getresponse()
        assert answer.getheader("Content-Type", "").startswith("application/openmetrics-text")
        text = answer.read().decode()
    finally:
        connection.close()
    return list(text_string_to_metric_families(text))


def test_a_scrape_has_the_trial_and_the_last_values(
    run: RunDirectory, endpoint: ListenEndpoint
) -> None:
    log = MetricLog("trial-0001", 0)
    names = {"port_pair": "0:1", "tx_port": "0", "rx_port": "1"}
    with (
        served(run, endpoint),
        Journal(run.journal) as journal,
        MetricsWriter(run, "trial-0001") as writer,
    ):
        journal.append(TRIAL_STARTED, number=1, phase="search", load_pps=2e6)
        writer.append(log.tick("trafficgen", 0, 10**9, [log.series(RATE, names, 0)], [1999]))
        found = {sample.name: sample for sample in scrape(endpoint)}
    assert found["plimsoll_up"].value == 1
    assert found["plimsoll_run"].labels == {"run": run.run_id}
    assert found["plimsoll_trial_load_pps"].labels == {"number": "1", "phase": "search"}
    assert found["plimsoll_trial_load_pps"].value == 2e6
    assert found["plimsoll_trafficgen_rx_pps"].labels == names
    assert found["plimsoll_trafficgen_rx_pps"].value == 1999


def test_what_is_counted_is_a_counter_of_all_that_was(
    run: RunDirectory, endpoint: ListenEndpoint
) -> None:
    log = MetricLog("trial-0001", 0)
    lost = MetricType("trafficgen", "lost-rx-pps", "throughput", "pps", "sum", counted=True)
    with served(run, endpoint), MetricsWriter(run, "trial-0001") as writer:
        series = log.series(lost, {}, 0)
        for second, frames in enumerate((0, 7, 0)):
            begin_ns = second * 10**9
            writer.append(log.tick("trafficgen", begin_ns, begin_ns + 10**9, [series], [frames]))
        found = {sample.name: sample.value for sample in scrape(endpoint)}
    assert found["plimsoll_trafficgen_lost_rx_pps"] == 0
    assert found["plimsoll_trafficgen_lost_rx_total"] == 7


@pytest.mark.parametrize(
    ("metric", "of_which_time"),
    [
        (RATE, "rx-pps of trafficgen in pps, over the last interval."),
        (
            MetricType("trafficgen", "max-round-trip-usec", "count", "us", "max"),
            "max-round-trip-usec of trafficgen in us, the greatest of the last interval alone, "
            "neither of the trial nor since the last scrape.",
        ),
        (
            MetricType("trafficgen", "min-round-trip-usec", "count", "us", "min"),
            "min-round-trip-usec of trafficgen in us, the least of the last interval alone, "
            "neither of the trial nor since the last scrape.",
        ),
        (
            MetricType("trafficgen", "p99-round-trip-usec", "count", "us", "max"),
            "p99-round-trip-usec of trafficgen in us, of the samples of the last interval alone, "
            "neither of the trial nor since the last scrape.",
        ),
    ],
)
def test_help_says_of_which_time_a_gauge_is(
    run: RunDirectory, endpoint: ListenEndpoint, metric: MetricType, of_which_time: str
) -> None:
    log = MetricLog("trial-0001", 0)
    with served(run, endpoint), MetricsWriter(run, "trial-0001") as writer:
        writer.append(log.tick("trafficgen", 0, 10**9, [log.series(metric, {}, 0)], [5]))
        helps = {family.name: family.documentation for family in families(endpoint)}
    assert helps[metric_name(metric.source, metric.type)] == of_which_time


def test_names_that_would_break_the_format_do_not(
    run: RunDirectory, endpoint: ListenEndpoint
) -> None:
    log, hostile = MetricLog("trial-0001", 0), 'a"} 1\n# EOF\nplimsoll_up 0'
    with served(run, endpoint), MetricsWriter(run, "trial-0001") as writer:
        series = log.series(RATE, {"port pair": hostile}, 0)
        writer.append(log.tick("trafficgen", 0, 10**9, [series], [5]))
        found = {sample.name: sample for sample in scrape(endpoint)}
    assert found["plimsoll_trafficgen_rx_pps"].labels == {"port_pair": hostile}
    assert found["plimsoll_up"].value == 1


def test_a_record_that_cannot_be_read_is_not_up(
    run: RunDirectory, endpoint: ListenEndpoint
) -> None:
    run.journal.write_text("not a journal\nnor this\n")
    with served(run, endpoint):
        assert [(s.name, s.value) for s in scrape(endpoint)] == [("plimsoll_up", 0)]


@pytest.mark.parametrize(
    ("path", "accepted", "status", "kind"),
    [
        # As curl asks; a browser; Prometheus before 2.5.
        ("/metrics", "*/*", 200, "application/openmetrics-text"),
        ("/metrics", None, 200, "application/openmetrics-text"),
        ("/metrics", "text/html,*/*;q=0.8", 200, "text/plain"),
        ("/metrics", "text/plain;version=0.0.4", 200, "text/plain"),
        ("/", "*/*", 404, "text/plain"),
        ("/metrics/x", "*/*", 404, "text/plain"),
        ("/favicon.ico", "*/*", 404, "text/plain"),
    ],
)
def test_there_is_one_path_in_the_form_that_was_accepted(
    run: RunDirectory,
    endpoint: ListenEndpoint,
    *,
    path: str,
    accepted: str | None,
    status: int,
    kind: str,
) -> None:
    with served(run, endpoint):
        connection = http.client.HTTPConnection(endpoint.address, endpoint.port, timeout=60)
        try:
            headers = {} if accepted is None else {"Accept": accepted}
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            body = answer.read().decode()
        finally:
            connection.close()
    assert answer.status == status
    assert answer.getheader("Content-Type", "").startswith(kind)
    assert ("plimsoll_up" in body) == (status == 200)
    assert body.endswith("# EOF\n") == (kind == "application/openmetrics-text")


def test_no_gauge_has_the_name_of_a_counter() -> None:
    types = [each for observer in OBSERVERS for each in observer.types]
    named = {metric_name(each.source, each.type) for each in types}
    assert not [name for name in named if name.endswith("_total")]
    assert metric_name("sar-mem", "Hugepages-Total") == "plimsoll_sar_mem_hugepages_in_all"


# What promtool check metrics calls abbreviated units (prometheus/client_golang, promlint/units.go).
ABBREVIATED = {"s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d"}


def test_no_name_has_a_unit_that_promtool_calls_abbreviated() -> None:
    named = {
        *(metric_name(each.source, each.type) for each in known_types()),
        *(total_name(each.source, each.type) for each in known_types() if each.counted),
    }
    assert [name for name in named if ABBREVIATED & set(name.split("_"))] == []
    assert metric_name("procstat", "interrupts-sec") == "plimsoll_procstat_interrupts_per_second"
    assert total_name("sar-mem", "KB-Paged-in-sec") == "plimsoll_sar_mem_kbytes_paged_in_total"


def test_no_counter_has_the_name_of_a_gauge() -> None:
    """OpenMetrics names a counter's family without _total, and a family comes once."""
    gauges = {metric_name(each.source, each.type) for each in known_types()}
    counters = [total_name(each.source, each.type) for each in known_types() if each.counted]
    assert gauges.isdisjoint(name.removesuffix("_total") for name in counters)
    assert total_name("cpuidle", "residency") == "plimsoll_cpuidle_residency_usec_total"
    assert total_name("sar-net", "L2-Gbps") == "plimsoll_sar_net_l2_bytes_total"


def test_clients_beyond_those_that_are_taken_are_hung_up_on(
    run: RunDirectory, endpoint: ListenEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a thread, next to polling loops."""
    monkeypatch.setattr(bounded_threads, "MAX_CLIENTS", 2)
    address = (endpoint.address, endpoint.port)
    with served(run, endpoint), contextlib.ExitStack() as silent:
        for _ in range(2):
            silent.enter_context(socket.create_connection(address, timeout=30))
        with socket.create_connection(address, timeout=30) as beyond:
            assert beyond.recv(1) == b""


def test_who_sends_nothing_is_hung_up_on(
    run: RunDirectory, endpoint: ListenEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_threads, "LONGEST_SILENCE_S", 0.05)
    address = (endpoint.address, endpoint.port)
    with served(run, endpoint), socket.create_connection(address, timeout=30) as silent:
        silent.sendall(b"GET /met")
        assert silent.recv(1) == b""


def test_nothing_listens_afterwards(run: RunDirectory, endpoint: ListenEndpoint) -> None:
    with served(run, endpoint):
        scrape(endpoint)
    with pytest.raises(OSError, match="refused"):
        scrape(endpoint)


def test_it_listens_before_there_is_a_run_and_has_nothing_to_tell(endpoint: ListenEndpoint) -> None:
    with open_metrics(endpoint):
        assert scrape(endpoint) == []


def test_the_runs_of_a_matrix_are_served_one_after_the_other(
    tmp_path: Path, endpoint: ListenEndpoint
) -> None:
    first, second = (RunDirectory.create(tmp_path / each, "sample", {}) for each in "ab")
    with Journal(first.journal) as journal:
        journal.append(TRIAL_STARTED, number=1, phase="search", load_pps=2e6)
    with open_metrics(endpoint) as live:
        live.show(first, "sizes/iteration-0001/sample-1")
        before = {sample.name: sample for sample in scrape(endpoint)}
        live.show(second)
        after = {sample.name: sample for sample in scrape(endpoint)}
    assert before["plimsoll_run"].labels == {"run": "sizes/iteration-0001/sample-1"}
    assert "plimsoll_trial_load_pps" in before
    assert after["plimsoll_run"].labels == {"run": second.run_id}
    assert "plimsoll_trial_load_pps" not in after


def test_a_port_that_is_taken_is_an_error(endpoint: ListenEndpoint) -> None:
    with socket.socket() as other:
        other.bind((endpoint.address, endpoint.port))
        other.listen()
        with (
            pytest.raises(MachineError, match="Address already in use") as caught,
            open_metrics(endpoint),
        ):
            pass
    assert caught.value.where == "--metrics-port"


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("9464", ListenEndpoint("127.0.0.1", 9464)),
        ("0.0.0.0:9464", ListenEndpoint("0.0.0.0", 9464)),  # noqa: S104
        ("[::1]:65535", ListenEndpoint("::1", 65535)),
    ],
)
def test_an_endpoint_is_a_port_with_or_without_an_address(
    text: str, endpoint: ListenEndpoint
) -> None:
    assert parse_endpoint(text) == endpoint


@pytest.mark.parametrize("text", ["", "0", "65536", "http", "host:9464", "1.2.3:80", ":", "²"])
def test_what_is_no_endpoint_is_refused(text: str, says: Says) -> None:
    with pytest.raises(InputError) as caught:
        parse_endpoint(text)
    assert caught.value == says("--metrics-port", "65535")
    assert caught.value.where == "--metrics-port"
    assert "such as 9464" in caught.value.remedy


def test_the_dashboard_asks_only_for_what_there_is() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    queries = [t["expr"] for panel in dashboard["panels"] for t in panel.get("targets", ())]
    settings = {name for query in queries for name in re.findall(r"plimsoll_\w+", query)}
    assert len(settings) > 10
    assert settings <= {
        "plimsoll_trial_load_pps",
        "plimsoll_trials_total",
        "plimsoll_run",
        *(metric_name(each.source, each.type) for each in known_types()),
        *(total_name(each.source, each.type) for each in known_types() if each.counted),
    }


def known_types() -> Iterator[MetricType]:
    """What observers may tell, and what an interval of a trial yields."""
    for observer in OBSERVERS:
        yield from observer.types
    for sample in interval_samples(PLANS, second(), refused_is_lost=False):
        yield sample.metric
