"""What a prober writes, and what its datagrams come to, worked out by hand."""

import gzip
from pathlib import Path

import pytest

from plimsoll.churn.criteria.criteria import CellFigures, UdpLatency, UdpLoss, judge
from plimsoll.churn.latency.probes import (
    ProbeLog,
    ProbeSample,
    p99_within,
    parse_probe_log,
    probe_figures,
    probe_seconds,
    read_probe_log,
)
from plimsoll.churn.raw_record import keep_probe_logs, probe_metrics
from plimsoll.churn.results.churn_result import ControlPlaneFigures, ProbeFigures
from plimsoll.errors import MachineError
from plimsoll.record.run.run_directory import RunDirectory
from tests.worded.says import Says

S = 1_000_000_000
NO_CONTROL_PLANE = ControlPlaneFigures(
    readiness=(), requests=(), requests_by_kind=(), etcd=(), usage=()
)


def log(latencies_us: list[float | None], begin_s: int = 100, pair: int = 1) -> ProbeLog:
    """A hundred datagrams a second."""
    samples = tuple(
        ProbeSample(begin_s * S + n * S // 100, None if us is None else round(us * 1000))
        for n, us in enumerate(latencies_us)
    )
    return ProbeLog(pair, samples, unsent=3, duplicates=1)


# A second before the churn at 10.4 µs; then one of 200 datagrams of which two are lost, and the
# others took 1.9, 2.9, … 198.9 µs.
SEEN = log([10.4] * 100 + [n + 0.9 for n in range(1, 199)] + [None, None])


def figures() -> ProbeFigures:
    return probe_figures([SEEN], 100 * S, 101 * S)


def test_a_log_is_read_in_the_order_of_sending() -> None:
    lines = ["2,2000,700\n", "1,1000,900\n", "3,3000,\n", "end,5,1\n"]
    found = parse_probe_log(lines, 4)
    assert found == ProbeLog(
        4, (ProbeSample(1000, 900), ProbeSample(2000, 700), ProbeSample(3000, None)), 5, 1
    )


def test_a_prober_that_died_left_no_whole_log(tmp_path: Path, says: Says) -> None:
    path = tmp_path / "log.csv"
    path.write_text("1,1000,900\n")
    with pytest.raises(MachineError) as refused:
        read_probe_log(path, 2)
    assert refused.value == says("2", "log")
    assert refused.value.where == "streams.latency_probe"
    assert refused.value.remedy


def test_percentiles_loss_and_histogram_are_of_the_time_since_the_churn_began() -> None:
    found = figures()
    assert (found.sent, found.lost, found.unsent, found.duplicates) == (200, 2, 3, 1)
    assert found.loss == 0.01
    # Nearest ranks of 198 values: the 99th, 189th, 197th and 198th.
    assert (found.p50_us, found.p95_us, found.p99_us) == (99.9, 189.9, 197.9)
    assert (found.p99_9_us, found.max_us) == (198.9, 198.9)
    assert (found.before_p50_us, found.before_p99_us) == (10.4, 10.4)
    assert found.histogram == tuple((n, 1) for n in range(1, 199))


def test_a_dip_has_the_latency_of_its_own_time() -> None:
    assert p99_within([SEEN], 100 * S, 101 * S) == 10.4
    assert p99_within([SEEN], 101 * S, 101 * S + S // 10) == 10.9
    assert p99_within([SEEN], 300 * S, 301 * S) is None


def test_nothing_that_came_and_a_clock_that_was_set_are_errors(says: Says) -> None:
    with pytest.raises(MachineError) as caught:
        probe_figures([log([5.0] * 100 + [None] * 100)], 100 * S, 101 * S)
    assert caught.value == says("streams.latency_probe")
    with pytest.raises(MachineError) as caught:
        probe_figures([log([5.0] * 100 + [5.0, -3.0])], 100 * S, 101 * S)
    assert caught.value == says("streams.latency_probe")


def test_seconds_are_series_of_the_record() -> None:
    first, _, last = probe_seconds(SEEN)
    assert (first.begin_ns, first.received, first.lost, first.p50_us) == (100 * S, 100, 0, 10.4)
    # The last hundred: 98 came, from 101.9 to 198.9 µs.
    assert (last.received, last.lost, last.p50_us, last.max_us) == (98, 2, 149.9, 198.9)
    timed = list(probe_metrics(SEEN))[-1]
    values = {each.metric.type: each.value for each in timed.samples}
    assert values["lost-sec"] == 2
    assert values["p99-usec"] == 198.9
    assert (timed.begin_ns, timed.end_ns) == (102 * S, 103 * S)


def test_every_datagram_is_kept(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "made-up", {"name": "made-up"})
    keep_probe_logs(run, "trial-0002", [SEEN])
    rows = gzip.decompress((run.path / "probes/trial-0002-pair-1.csv.gz").read_bytes())
    lines = rows.decode().splitlines()
    assert (len(lines), lines[1], lines[-1]) == (301, f"{100 * S},10400", f"{102_990_000_000},")


@pytest.mark.parametrize(("most_s", "outcome"), [(0.001, "ok"), (0.0001, "fail")])
def test_latency_is_held_against_a_limit(most_s: float, outcome: str) -> None:
    cell = CellFigures(
        churned=True, streams=None, probe=figures(), dips=(), control_plane=NO_CONTROL_PLANE
    )
    limit = UdpLatency.model_construct(kind="udp-latency", most=most_s, quantile="p99")
    ((finding,), _) = judge([limit], cell)
    assert finding.outcome == outcome
    assert finding.value == pytest.approx(197.9e-6)


def test_loss_is_held_against_a_limit_and_is_unknown_without_a_probe() -> None:
    limit = UdpLoss.model_construct(kind="udp-loss", most=0.005)
    cell = CellFigures(
        churned=True, streams=None, probe=figures(), dips=(), control_plane=NO_CONTROL_PLANE
    )
    assert judge([limit], cell)[1] == "fail"
    assert judge([limit], cell.model_copy(update={"probe": None}))[1] == "invalid"
