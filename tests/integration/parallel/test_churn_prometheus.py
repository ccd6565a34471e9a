"""Figures by a real Prometheus that scrapes a real etcd, against etcd's own /metrics.

Skipped where they are not unpacked; `make prometheus` does, and installs nothing.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from plimsoll.churn.kpis.latencies import etcd_latencies
from plimsoll.churn.kpis.prometheus import PrometheusClient, PrometheusSettings, Stretch
from plimsoll.churn.kpis.sources import CPU, Scrape, read_scrape
from plimsoll.errors import MachineError
from plimsoll.host.processes.child import Child
from tests.free_ports import free_port, free_ports
from tests.integration.command import ROOT

_UNPACKED = ROOT / "build" / "prometheus"
_SCRAPE_S = 1.0
# What is done in a stretch lies between two scrapes at least at either end.
_QUIET_S = 2 * _SCRAPE_S + 0.5
_CONFIGURATION = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - {{job_name: etcd, static_configs: [{{targets: ["127.0.0.1:{etcd}"]}}]}}
  - {{job_name: itself, static_configs: [{{targets: ["127.0.0.1:{prometheus}"]}}]}}
"""

pytestmark = pytest.mark.full


@dataclass(frozen=True)
class Served:
    """Where both answer."""

    etcd: str
    prometheus: str

    def client(self, **settings: str) -> PrometheusClient:
        """Which takes Prometheus itself for the API server: that one has no need of a cluster."""
        named = {"apiserver": 'job="itself"', **settings}
        return PrometheusClient(PrometheusSettings(url=self.prometheus, **named))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    search = f"{_UNPACKED}{os.pathsep}{os.environ['PATH']}"
    programs = {name: shutil.which(name, path=search) for name in ("etcd", "prometheus")}
    if missing := [name for name, path in programs.items() if path is None]:
        pytest.skip(f"{' and '.join(missing)} not found: make prometheus")
    folder = tmp_path_factory.mktemp("prometheus")
    client, peer, own = free_ports(3)
    etcd, prometheus = (f"http://127.0.0.1:{port}" for port in (client, own))
    configuration = folder / "prometheus.yml"
    configuration.write_text(_CONFIGURATION.format(etcd=client, prometheus=own))
    children = [
        _start(
            folder,
            *(str(programs["etcd"]), f"--data-dir={folder / 'etcd'}"),
            *(f"--listen-client-urls={etcd}", f"--advertise-client-urls={etcd}"),
            f"--listen-peer-urls=http://127.0.0.1:{peer}",
        ),
        _start(
            folder,
            *(str(programs["prometheus"]), f"--config.file={configuration}"),
            *(f"--storage.tsdb.path={folder / 'tsdb'}", f"--web.listen-address=127.0.0.1:{own}"),
        ),
    ]
    try:
        made = Served(etcd, prometheus)
        _wait_until_scraped(made, children)
        yield made
    finally:
        for child in children:
            child.end(5.0)


def _start(folder: Path, *argv: str) -> Child:
    name = Path(argv[0]).name
    return Child.start(
        argv, log=folder / f"{name}.log", environment=dict(os.environ), favoured=False
    )


def _wait_until_scraped(served: Served, children: list[Child]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        for child in children:
            assert child.exit_status() is None, child.log_tail(3)
        try:
            if served.client().value(
                'sum(count_over_time(up{job=~"etcd|itself"}[1m]))', time.time()
            ):
                return
        except MachineError:
            pass
        time.sleep(0.2)
    pytest.fail("Prometheus has scraped nothing")


def _scraped(url: str) -> Scrape:
    with urllib.request.urlopen(f"{url}/metrics", timeout=60) as answer:  # noqa: S310 - loopback
        return read_scrape(answer.read().decode(), time.time_ns())


def _put(etcd: str, keys: int) -> None:
    for number in range(keys):
        pair = {"key": f"k{number}", "value": "v" * 2000}
        text = json.dumps({k: base64.b64encode(v.encode()).decode() for k, v in pair.items()})
        to = f"{etcd}/v3/kv/put"
        request = urllib.request.Request(to, data=text.encode())  # noqa: S310 - loopback
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            answer.read()


def _busy(served: Served, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        _put(served.etcd, 20)
        time.sleep(0.05)


def test_figures_are_those_of_metrics_of_the_same_time(served: Served) -> None:
    # What lies before the stretch is none of it: the store is busy, and then quiet.
    _busy(served, 5)
    time.sleep(10)
    first = {url: _scraped(url) for url in (served.etcd, served.prometheus)}
    begin_s = time.time()
    time.sleep(_QUIET_S)
    _busy(served, 10)
    time.sleep(_QUIET_S)
    last = {url: _scraped(url) for url in first}
    end_s = time.time()

    found = served.client().figures(Stretch(begin_s, end_s))
    own = etcd_latencies(last[served.etcd], first[served.etcd])
    assert set(own) == {"wal-fsync", "backend-commit"}
    for name, buckets in own.items():
        # Prometheus extrapolates by part of a scrape at either end: a seventh of this stretch.
        assert found[f"{name} p99 s"] == pytest.approx(buckets.quantile(0.99), rel=0.15)
    for component, url in (("etcd", served.etcd), ("kube-apiserver", served.prometheus)):
        used_s = (last[url].value(CPU) or 0) - (first[url].value(CPU) or 0)
        assert used_s > 0
        cores = used_s / (end_s - begin_s)
        # As above, and /metrics counts in hundredths of a second.
        assert found[f"{component} cores"] == pytest.approx(cores, rel=0.2, abs=0.002)
    assert found["etcd bytes"] is not None
    assert found["etcd bytes"] > 1 << 20
    # A store of one member has no peers, and there is no exporter of nodes.
    assert {name for name, value in found.items() if value is None} == {
        *("read-only p99 s", "mutating p99 s", "peer-round-trip p99 s"),
        *("control-plane cores", "workers cores"),
    }


def test_a_stretch_with_one_scrape_has_no_rate_rather_than_one_of_another_time(
    served: Served,
) -> None:
    _busy(served, 2)
    found = served.client().figures(Stretch(time.time() - _SCRAPE_S, time.time()))
    assert found["etcd cores"] is None
    assert found["wal-fsync p99 s"] is None


def test_a_selector_that_prometheus_refuses_is_named_by_its_own_words(served: Served) -> None:
    client = served.client(etcd='job=="etcd"')
    with pytest.raises(MachineError, match="parse error") as refused:
        client.check()
    assert refused.value.where == "cluster.prometheus"
    assert "etcd" in (refused.value.remedy or "")


def test_one_that_does_not_answer_is_found_before_a_run(served: Served) -> None:
    port = free_port()
    client = PrometheusClient(PrometheusSettings(url=f"http://127.0.0.1:{port}"))
    with pytest.raises(MachineError, match="does not answer"):
        client.check()
    served.client().check()
