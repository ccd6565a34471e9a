"""What a cell's samples come to, worked out by hand."""

import pytest

from plimsoll.churn.criteria.criteria import (
    ApiServerLatency,
    CellFigures,
    DipDepth,
    EtcdLatency,
    PodReadinessLimit,
    ThroughputKept,
    judge,
)
from plimsoll.churn.driver.driver import ChurnPhase
from plimsoll.churn.driver.pod_watch import PodTimes
from plimsoll.churn.figures import (
    CellTimes,
    control_plane_figures,
    stream_outcome,
)
from plimsoll.churn.kpis.sampler import KpiReading, ProcessUsage
from plimsoll.churn.kpis.sources import read_scrape
from plimsoll.churn.settings import DipSettings, StreamSettings
from plimsoll.churn.streams.iperf3 import Throughput
from plimsoll.churn.streams.networks import HostNetwork
from plimsoll.errors import MachineError

S = 1_000_000_000
STREAMS = StreamSettings(
    networks={"h": HostNetwork(kind="host")}, pairs=2, rate_mbps=10, interval=1.0
)
TIMES = CellTimes(100 * S, 110 * S, 130 * S)


def throughput(pair: int, values: list[float]) -> Throughput:
    begins = tuple((100 + n) * S for n in range(len(values)))
    ends = tuple(begin + S for begin in begins)
    return Throughput(pair, begins, ends, tuple(values), 3, "iperf 3.12", 0.01 * pair)


def test_streams_before_and_under_churn() -> None:
    # Ten seconds at 20 Mbit/s together, then twenty of which four at half of that.
    one = [10e6] * 15 + [0.0] * 4 + [10e6] * 11
    phases = [
        ChurnPhase(1, "delete", (0,), 114 * S, 117 * S),
        ChurnPhase(1, "create", (0,), 117 * S, 121 * S, 120 * S),
    ]
    series = [throughput(1, one), throughput(2, [10e6] * 30)]
    found = stream_outcome(series, TIMES, phases, STREAMS, DipSettings())
    figures = found.figures
    assert figures.reference_bps == pytest.approx(20e6)
    assert figures.mean_bps == pytest.approx(18e6)
    assert figures.least_bps == pytest.approx(10e6)
    assert figures.kept == pytest.approx(0.9)
    assert figures.pairs_mean_bps == (pytest.approx(8e6), pytest.approx(10e6))
    assert (figures.retransmits, figures.connect_s) == (6, 0.02)
    (dip,) = found.dips
    assert (dip.begin_s, dip.end_s, dip.cycle) == (15, 19, 1)
    assert dip.depth == pytest.approx(0.5)
    assert dip.lost_bits == pytest.approx(40e6)
    assert (found.match.dips, found.match.matched) == (1, 1)
    # 7 s of churn and 2 s of lag, and a dip of 4 s: they touch in 13 of 20 places.
    assert found.match.chance == pytest.approx(13 / 20, abs=0.03)


def test_streams_that_carried_nothing_before_tell_nothing() -> None:
    with pytest.raises(MachineError, match="carried nothing"):
        stream_outcome([throughput(1, [0.0] * 30)], TIMES, [], STREAMS, DipSettings())


def reading(at_s: int, cpu_s: float, fsyncs: tuple[int, int]) -> KpiReading:
    family = "etcd_disk_wal_fsync_duration_seconds"
    text = f'# TYPE {family} histogram\n{family}_bucket{{le="0.01"}} {fsyncs[0]}\n'
    text += f'{family}_bucket{{le="0.02"}} {fsyncs[1]}\n{family}_bucket{{le="+Inf"}} {fsyncs[1]}\n'
    text += f"process_cpu_seconds_total {cpu_s}\nprocess_resident_memory_bytes 1000\n"
    scrapes = {"etcd": read_scrape(text, at_s * S)}
    return KpiReading(
        at_s * S,
        scrapes,
        {"kube-scheduler": ProcessUsage(cpu_s, 2000)},
        ProcessUsage(4 * cpu_s, 5000),
    )


def pod(kind: str, ready_ms: float) -> PodTimes:
    return PodTimes("u", "n", "p", kind, 0.0, 0, round(ready_ms * 1e6), {"Ready": ready_ms // 1000})


def test_the_control_plane_between_first_and_last_reading() -> None:
    readings = [reading(10, 1.0, (0, 0)), reading(15, 2.0, (50, 50)), reading(20, 6.0, (50, 100))]
    pods = [pod("server", 1000), pod("server", 3000), pod("dpdk", 9000)]
    found = control_plane_figures(readings, pods, {}, None)
    (etcd,) = found.etcd
    # Half below 10 ms, half between 10 and 20: rank 99 lies 98 % of the way.
    assert (etcd.name, etcd.count, etcd.p99_ms) == ("wal-fsync", 100, pytest.approx(19.8))
    usage = {each.component: (each.cores, each.resident_bytes) for each in found.usage}
    assert usage == {"kube-scheduler": (0.5, 2000), "machine": (2.0, 5000), "etcd": (0.5, 1000)}
    by_kind = {each.kind: (each.pods, each.p50_ms, each.max_ms) for each in found.readiness}
    assert by_kind == {
        "all": (3, 3000, 9000),
        "server": (2, 1000, 3000),
        "dpdk": (1, 9000, 9000),
    }


def cell(churned: bool) -> CellFigures:
    readings = [reading(10, 1.0, (0, 0)), reading(20, 6.0, (50, 100))]
    figures = control_plane_figures(readings, [pod("dpdk", 9000)], {}, None)
    return CellFigures(churned=churned, streams=None, dips=(), control_plane=figures)


def test_criteria_are_kept_broken_or_cannot_be_told() -> None:
    kept = EtcdLatency(kind="etcd-latency", of="wal-fsync", most=0.02)
    broken = PodReadinessLimit(kind="pod-readiness", most=5.0, pods="dpdk")
    untold = ApiServerLatency(kind="apiserver-latency", requests="mutating", most=1.0)
    assert judge([kept], cell(churned=True))[1] == "pass"
    findings, verdict = judge([kept, broken, untold], cell(churned=True))
    assert verdict == "fail"
    assert [each.outcome for each in findings] == ["ok", "fail", "invalid"]
    assert findings[1].value == 9
    assert "at most 5" in findings[1].text
    assert judge([kept, untold], cell(churned=True))[1] == "invalid"
    assert judge([], cell(churned=True))[1] == "none"


def test_pods_are_judged_where_pods_are_made() -> None:
    limit = PodReadinessLimit(kind="pod-readiness", most=5.0)
    assert judge([limit], cell(churned=False)) == ((), "none")


def test_streams_that_are_judged_must_have_been_sent() -> None:
    for limit in (
        ThroughputKept(kind="throughput-kept", least=0.9),
        DipDepth(kind="dip-depth", most=0.1),
    ):
        assert judge([limit], cell(churned=True))[1] == "invalid"


READINGS = [reading(10, 1.0, (0, 0)), reading(20, 6.0, (50, 100))]


@pytest.mark.parametrize(
    ("most_s", "outcome"), [(1.9, "fail"), (2.5, "invalid"), (3.9, "invalid"), (4.0, "ok")]
)
def test_whole_seconds_are_judged_by_both_ends(most_s: float, outcome: str) -> None:
    """Ready 3 s after its creation by times cut off to the second: 2 to 4 s."""
    of_conditions = pod("dpdk", 3000)
    of_conditions.listed = True
    figures = control_plane_figures(READINGS, [of_conditions], {}, None)
    (_, readiness) = figures.readiness
    assert readiness.low is not None
    assert readiness.high is not None
    assert (readiness.low.p99_ms, readiness.high.max_ms) == (2000, 4000)
    found = CellFigures(churned=True, streams=None, dips=(), control_plane=figures)
    ((finding,), _) = judge([PodReadinessLimit(kind="pod-readiness", most=most_s)], found)
    assert finding.outcome == outcome


def test_what_the_watch_saw_has_no_ends() -> None:
    figures = control_plane_figures(READINGS, [pod("dpdk", 3000)], {}, None)
    assert [each.low for each in figures.readiness] == [None, None]
