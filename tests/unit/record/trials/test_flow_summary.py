"""Flows as a trial record names them, and all of them in the run's table."""

from pathlib import Path

import pytest

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import FlowCounts, StreamCounts
from plimsoll.record.metrics.flow_table import write_flows
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.flow_summary import FlowSummary
from plimsoll.traffic.plan import FieldWriter, StreamPlan
from tests.flow_rows import flow_rows

PORT = FieldWriter(36, 2, count=4, tells="dst_port")
PLAN = StreamPlan(0, "load/0-1", "load", 0, 1, (bytes(60),), 1.0, fields=(PORT,), counted_flows=4)
# Flow 1 loses 2 of 5, one of which came twice; flow 2 all of 4; flow 3 was not sent.
COUNTS = FlowCounts(
    sent=(5, 5, 4, 0),
    received=(5, 4, 0, 0),
    duplicate=(0, 1, 0, 0),
    timed=(4, 4, 0, 0),
    latency_sum_ns=(1000, 2000, 0, 0),
    latency_min_ns=(100, 300, None, None),
    latency_max_ns=(400, 900, None, None),
)


def stream_counts(flows: FlowCounts | None) -> StreamCounts:
    counters = dict.fromkeys(
        (
            *("sent", "refused", "skipped", "no_buffer", "timed_out", "received", "missing"),
            *("out_of_order", "duplicate", "corrupt", "misdirected"),
        ),
        0,
    )
    empty = Histogram()
    return StreamCounts(
        stream=0,
        **counters,
        latency=empty,
        latency_across_stalls=empty,
        lateness=empty,
        flows=flows,
    )


def test_flows_that_lost_are_named_the_worst_first() -> None:
    summary = FlowSummary.of(PLAN, COUNTS)
    assert summary is not None
    assert (summary.flows, summary.lossy, summary.unseen) == (4, 2, 1)
    found = [(each.flow, each.name, each.sent, each.lost) for each in summary.worst]
    assert found == [(2, "dst_port 2", 4, 4), (1, "dst_port 1", 5, 2)]
    assert summary.slowest is not None
    assert (summary.slowest.flow, summary.slowest.latency_mean_ns) == (1, 500.0)


def test_a_stream_without_flows_has_no_summary() -> None:
    assert FlowSummary.of(PLAN, None) is None


def test_the_table_has_all_flows(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    write_flows(run, 3, [PLAN], [stream_counts(COUNTS)])
    rows = flow_rows(run.path, 3)
    found = [(each["stream"], each["flow"], each["lost"]) for each in rows]
    assert found == [("load/0-1", flow, lost) for flow, lost in ((2, 4), (1, 2), (0, 0), (3, 0))]
    assert rows[3]["latency_max_ns"] is None


@pytest.mark.parametrize("counts", [(), (stream_counts(None),)])
def test_without_counts_by_flow_there_is_no_table(
    tmp_path: Path, counts: tuple[StreamCounts, ...]
) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    assert write_flows(run, 1, [PLAN], counts) is None
    assert not run.flows.exists()
