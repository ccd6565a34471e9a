"""A cell without churn between real namespaces: streams, probe and record, joined.

The cluster has no part in it: what is driven there is test_churn_course.py's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from plimsoll.churn.bed import ClusterBed
from plimsoll.churn.cell_run import ChurnSession, run_cell
from plimsoll.churn.driver.pod_watch import PodTimes, PodWatch
from plimsoll.churn.kpis.sampler import Targets
from plimsoll.churn.results.churn_result import ChurnCell
from plimsoll.churn.settings import ChurnCellPlan, of_record
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import run_program
from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.record.run.run_directory import RunDirectory
from tests.integration.machine_watch import spoilt_where_away

PERIOD = "trial-0001"
EXPERIMENT: dict[str, Any] = {
    "name": "cell",
    "cluster": {"kind": "own"},
    # Twice in all before the end: at the begin of the cell, and when its churn begins.
    "sample": "60s",
    "churn": {"levels": [0], "before": "4s", "duration": "6s", "after": "1s"},
    "streams": {
        "networks": {"host": {"kind": "host"}},
        "pairs": 1,
        "rate_mbps": 20,
        "latency_probe": {"pps": 500},
    },
    "criteria": [
        {"kind": "udp-latency", "quantile": "p99", "most": "1ms"},
        {"kind": "udp-loss", "most": "100%"},
    ],
}
# A quarter of the stream's pace, and of what waits for it 200 ms at most.
BOTTLENECK = ("tbf", "rate", "5mbit", "burst", "16kb", "latency", "200ms")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="making namespaces needs root")


class NoPods:
    """A watch that sees none."""

    def pods(self, _since_ns: int) -> tuple[PodTimes, ...]:
        return ()


class Narrowing:
    """A component whose second reading, when the churn begins, narrows what node 1 sends."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._readings = 0

    def read(self) -> str:
        self._readings += 1
        if self._readings == 2:
            noted = self._ledger.record.processes
            pid = next(each.identity.pid for each in noted if each.name == "pod node-1")
            enter = ("nsenter", f"--net=/proc/{pid}/ns/net", "--")
            add = ("tc", "qdisc", "add", "dev", "nic0", "root", *BOTTLENECK)
            run_program((*enter, *add), where="test")
        return ""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[ChurnSession]:
    experiment = of_record(EXPERIMENT)
    run = RunDirectory.create(tmp_path, experiment.name, experiment.normalised())
    unused = cast("Any", None)
    with swept_ledger("churn") as ledger:
        targets = Targets({"narrowing": Narrowing(ledger)}, {}, machine=True)
        # Nothing is asked of the cluster in a cell of level 0.
        bed = ClusterBed(unused, unused, targets, None, None, None)
        yield ChurnSession(experiment, run, ledger, bed, unused, cast("PodWatch", NoPods()))


@pytest.mark.slow
@spoilt_where_away(longest_s=0.5)
def test_a_dip_has_the_latency_that_was_met_in_it(session: ChurnSession) -> None:
    cell = run_cell(session, ChurnCellPlan("host", 0.0, 1), PERIOD)
    _check_record(session.run, cell)
    assert cell.streams is not None
    assert cell.streams.reference_bps == pytest.approx(20e6, rel=0.1)
    probe = cell.probe
    assert probe is not None
    deepest = max(cell.dips, key=lambda dip: dip.depth)
    assert deepest.depth > 0.3
    assert deepest.probe_p99_us is not None
    # The stream fills the queue that its datagrams wait in, too.
    assert deepest.probe_p99_us > 20_000
    assert probe.max_us >= deepest.probe_p99_us
    outcomes = {each.rule: each.outcome for each in cell.findings}
    assert outcomes == {"udp-latency": "fail", "udp-loss": "ok"}
    assert cell.verdict == "fail"


def _check_record(run: RunDirectory, cell: ChurnCell) -> None:
    """Every datagram is kept, and counted in the seconds of the metrics."""
    assert cell.probe is not None
    (kept,) = (run.path / "probes").iterdir()
    assert kept.name == f"{PERIOD}-pair-1.csv.gz"
    statement = "SELECT sum(value) FROM rows WHERE source = 'udp-probe' AND type = '{}'"
    ((received,),) = query_metrics(run, statement.format("received-sec"), periods=[PERIOD])
    ((lost,),) = query_metrics(run, statement.format("lost-sec"), periods=[PERIOD])
    assert received >= sum(count for _, count in cell.probe.histogram)
    assert lost >= cell.probe.lost
